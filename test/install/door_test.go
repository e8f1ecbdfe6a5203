package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
)

// runAdmission serves the webhooks until stop is called.
func runAdmission(t *testing.T) (stop func()) {
	t.Helper()
	return runAdmissionWith(t, admission.Options{})
}

// runAdmissionWith serves the webhooks with options until stop is called. It sets the address.
func runAdmissionWith(t *testing.T, options admission.Options) (stop func()) {
	t.Helper()
	return runAdmissionIn(t, plane.RESTConfig(), options)
}

// runAdmissionIn is like runAdmissionWith, in the cluster of a configuration.
func runAdmissionIn(t *testing.T, config *rest.Config, options admission.Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		options.ListenAddress, options.Ready = "127.0.0.1:0", func() { close(ready) }
		done <- admission.Run(ctx, config, options)
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("admission ended: %v", err)
	}
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("admission: %v", err)
		}
	}
}

func newJob(name string, change ...func(*batchv1alpha1.Job)) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{
			Name: "work", Replicas: 2,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"true"}}},
			}},
		}}},
	}
	for _, f := range change {
		f(job)
	}
	return job
}

// badJobs are jobs that must be rejected, with the expected message, and whether the API server rejects them without
// webhooks.
var badJobs = map[string]struct {
	change func(*batchv1alpha1.Job)
	where  string
	what   string
	byCEL  string // the message without webhooks; empty: only webhooks reject it
}{
	"minAvailable over replicas": {
		func(j *batchv1alpha1.Job) { j.Spec.MinAvailable = 3 },
		"spec.minAvailable", "job 'minAvailable' should not be greater than total replicas in tasks; the total is 2", "job 'minAvailable' should not be greater than total replicas in tasks; the total is 2",
	},
	"a task's minAvailable over its replicas": {
		func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].MinAvailable = new(int32(5)) },
		"spec.tasks[0].minAvailable", "'minAvailable' is greater than 'replicas' in task: work; the task has 2 replicas", "'minAvailable' is greater than 'replicas' in task: work; the task has 2 replicas",
	},
	"duplicate task names": {
		func(j *batchv1alpha1.Job) { j.Spec.Tasks = append(j.Spec.Tasks, j.Spec.Tasks[0]) },
		"spec.tasks", "duplicated task name work", "duplicated task name work",
	},
	"a bad task name": {
		func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Name = "Work_1" },
		"spec.tasks[0].name", "should match", "should match",
	},
	"an unknown queue": {
		func(j *batchv1alpha1.Job) { j.Spec.Queue = "reserch" },
		"spec.queue", `unable to find job queue: queue "reserch" does not exist; open queues: default`, "",
	},
	"a closed queue": {
		func(j *batchv1alpha1.Job) { j.Spec.Queue = "shut" },
		"spec.queue", "can only submit job to queue with state `Open`, queue `shut` status is `Closed`", "",
	},
	"negative replicas": {
		func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = -1 },
		"spec.tasks[0].replicas", "greater than or equal to 0", "greater than or equal to 0",
	},
	"a negative request": {
		func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = quantities("-1")
		},
		"spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "must be greater than or equal to 0", "",
	},
	"10,000 tasks": {
		func(j *batchv1alpha1.Job) {
			task := j.Spec.Tasks[0]
			j.Spec.Tasks = nil
			for i := range 10_000 {
				task.Name = fmt.Sprintf("t%d", i)
				j.Spec.Tasks = append(j.Spec.Tasks, task)
			}
		},
		"spec.tasks", "must have at most 500 items", "must have at most 500 items",
	},
	"a policy with event and exit code": {
		func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].Policies = []batchv1alpha1.LifecyclePolicy{{
				Event: busv1alpha1.PodFailedEvent, ExitCode: new(int32(3)), Action: busv1alpha1.RestartJobAction,
			}}
		},
		"spec.tasks[0].policies[0]", "must not specify event and exitCode simultaneously", "must not specify event and exitCode simultaneously",
	},
	"a template that no pod can have": {
		func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "nowhere", MountPath: "/x"}}
		},
		"spec.tasks[0].template.spec.containers[0].volumeMounts[0].name", "nowhere", "",
	},
}

