package install

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// The namespaces of two tenants, mallory and bob. Each has the role edit in the own namespace.
const (
	mallorys = "tenant-a"
	bobs     = "tenant-b"
)

// attempt is one attack by mallory.
type attempt struct {
	name string
	try  func(ctx context.Context) error
	// says is a part of the rejection. If it is empty, the action is permitted and must not affect bob.
	says string
}

// cannot is a part of every rejection by RBAC.
const cannot = "forbidden"

// TestAHostileTenantReachesNothingOfAnother lets mallory attack bob, who has a running job, with the permissions of the
// role edit in her own namespace. She must not be able to read, change, evict or delay anything of his, and no
// component may use more memory than its limit in install.yaml.
func TestAHostileTenantReachesNothingOfAnother(t *testing.T) {
	c := admin(t)
	components, stop := runEverything(t)
	defer stop()
	for _, name := range []string{mallorys, bobs} {
		if err := client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})); err != nil {
			t.Fatal(err)
		}
	}
	mallory, bob := editor(t, "mallory", mallorys), editor(t, "bob", bobs)
	victim := tenantJob(bobs, "payroll")
	must(t, bob.Create(t.Context(), victim))
	must(t, bob.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: bobs, Name: "prod-ssh"}, Data: map[string][]byte{"password": []byte("x")}}))
	runs(t, c, victim)
	must(t, mallory.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: mallorys, Name: "prod-ssh"}, Data: map[string][]byte{"password": []byte("y")}}))
	held := tenantJob(mallorys, "held")
	held.Annotations = map[string]string{keys.Hold: keys.HoldAdmin}
	must(t, c.Create(t.Context(), held))
	before := holdings(t, c)

	for _, a := range attempts(t, mallory, victim) {
		t.Run(a.name, func(t *testing.T) {
			err := a.try(t.Context())
			if (err == nil) != (a.says == "") || err != nil && !strings.Contains(err.Error(), a.says) {
				t.Errorf("got %v, want %q", err, a.says)
			}
		})
	}
	next := tenantJob(bobs, "next")
	must(t, bob.Create(t.Context(), next))
	runs(t, c, next)
	must(t, client.IgnoreNotFound(bob.Delete(t.Context(), next)))
	eventually(t, func(context.Context) error {
		if diff := cmp.Diff(before, holdings(t, c)); diff != "" {
			return fmt.Errorf("what bob has is not what it was (-before +after):\n%s", diff)
		}
		return nil
	})
	secret := &corev1.Secret{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: mallorys, Name: "prod-ssh"}, secret))
	if diff := cmp.Diff(map[string][]byte{"password": []byte("y")}, secret.Data); diff != "" {
		t.Errorf("a Secret that no job made was changed (-before +after):\n%s", diff)
	}
	for _, c := range components {
		c.requireWithinLimit(t)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runEverything starts all components of vcd, each as a process with the permissions and limits in install.yaml, and a
// node. Admission accepts reviews only from the API server.
func runEverything(t *testing.T) (components []*component, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	removeWebhooks(t)
	must(t, apply(t.Context(), plane.RESTConfig(), deploy.InstallYAML))
	more := map[string][]string{
		daemon.Controllers: {"--lists-address", "127.0.0.1:0"},
		daemon.Admission:   {"--webhook-listen-address", "127.0.0.1:0", "--webhook-client-ca-file", plane.PKI().CACert(), "--webhook-client-name", controlplane.WebhookClient},
	}
	for _, name := range daemon.ComponentNames() {
		components = append(components, startProcess(t, name, more[name]...))
	}
	fleet, err := simnode.New(simnode.Config{RESTConfig: plane.RESTConfig(), Count: 1})
	must(t, err)
	running.Go(func() {
		if err := fleet.Run(ctx); err != nil {
			t.Errorf("nodes: %v", err)
		}
	})
	return components, func() {
		for _, c := range components {
			c.stop(t)
		}
		cancel()
		running.Wait()
	}
}

// tenantJob returns a job of one small pod that runs until it is deleted.
func tenantJob(namespace, name string) *batchv1alpha1.Job {
	job := newJob(name)
	job.Namespace = namespace
	job.Spec.Tasks[0].Replicas = 1
	job.Spec.Tasks[0].Template.Annotations = map[string]string{"vc-batch.dev/sim-run-time": "1h"}
	job.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = quantities("100m")
	return job
}

func runs(t *testing.T, c client.Client, job *batchv1alpha1.Job) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		there := &batchv1alpha1.Job{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), there); err != nil {
			return err
		}
		if there.Status.State.Phase != batchv1alpha1.Running {
			return fmt.Errorf("job %s is %s: %s", job.Name, there.Status.State.Phase, there.Status.State.Message)
		}
		*job = *there
		return nil
	})
}

