package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("resize-job", 5, onJob(func(s *drawing, job string) *action {
		change := drawSizeChange(s.Rand)
		return s.action(func(w *World) { w.users.resize(job, &change) }, "user changes %s: %s", job, change.describe())
	}))
	registerAction("replace-job", 3, onJob(func(s *drawing, name string) *action {
		job := drawJob(s.Rand, name, s.queueNames())
		propagation := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}[s.IntN(2)]
		return s.action(func(w *World) { w.users.replaceJob(job, propagation) },
			"user deletes %s (%s) and submits another job with this name: %s", name, propagation, describeJob(job))
	}))
	registerAction("submit-too-large", 3, func(s *drawing) *action {
		queue := s.queueNames()[s.IntN(len(s.queueNames()))]
		tooLarge, next := drawTooLargeJob(s, queue), s.newJobName()
		behind := newSimpleJob(next, queue, 1+s.Int32N(2), "1")
		pause := between(s.Rand, 0, 10*time.Second)
		return s.action(func(w *World) {
			w.users.submit(tooLarge)
			w.add(w.now.Add(pause), nil, func() { w.users.submit(behind) })
		}, "user submits %s, which can never start: %s; %s later, %s: %s", tooLarge.Name, describeJob(tooLarge), pause.Round(time.Second), next, describeJob(behind))
	})
	registerAction("fill-queue", 3, onQueue(func(s *drawing, queue string) *action {
		size := 2 + s.Int32N(4)
		low, high := newSimpleJob(s.newJobName(), queue, size+s.Int32N(4), "1"), newSimpleJob(s.newJobName(), queue, size, "1")
		low.Spec.PriorityClassName, high.Spec.PriorityClassName = "low", "high"
		low.Spec.MinAvailable = 1 + s.Int32N(size)
		pause := between(s.Rand, time.Second, 30*time.Second)
		return s.action(func(w *World) {
			w.users.submit(low)
			w.add(w.now.Add(pause), nil, func() { w.users.submit(high) })
		}, "user fills queue %s with %s: %s; %s later comes %s: %s", queue, low.Name, describeJob(low), pause.Round(time.Second), high.Name, describeJob(high))
	}))
}

// newJobName returns the name of a new job, to which later actions may refer.
func (s *drawing) newJobName() string {
	name := fmt.Sprintf("job-%d", len(s.jobs))
	s.jobs = append(s.jobs, name)
	return name
}

// newSimpleJob returns a job with one task and default policies, all of whose pods must run at the same time.
func newSimpleJob(name, queue string, replicas int32, cpu string) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}}
	job.Spec.Queue, job.Spec.MaxRetry, job.Spec.MinAvailable = queue, 1, replicas
	task := batchv1alpha1.TaskSpec{Name: "t0", Replicas: replicas}
	task.Template.Spec = newPodSpec(cpu)
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{task}
	return job
}

// newPodSpec returns the spec of a pod with one container.
func newPodSpec(cpu string) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}},
	}
}

// drawTooLargeJob draws a job that can never start: one pod is larger than every node, or all pods together are larger
// than the cluster, or they are larger than the nodes although their sum is not.
func drawTooLargeJob(s *drawing, queue string) *batchv1alpha1.Job {
	name := s.newJobName()
	var job *batchv1alpha1.Job
	switch s.IntN(3) {
	case 0:
		job = newSimpleJob(name, queue, 1+s.Int32N(2), "12")
	case 1:
		job = newSimpleJob(name, queue, 60, "1")
	default:
		largest := int64(0)
		for _, node := range s.setting.nodes {
			largest = max(largest, node)
		}
		// Two of these pods do not fit on one node, and there are more of them than nodes.
		job = newSimpleJob(name, queue, int32(len(s.setting.nodes))+1, fmt.Sprintf("%dm", largest/2+500))
	}
	if s.IntN(2) == 0 {
		job.Spec.PriorityClassName = "high"
	}
	return job
}

// sizeChange is a change of the numbers that users may change in a job.
type sizeChange struct {
	task         int    // index of the task, modulo the number of tasks
	replicas     *int32 // nil means no change
	minAvailable *int32 // of the job, at most the sum of the replicas
	taskMinimum  *int32 // at most the replicas
}