func TestTheDoor(t *testing.T) {
	c := admin(t)
	makeQueue(t, c, "default", schedulingv1beta1.QueueStateOpen)
	makeQueue(t, c, "shut", schedulingv1beta1.QueueStateClosed)

	t.Run("before the webhooks are installed", func(t *testing.T) { refusals(t, c, false) })
	stop := runAdmission(t)
	t.Run("with the webhooks", func(t *testing.T) {
		refusals(t, c, true)
		aGoodJobIsDefaulted(t, c)
		updates(t, c)
		queuesAndGroups(t, c)
	})
	t.Run("with configurations that somebody changes", func(t *testing.T) { repairs(t, c) })
	stop()
	t.Run("with vcd stopped", func(t *testing.T) {
		refusals(t, c, false)
		whatNobodyHasToCheck(t, c)
		groupsOfPodsAreMade(t)
		err := c.Create(t.Context(), newJob("good-but-unchecked"))
		if err == nil || !strings.Contains(err.Error(), "validatejob.volcano.sh") {
			t.Errorf("a job that nobody can check: want a refusal that names the webhook, got %v", err)
		}
		for _, scheduler := range []string{"default-scheduler", "volcano"} {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "plain-" + scheduler, Namespace: "default"},
				Spec:       newJob("").Spec.Tasks[0].Template.Spec,
			}
			pod.Annotations = map[string]string{"volcano.sh/jdb-min-available": "nonsense"}
			pod.Spec.SchedulerName = scheduler
			if err := c.Create(t.Context(), pod); err != nil {
				t.Errorf("a pod of %s: %v", scheduler, err)
			}
		}
	})
	stop = runAdmission(t)
	defer stop()
	t.Run("with vcd started again, at another port and with another certificate", func(t *testing.T) {
		eventually(t, func(ctx context.Context) error { return c.Create(ctx, newJob("after-restart")) })
	})
}

// refusals tries to create every bad job.
func refusals(t *testing.T, c client.Client, webhooks bool) {
	for name, bad := range badJobs {
		what := bad.what
		if !webhooks {
			what = bad.byCEL
		}
		if what == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), newJob("bad", bad.change))
			if err == nil {
				t.Fatal("it got in")
			}
			var status apierrors.APIStatus
			if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
				t.Fatalf("want an error of kind Invalid, got %v", err)
			}
			if !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), bad.where) {
				t.Errorf("want %q and %q in: %v", bad.where, what, err)
			}
		})
	}
}

func aGoodJobIsDefaulted(t *testing.T, c client.Client) {
	job := newJob("good")
	job.Spec.Tasks[0].Name = ""
	if err := c.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	spec := job.Spec
	if spec.Queue != "default" || spec.SchedulerName != "volcano" || spec.MaxRetry != 3 || spec.MinAvailable != 2 ||
		spec.Tasks[0].Name != "default0" || *spec.Tasks[0].MinAvailable != 2 {
		t.Errorf("not defaulted: %+v", spec)
	}
}

func updates(t *testing.T, c client.Client) {
	job := newJob("changes")
	if err := c.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job.Spec.Tasks[0].Replicas = 4
	if err := c.Update(t.Context(), job); err != nil {
		t.Errorf("more replicas: %v", err)
	}
	job.Spec.Tasks[0].Template.Spec.Containers[0].Image = "other"
	err := c.Update(t.Context(), job)
	if err == nil || !strings.Contains(err.Error(), "spec.tasks[0].template.spec.containers[0].image: Forbidden: job updates may not change fields other than") {
		t.Errorf("another image: %v", err)
	}
}

// whatNobodyHasToCheck makes changes that must be possible while vcd is stopped: labels, finalizers and garbage
// collection.
func whatNobodyHasToCheck(t *testing.T, c client.Client) {
	for _, object := range []client.Object{
		&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "good", Namespace: "default"}},
		&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
	} {
		if err := c.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))); err != nil {
			t.Errorf("a label: %v", err)
		}
	}
	hierarchy := []byte(`{"metadata":{"annotations":{"volcano.sh/hierarchy":"root/a"}}}`)
	def := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if err := c.Patch(t.Context(), def, client.RawPatch(types.MergePatchType, hierarchy)); err == nil {
		t.Error("a place in the hierarchy: nobody checked it")
	}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "good", Namespace: "default"}}
	if err := c.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Errorf("deletion: %v", err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the job is still there: %w", err)
		}
		return nil
	})
}