// holdings lists bob's objects that others could reach.
func holdings(t *testing.T, c client.Client) []string {
	t.Helper()
	var has []string
	jobs, pods, groups, secrets := &batchv1alpha1.JobList{}, &corev1.PodList{}, &schedulingv1beta1.PodGroupList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{jobs, pods, groups, secrets} {
		must(t, c.List(t.Context(), list, client.InNamespace(bobs)))
	}
	for _, j := range jobs.Items {
		has = append(has, fmt.Sprintf("job %s %s generation %d, %s, %d running, retries %d", j.Name, j.UID, j.Generation, j.Status.State.Phase, j.Status.Running, j.Status.RetryCount))
	}
	for _, p := range pods.Items {
		has = append(has, fmt.Sprintf("pod %s %s %s on %s, going %v", p.Name, p.UID, p.Status.Phase, p.Spec.NodeName, p.DeletionTimestamp != nil))
	}
	for _, g := range groups.Items {
		has = append(has, fmt.Sprintf("group %s %s", g.Name, g.Status.Phase))
	}
	for _, s := range secrets.Items {
		has = append(has, fmt.Sprintf("secret %s %s", s.Name, s.Data))
	}
	for _, name := range []string{"root", "default"} {
		queue := &schedulingv1beta1.Queue{}
		must(t, c.Get(t.Context(), client.ObjectKey{Name: name}, queue))
		has = append(has, fmt.Sprintf("queue %s generation %d, %s", name, queue.Generation, queue.Status.State))
	}
	return has
}

// labeledLikePodOf returns a pod of mallory with some owners, and with the labels and annotations of a pod of a job.
func labeledLikePodOf(job *batchv1alpha1.Job, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "false", Namespace: mallorys, OwnerReferences: owners,
			Labels:      map[string]string{keys.JobName: job.Name, keys.JobNamespace: job.Namespace},
			Annotations: map[string]string{keys.JobName: job.Name, keys.TaskSpec: "work", keys.TaskIndex: "0", keys.JobVersion: "0"},
		},
		Spec: tenantJob(mallorys, "x").Spec.Tasks[0].Template.Spec,
	}
}

