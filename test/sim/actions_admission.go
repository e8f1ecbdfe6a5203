package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("submit-invalid", 5, func(s *drawing) *action {
		name := fmt.Sprintf("invalid-%d", s.IntN(1_000_000))
		object, what := drawInvalid(s, name)
		object.SetLabels(map[string]string{invalidLabel: "true"})
		return s.action(func(w *World) {
			_, _ = w.users.do(&apiserver.Request{Verb: apiserver.Create, Kind: w.kindOf(object), Namespace: object.GetNamespace(), Name: name, Object: object})
		}, "user submits %s, %s", name, what)
	})
	registerAction("change-job-template", 2, onJob(func(s *drawing, job string) *action {
		return s.action(func(w *World) { w.users.changeImage(job) }, "user changes the image of task t0 of %s, which is not permitted", job)
	}))
	registerAction("create-plain-pod", 6, func(s *drawing) *action {
		pod := newPlainPod(fmt.Sprintf("plain-%d", s.IntN(1_000_000)), []string{"500m", "1", "2"}[s.IntN(3)])
		return s.action(func(w *World) { w.users.createPod(pod) }, "user creates pod %s of cpu %s", pod.Name, pod.Spec.Containers[0].Resources.Requests.Cpu())
	})
}

// invalidLabel marks the objects that the webhooks must reject.
const invalidLabel = "invalid"

// drawInvalid draws an object that the webhooks must reject, but not the schema, with the reason.
func drawInvalid(s *drawing, name string) (object client.Object, reason string) {
	job := drawJob(s.Rand, name, s.queueNames())
	meta := metav1.ObjectMeta{Namespace: userNamespace, Name: name}
	switch s.IntN(6) {
	case 0:
		job.Spec.Queue = "nowhere"
		return job, "a job in a queue that does not exist"
	case 1:
		job.Spec.Tasks[0].DependsOn = &batchv1alpha1.DependsOn{Name: []string{job.Spec.Tasks[0].Name}}
		return job, "a job with a task that depends on itself"
	case 2:
		pod := &job.Spec.Tasks[0].Template.Spec
		pod.Containers = append(pod.Containers, pod.Containers[0])
		return job, "a job with two containers of the same name"
	case 3:
		queue := newQueue(name, "nowhere", 0, 0)
		return queue, "a queue with a parent that does not exist"
	case 4:
		group := &schedulingv1beta1.PodGroup{ObjectMeta: meta}
		group.Spec.MinMember, group.Spec.Queue = 1, "nowhere"
		return group, "a PodGroup in a queue that does not exist"
	default:
		flow := &flowv1alpha1.JobFlow{ObjectMeta: meta}
		flow.Spec.Flows = []flowv1alpha1.Flow{{Name: "a", DependsOn: &flowv1alpha1.DependsOn{Targets: []string{"b"}}}, {Name: "b", DependsOn: &flowv1alpha1.DependsOn{Targets: []string{"a"}}}}
		return flow, "a flow whose jobs depend on each other"
	}
}

// changeImage changes the image of a job's first task.
func (u *users) changeImage(name string) {
	job := u.world.job(name)
	if job == nil {
		return
	}
	update := job.DeepCopy()
	update.Spec.Tasks[0].Template.Spec.Containers[0].Image = "another"
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Update, Kind: jobKind, Namespace: userNamespace, Name: name, Object: update})
}

// newPlainPod returns a pod that belongs to no job.
func newPlainPod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}, Spec: corev1.PodSpec{
		SchedulerName: keys.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}},
	}}
}

// createPod creates a pod.
func (u *users) createPod(pod *corev1.Pod) {
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Create, Kind: podKind, Namespace: pod.Namespace, Name: pod.Name, Object: pod})
}