// repairs damages webhook configurations, as an administrator could by mistake, and waits until vcd has restored them.
func repairs(t *testing.T, c client.Client) {
	name := client.ObjectKey{Name: admission.ConfigurationPrefix + "jobs-validate"}
	right := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(t.Context(), name, right); err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func(*admissionregistrationv1.ValidatingWebhookConfiguration) error{
		"another authority": func(v *admissionregistrationv1.ValidatingWebhookConfiguration) error {
			v.Webhooks[0].ClientConfig.CABundle = nil
			return c.Update(t.Context(), v)
		},
		"no webhooks": func(v *admissionregistrationv1.ValidatingWebhookConfiguration) error {
			v.Webhooks = nil
			return c.Update(t.Context(), v)
		},
		"deleted": func(v *admissionregistrationv1.ValidatingWebhookConfiguration) error { return c.Delete(t.Context(), v) },
	} {
		t.Run(what, func(t *testing.T) {
			there := &admissionregistrationv1.ValidatingWebhookConfiguration{}
			if err := c.Get(t.Context(), name, there); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := damage(there); err != nil {
				t.Fatal(err)
			}
			eventually(t, func(ctx context.Context) error {
				there := &admissionregistrationv1.ValidatingWebhookConfiguration{}
				if err := c.Get(ctx, name, there); err != nil {
					return err
				}
				if !equality.Semantic.DeepEqual(there.Webhooks, right.Webhooks) {
					return errors.New("the webhooks are not what they were")
				}
				return nil
			})
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s, want seconds", took)
			}
		})
	}
}

// groupsOfPodsAreMade creates PodGroups with an owner while no webhook checks them: the controllers may do that, users
// may not.
func groupsOfPodsAreMade(t *testing.T) {
	group := func(name string) *schedulingv1beta1.PodGroup {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p", Controller: new(true)}
		return &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", OwnerReferences: []metav1.OwnerReference{owner}}}
	}
	controllers, err := newClient(as(t, deploy.ControllersAccount, &forbidden{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := controllers.Create(t.Context(), group("of-a-pod")); err != nil {
		t.Errorf("the PodGroup of a plain pod is not created while admission is down: %v", err)
	}
	user := editor(t, "mallory", "default")
	if err := user.Create(t.Context(), group("with-a-forged-owner")); err == nil || !strings.Contains(err.Error(), "validatepodgroup.volcano.sh") {
		t.Errorf("a user's PodGroup with an owner goes unchecked: %v", err)
	}
	job := group("with-a-forged-job")
	job.OwnerReferences[0].APIVersion, job.OwnerReferences[0].Kind = batchv1alpha1.GroupVersion.String(), "Job"
	if err := user.Create(t.Context(), job); err == nil || !strings.Contains(err.Error(), "validatepodgroup.volcano.sh") {
		t.Errorf("a user's PodGroup with a job as its owner goes unchecked: %v", err)
	}
}

// editor returns a client of a user with the role edit in a namespace.
func editor(t *testing.T, name, namespace string) client.Client {
	t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"}}
	if err := client.IgnoreAlreadyExists(admin(t).Create(t.Context(), binding)); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(plane.RESTConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	c, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func queuesAndGroups(t *testing.T, c client.Client) {
	child := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: schedulingv1beta1.QueueSpec{Parent: "nowhere"}}
	if err := c.Create(t.Context(), child); err == nil || !strings.Contains(err.Error(), `spec.parent: Invalid value: "nowhere": parent queue "nowhere" does not exist`) {
		t.Errorf("a queue under a parent that is not there: %v", err)
	}
	def := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if err := c.Delete(t.Context(), def); err == nil || !strings.Contains(err.Error(), "`default` queue can not be deleted") {
		t.Errorf("the default queue deleted: %v", err)
	}
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "default"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: "shut"}}
	if err := c.Create(t.Context(), group); err == nil || !strings.Contains(err.Error(), "can only submit PodGroup to queue with state `Open`, queue `shut` status is `Closed`") {
		t.Errorf("a group in a closed queue: %v", err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: newJob("").Spec.Tasks[0].Template.Spec}
	pod.Spec.SchedulerName = "volcano"
	pod.Annotations = map[string]string{"volcano.sh/jdb-min-available": "100%"}
	if err := c.Create(t.Context(), pod); err == nil || !strings.Contains(err.Error(), "percentage from 1% to 99%") {
		t.Errorf("a pod with a budget that cannot be: %v", err)
	}
}

func makeQueue(t *testing.T, c client.Client, name string, state schedulingv1beta1.QueueState) {
	t.Helper()
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	queue.Spec.Weight = 1
	eventually(t, func(ctx context.Context) error { return client.IgnoreAlreadyExists(c.Create(ctx, queue)) })
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(queue), queue); err != nil {
			return err
		}
		queue.Status.State = state
		return c.Status().Update(ctx, queue)
	})
}

func quantities(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
}