// attempts returns the attacks by mallory.
func attempts(t *testing.T, mallory client.Client, victim *batchv1alpha1.Job) []attempt {
	t.Helper()
	key := client.ObjectKeyFromObject(victim)
	number := victim.Labels[keys.JobID]
	merge := func(o client.Object, patch string) func(context.Context) error {
		return func(ctx context.Context) error {
			return mallory.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	create := func(o client.Object) func(context.Context) error {
		return func(ctx context.Context) error { return mallory.Create(ctx, o) }
	}
	job := func(name string, change func(*batchv1alpha1.Job)) func(context.Context) error {
		j := tenantJob(mallorys, name)
		change(j)
		return create(j)
	}
	list := func(l client.ObjectList, options ...client.ListOption) func(context.Context) error {
		return func(ctx context.Context) error { return mallory.List(ctx, l, options...) }
	}
	command := func(namespace, kind, name, action string) *busv1alpha1.Command {
		group := batchv1alpha1.GroupVersion.String()
		if kind != "Job" {
			group = schedulingv1beta1.GroupVersion.String()
		}
		return &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "c-"}, Action: action,
			TargetObject: &metav1.OwnerReference{APIVersion: group, Kind: kind, Name: name, UID: "u"}}
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	system := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: deploy.Namespace} }
	theirs := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: victim.Name + "-work-0", Namespace: bobs}}
	forged := metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: victim.Name, UID: victim.UID, Controller: new(true)}
	return []attempt{
		{"read his job", func(ctx context.Context) error { return mallory.Get(ctx, key, &batchv1alpha1.Job{}) }, cannot},
		{"list his jobs", list(&batchv1alpha1.JobList{}, client.InNamespace(bobs)), cannot},
		{"list the jobs of all", list(&batchv1alpha1.JobList{}), cannot},
		{"find his job by its number", list(&batchv1alpha1.JobList{}, client.MatchingLabels{keys.JobID: number}), cannot},
		{"list his PodGroups", list(&schedulingv1beta1.PodGroupList{}, client.InNamespace(bobs)), cannot},
		{"list the Plans of all", list(&insightv1alpha1.PlanList{}), cannot},
		{"create a job beside his", create(tenantJob(bobs, "intruder")), cannot},
		{"change his job", merge(theirs, `{"spec":{"minAvailable":0}}`), cannot},
		{"delete his job", func(ctx context.Context) error { return mallory.Delete(ctx, theirs) }, cannot},
		{"delete his pod", func(ctx context.Context) error { return mallory.Delete(ctx, pod) }, cannot},
		{"command his job", create(command(bobs, "Job", victim.Name, "AbortJob")), cannot},
		{"command his job from her namespace", create(command(mallorys, "Job", victim.Name, "AbortJob")), ""},
		{"close the queue that he uses", create(command(mallorys, "Queue", "default", "CloseQueue")), "cannot update queues"},
		{"close it under another word", create(command(mallorys, "queue", "default", "CloseQueue")), "no controller would carry out this one"},
		{"create a queue", create(&schedulingv1beta1.Queue{ObjectMeta: named("mine")}), cannot},
		{"take the queue's capacity", merge(&schedulingv1beta1.Queue{ObjectMeta: named("default")}, `{"spec":{"capability":{"cpu":"0"}}}`), cannot},
		{"close the queue by its annotation", merge(&schedulingv1beta1.Queue{ObjectMeta: named("default")}, `{"metadata":{"annotations":{"vc-batch.dev/queue-state":"Closed"}}}`), cannot},
		{"draw another topology", create(&topologyv1alpha1.HyperNode{ObjectMeta: named("mine")}), cannot},
		{"ask for all pods there can be", job("endless", func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas, j.Spec.MinAvailable = math.MaxInt32, 1 }), "less than or equal to 1000000"},
		{"ask for more pods than a cluster runs", job("many", func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas, j.Spec.MinAvailable = 200_000, 1 }), "tasks have 200000 replicas in total, but the maximum is 100000"},
		{"fill the memory of admission", flood(mallory), ""},
		{"fill the memory of controllers and scheduler", hoard(mallory), ""},
		{"have the scheduler simulate more pods than it can", func(ctx context.Context) error { return mallory.Create(ctx, hugePlan(t)) }, ""},
		{"send a review herself", forgedReview(t), "certificate"},
		{"ask after his job by its number", job("spy", func(j *batchv1alpha1.Job) { j.Annotations = map[string]string{keys.Dependency: "afternotok:" + number} }), "job " + number + " does not exist"},
		{"ask after his job by its name", job("spy", func(j *batchv1alpha1.Job) {
			j.Annotations = map[string]string{keys.Dependency: "afternotok:" + bobs + "/" + victim.Name}
		}), "you are not allowed to read jobs in namespace " + bobs},
		{"have a job under his number", job("twin", func(j *batchv1alpha1.Job) { j.Labels = map[string]string{keys.JobID: number} }), ""},
		{"take his number later", merge(&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: mallorys}}, `{"metadata":{"labels":{"`+keys.JobID+`":"`+number+`"}}}`), "the job number cannot be changed"},
		{"release what an administrator holds", merge(&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: mallorys}}, `{"metadata":{"annotations":{"`+keys.Hold+`":null}}}`), "the job is held by an administrator"},
		{"write the status of a job", func(ctx context.Context) error {
			return mallory.Status().Update(ctx, &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: mallorys}})
		}, cannot},
		{"take over a Secret that no job made", job("prod", func(j *batchv1alpha1.Job) { j.Spec.Plugins = map[string][]string{"ssh": {}} }), ""},
		{"create a pod of his job", create(labeledLikePodOf(victim, forged)), "the Job in ownerReferences cannot be set"},
		{"create a pod that is labeled like those of his job", create(labeledLikePodOf(victim)), ""},
		{"pass a PodGroup of a queue that there is not", create(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "false", Namespace: mallorys,
			OwnerReferences: []metav1.OwnerReference{forged}}, Spec: schedulingv1beta1.PodGroupSpec{Queue: "nowhere"}}), "unable to find queue"},
		{"put a pod into his PodGroup", create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "guest", Namespace: mallorys,
			Annotations: map[string]string{keys.GroupName: victim.Name + "-" + string(victim.UID)}}, Spec: tenantJob(mallorys, "x").Spec.Tasks[0].Template.Spec}), ""},
		{"have a plan made in his namespace", create(&insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: bobs}}), cannot},
		{"read the key of admission", func(ctx context.Context) error {
			return mallory.Get(ctx, client.ObjectKey{Namespace: deploy.Namespace, Name: admission.SecretName}, &corev1.Secret{})
		}, cannot},
		{"take the scheduler's lease", merge(&coordinationv1.Lease{ObjectMeta: system("vc-scheduler")}, `{"spec":{"holderIdentity":"mallory"}}`), cannot},
		{"remove a webhook", func(ctx context.Context) error {
			return mallory.Delete(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: named(admission.ConfigurationPrefix + "jobs-validate")})
		}, cannot},
	}
}