func drawSizeChange(random *rand.Rand) sizeChange {
	c := sizeChange{task: random.IntN(3)}
	for c.replicas == nil && c.minAvailable == nil && c.taskMinimum == nil {
		for _, number := range []**int32{&c.replicas, &c.minAvailable, &c.taskMinimum} {
			if random.IntN(2) == 0 {
				*number = ptr.To(random.Int32N(7))
			}
		}
	}
	return c
}

func (c *sizeChange) describe() string {
	text := fmt.Sprintf("task %d", c.task)
	if c.replicas != nil {
		text += fmt.Sprintf(", replicas %d", *c.replicas)
	}
	if c.taskMinimum != nil {
		text += fmt.Sprintf(", minAvailable %d", *c.taskMinimum)
	}
	if c.minAvailable != nil {
		text += fmt.Sprintf("; minAvailable of the job %d", *c.minAvailable)
	}
	return text
}

// resize changes the size of a job, within the rules of validation.
func (u *users) resize(name string, change *sizeChange) {
	job := u.world.job(name)
	if job == nil {
		return
	}
	update := job.DeepCopy()
	task := &update.Spec.Tasks[change.task%len(update.Spec.Tasks)]
	if change.replicas != nil {
		task.Replicas = *change.replicas
	}
	if change.taskMinimum != nil {
		task.MinAvailable = ptr.To(*change.taskMinimum)
	}
	if task.MinAvailable != nil {
		*task.MinAvailable = min(*task.MinAvailable, task.Replicas)
	}
	if change.minAvailable != nil {
		update.Spec.MinAvailable = *change.minAvailable
	}
	update.Spec.MinAvailable = min(update.Spec.MinAvailable, totalReplicas(update))
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Update, Kind: jobKind, Namespace: userNamespace, Name: name, Object: update})
}

func totalReplicas(job *batchv1alpha1.Job) int32 {
	total := int32(0)
	for i := range job.Spec.Tasks {
		total += job.Spec.Tasks[i].Replicas
	}
	return total
}

// replaceJob deletes a job and creates one with the same name as soon as possible, as a script does that tries until it
// succeeds. It gives up after some attempts.
func (u *users) replaceJob(job *batchv1alpha1.Job, propagation metav1.DeletionPropagation) {
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Delete, Kind: jobKind, Namespace: job.Namespace, Name: job.Name, Propagation: &propagation})
	attempts := 0
	var create func()
	create = func() {
		_, err := u.do(&apiserver.Request{Verb: apiserver.Create, Kind: jobKind, Namespace: job.Namespace, Name: job.Name, Object: job.DeepCopy()})
		if attempts++; apierrors.IsAlreadyExists(err) && attempts < 20 {
			u.world.add(u.world.now.Add(500*time.Millisecond), nil, create)
		}
	}
	create()
}

// drawGuarantees gives guarantees to some of the queues below root that have no children. The sum does not exceed half
// of the cluster.
func drawGuarantees(random *rand.Rand, s *setting) {
	var free int64
	for _, node := range s.nodes {
		free += node / 2000
	}
	for _, q := range s.queues {
		isSystemQueue := q.Name == keys.RootQueue || q.Name == keys.DefaultQueue
		isLeaf := !isSystemQueue && q.Spec.Parent == keys.RootQueue && !hasChildren(s.queues, q.Name)
		if !isLeaf || random.IntN(3) > 0 || free < 1 {
			continue
		}
		guarantee := 1 + random.Int64N(min(free, 4))
		if capability, limited := q.Spec.Capability[corev1.ResourceCPU]; limited {
			guarantee = min(guarantee, capability.Value())
		}
		free -= guarantee
		q.Spec.Guarantee = schedulingv1beta1.Guarantee{Resource: cpuList(guarantee)}
		if q.Spec.Deserved.Cpu().Value() < guarantee {
			q.Spec.Deserved = cpuList(guarantee)
		}
	}
}

// cpuList returns a resource list with the given number of CPU cores.
func cpuList(cpu int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI)}
}
