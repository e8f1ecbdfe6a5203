package install

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/deploy"
)

// shelf is a storage class with one volume. The scheduler binds it to the claim of the first pod that needs it.
const shelf = "shelf"

func fillShelf(t *testing.T, c client.Client) {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: shelf}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: shelf, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp"}},
	}}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: shelf}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait}
	for _, o := range []client.Object{class, volume} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func jobLife(t *testing.T, c client.Client) {
	fillShelf(t, c)
	class := shelf
	job := newJob("whole", func(j *batchv1alpha1.Job) {
		j.Spec.Plugins = map[string][]string{"svc": {}, "ssh": {}, "env": {}}
		j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = quantities("1")
		j.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/data", VolumeClaim: &corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}}
	})
	if err := c.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	phase(t, c, job, batchv1alpha1.Running)
	scale(t, c, job, 3)
	command(t, c, "Job", job, busv1alpha1.AbortJobAction)
	phase(t, c, job, batchv1alpha1.Aborted)
	command(t, c, "Job", job, busv1alpha1.ResumeJobAction)
	phase(t, c, job, batchv1alpha1.Running)
}

func scale(t *testing.T, c client.Client, job *batchv1alpha1.Job, replicas int32) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		job.Spec.Tasks[0].Replicas = replicas
		return c.Update(ctx, job)
	})
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if job.Status.Running != replicas {
			return fmt.Errorf("%d of %d pods run", job.Status.Running, replicas)
		}
		return nil
	})
}

func phase(t *testing.T, c client.Client, job *batchv1alpha1.Job, want batchv1alpha1.JobPhase) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if job.Status.State.Phase != want {
			return fmt.Errorf("job %s is %s and not %s: %+v", job.Name, job.Status.State.Phase, want, job.Status)
		}
		return nil
	})
}

func command(t *testing.T, c client.Client, kind string, target client.Object, action busv1alpha1.Action) {
	t.Helper()
	if err := c.Create(t.Context(), newCommand(kind, target, action)); err != nil {
		t.Fatal(err)
	}
}

func newCommand(kind string, target client.Object, action busv1alpha1.Action) *busv1alpha1.Command {
	version := batchv1alpha1.GroupVersion.String()
	if kind == "Queue" {
		version = schedulingv1beta1.GroupVersion.String()
	}
	return &busv1alpha1.Command{
		ObjectMeta:   metav1.ObjectMeta{GenerateName: "test-", Namespace: "default"},
		Action:       string(action),
		TargetObject: &metav1.OwnerReference{APIVersion: version, Kind: kind, Name: target.GetName(), UID: target.GetUID()},
	}
}

func plainPod(t *testing.T, c client.Client) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "plain", Namespace: "default"}, Spec: newJob("").Spec.Tasks[0].Template.Spec}
	pod.Spec.SchedulerName = keys.DefaultSchedulerName
	pod.Spec.Containers[0].Resources.Requests = quantities("1")
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("the pod is %s", pod.Status.Phase)
		}
		return nil
	})
	if err := c.Delete(t.Context(), pod); err != nil {
		t.Error(err)
	}
}

func largePod(t *testing.T, c client.Client) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "large", Namespace: "default"}, Spec: newJob("").Spec.Tasks[0].Template.Spec}
	pod.Spec.SchedulerName = keys.DefaultSchedulerName
	pod.Spec.Containers[0].Resources.Requests = quantities("1k")
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				return nil
			}
		}
		return fmt.Errorf("no condition says that it is not scheduled: %v", pod.Status.Conditions)
	})
}

// discovery labels a node, and configures HyperNodes from labels.
func discovery(t *testing.T, c client.Client) {
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("nodes %v: %v", nodes.Items, err)
	}
	label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"example.com/rack":"r1"}}}`))
	if err := c.Patch(t.Context(), &nodes.Items[0], label); err != nil {
		t.Fatal(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: "volcano-controller-configmap"}, Data: map[string]string{
		"volcano-controller.conf": "networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: " +
			"{eth: [{nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]}}}]",
	}}
	if err := c.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	found := func(racks ...string) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			hyperNodes := &topologyv1alpha1.HyperNodeList{}
			if err := c.List(ctx, hyperNodes, client.MatchingLabels{keys.TopologySource: "label"}); err != nil {
				return err
			}
			var got []string
			for i := range hyperNodes.Items {
				got = append(got, hyperNodes.Items[i].Labels["example.com/rack"])
			}
			if !slices.Equal(got, racks) {
				return fmt.Errorf("hyperNodes of %v, want %v", got, racks)
			}
			return nil
		})
	}
	found("r1")
	for _, then := range []string{`"r2"`, `null`} {
		label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"example.com/rack":`+then+`}}}`))
		if err := c.Patch(t.Context(), &nodes.Items[0], label); err != nil {
			t.Fatal(err)
		}
	}
	found()
}

// cronLife creates a CronJob that runs a missed job, and deletes it.
func cronLife(t *testing.T, c client.Client) {
	cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "cron", Namespace: "default"}, Spec: batchv1alpha1.CronJobSpec{
		Schedule: "* * * * *", JobTemplate: batchv1alpha1.JobTemplateSpec{Spec: newJob("").Spec},
	}}
	if err := c.Create(t.Context(), cron); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cron), cron); err != nil {
			return err
		}
		cron.Status.LastScheduleTime = &metav1.Time{Time: time.Now().Add(-3 * time.Minute)}
		return c.Status().Update(ctx, cron)
	})
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cron), cron); err != nil {
			return err
		}
		if len(cron.Status.Active) != 1 {
			return fmt.Errorf("status %+v", cron.Status)
		}
		return nil
	})
	if err := c.Delete(t.Context(), cron); err != nil {
		t.Error(err)
	}
}

func queueLife(t *testing.T, c client.Client) {
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "life"}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}}
	if err := c.Create(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	state := func(want schedulingv1beta1.QueueState) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(queue), queue); err != nil {
				return err
			}
			if queue.Status.State != want || queue.Spec.Parent != keys.RootQueue {
				return fmt.Errorf("queue is %q below %q", queue.Status.State, queue.Spec.Parent)
			}
			return nil
		})
	}
	state(schedulingv1beta1.QueueStateOpen)
	command(t, c, "Queue", queue, busv1alpha1.CloseQueueAction)
	state(schedulingv1beta1.QueueStateClosed)
	command(t, c, "Queue", queue, busv1alpha1.OpenQueueAction)
	state(schedulingv1beta1.QueueStateOpen)
}