// flood sends eight large objects at once, which must all be rejected, and then an ordinary one, which must be
// accepted.
func flood(mallory client.Client) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		large := tenantJob(mallorys, "large")
		for range 10 {
			large.Spec.Tasks = append(large.Spec.Tasks, large.Spec.Tasks...)
		}
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = mallory.Create(ctx, large.DeepCopy()) })
		}
		all.Wait()
		if slices.Contains(errs, nil) {
			return errors.New("a job of 1,024 tasks is created")
		}
		small := tenantJob(mallorys, "small")
		return errors.Join(mallory.Create(ctx, small), mallory.Delete(ctx, small))
	}
}

// hoard creates twenty held jobs of a megabyte each, which enter all caches of jobs, and deletes them.
func hoard(mallory client.Client) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		var jobs []*batchv1alpha1.Job
		for i := range 20 {
			fat := tenantJob(mallorys, fmt.Sprintf("fat-%d", i))
			fat.Annotations = map[string]string{keys.Hold: keys.HoldUser}
			fat.Spec.Tasks[0].Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "FAT", Value: strings.Repeat("x", 1<<20)}}
			if err := mallory.Create(ctx, fat); err != nil {
				return err
			}
			jobs = append(jobs, fat)
		}
		for _, fat := range jobs {
			if err := mallory.Delete(ctx, fat); err != nil {
				return err
			}
		}
		return nil
	}
}

// hugePlan simulates a job of 100,000 pods.
func hugePlan(t *testing.T) *insightv1alpha1.Plan {
	t.Helper()
	job := tenantJob(mallorys, "huge")
	job.TypeMeta = metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"}
	job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = 100_000, 100_000
	raw, err := json.Marshal(job)
	must(t, err)
	return &insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: "huge", Namespace: mallorys}, Spec: insightv1alpha1.PlanSpec{Objects: []runtime.RawExtension{{Raw: raw}}}}
}

// forgedReview sends a review directly to the webhook's port.
func forgedReview(t *testing.T) func(ctx context.Context) error {
	t.Helper()
	hook := &admissionregistrationv1.MutatingWebhookConfiguration{}
	must(t, admin(t).Get(t.Context(), client.ObjectKey{Name: admission.ConfigurationPrefix + "jobs-mutate"}, hook))
	url := *hook.Webhooks[0].ClientConfig.URL
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // who forges reviews does not care
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte("{}")))
		if err != nil {
			return err
		}
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
}
