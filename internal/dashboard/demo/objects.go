package demo

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Now is the time at which the cluster is in the state that this package describes.
var Now = time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)

// TimeBeforeNow returns a time before Now.
func TimeBeforeNow(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }

// ResourceList returns a list of resources: Amounts("cpu", "1", "memory", "2Gi").
func ResourceList(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// GPU is the name of the scarce resource.
const GPU = "nvidia.com/gpu"

// NewNode returns a node that has been ready for 41 days; rack may be "".
func NewNode(name, rack, cpu, memory string, gpus int) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), CreationTimestamp: TimeBeforeNow(41 * 24 * time.Hour), Labels: map[string]string{}},
		Status: corev1.NodeStatus{
			Allocatable: ResourceList("cpu", cpu, "memory", memory, "pods", "110"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: TimeBeforeNow(41 * 24 * time.Hour)}},
		},
	}
	if gpus > 0 {
		node.Status.Allocatable[GPU] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	if rack != "" {
		node.Labels["topology.kubernetes.io/rack"] = rack
	}
	return node
}

// WithNodeDown turns a node into one whose kubelet stopped reporting.
func WithNodeDown(node *corev1.Node, since time.Duration) *corev1.Node {
	node.Status.Conditions[0] = corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.", LastTransitionTime: TimeBeforeNow(since),
	}
	return node
}

// NewQueue returns an open queue below another; change may be nil.
func NewQueue(name, parent string, weight int32, change func(*schedulingv1beta1.Queue)) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("queue-" + name), CreationTimestamp: TimeBeforeNow(41 * 24 * time.Hour)},
		Spec:       schedulingv1beta1.QueueSpec{Weight: weight, Parent: parent},
		Status:     schedulingv1beta1.QueueStatus{State: schedulingv1beta1.QueueStateOpen, Allocated: corev1.ResourceList{}},
	}
	if change != nil {
		change(q)
	}
	return q
}

// JobPlan is a short description of a job with its PodGroup and pods.
type JobPlan struct {
	ID              int
	Namespace, Name string
	Queue, User     string
	Phase           batchv1alpha1.JobPhase
	Class           string // priority class
	Tasks           int32
	GPUs            int // per pod
	CPU, Memory     string
	Age             time.Duration // time since submission
	Ran             time.Duration // time since the start; 0: not started
	Limit           time.Duration
	Nodes           []string // nodes of the running pods, one per pod
	Creating        int      // how many of these pods have not started
	Explanation     *schedulingv1beta1.Explanation
	Change          func(*batchv1alpha1.Job)
}

// NewObjects returns the objects of the job. A job that is held, ended or requeued has no PodGroup and no pods.
func (p JobPlan) NewObjects() []runtime.Object {
	job := p.newJobObject()
	switch p.Phase {
	case batchv1alpha1.Pending, batchv1alpha1.Running:
	default:
		return []runtime.Object{job}
	}
	if job.Annotations[keys.Hold] != "" {
		return []runtime.Object{job}
	}
	objects := []runtime.Object{job, p.newGroupObject(job)}
	for i := range int(p.Tasks) {
		objects = append(objects, p.newPodObject(job, i))
	}
	return objects
}

func (p JobPlan) newJobObject() *batchv1alpha1.Job {
	asks := ResourceList("cpu", p.CPU, "memory", p.Memory)
	if p.GPUs > 0 {
		asks[GPU] = *resource.NewQuantity(int64(p.GPUs), resource.DecimalSI)
	}
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: p.Name, Namespace: p.Namespace, UID: types.UID(fmt.Sprintf("job-%d", p.ID)), CreationTimestamp: TimeBeforeNow(p.Age),
			Labels: map[string]string{keys.JobID: fmt.Sprint(p.ID)}, Annotations: map[string]string{keys.User: p.User},
		},
		Spec: batchv1alpha1.JobSpec{
			Queue: p.Queue, SchedulerName: "volcano", MinAvailable: p.Tasks, MaxRetry: 3, PriorityClassName: p.Class,
			Tasks: []batchv1alpha1.TaskSpec{{Name: "worker", Replicas: p.Tasks, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "main", Image: "hpc/" + p.Name + ":2026.1", Resources: corev1.ResourceRequirements{Requests: asks, Limits: asks}}},
			}}}},
		},
		Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: p.Phase, LastTransitionTime: TimeBeforeNow(max(p.Ran, time.Second))}, MinAvailable: p.Tasks},
	}
	if p.Limit > 0 {
		seconds := int64(p.Limit.Seconds())
		job.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = &seconds
	}
	running := int32(max(len(p.Nodes)-p.Creating, 0))
	switch p.Phase {
	case batchv1alpha1.Running:
		job.Status.Running, job.Status.Pending = running, p.Tasks-running
	case batchv1alpha1.Completed:
		job.Status.Succeeded = p.Tasks
	case batchv1alpha1.Failed:
		job.Status.Failed = p.Tasks
	default:
		job.Status.Running, job.Status.Pending = running, p.Tasks-running
	}
	submitted := TimeBeforeNow(p.Age)
	job.Status.Conditions = []batchv1alpha1.JobCondition{{Status: batchv1alpha1.Pending, LastTransitionTime: &submitted}}
	if p.Ran > 0 && p.Phase != batchv1alpha1.Pending {
		started := TimeBeforeNow(p.Ran)
		job.Status.Conditions = append(job.Status.Conditions, batchv1alpha1.JobCondition{Status: batchv1alpha1.Running, LastTransitionTime: &started})
	}
	if p.Change != nil {
		p.Change(job)
	}
	return job
}

func (p JobPlan) newGroupObject(job *batchv1alpha1.Job) *schedulingv1beta1.PodGroup {
	phase := schedulingv1beta1.PodGroupPending
	if len(p.Nodes) > 0 {
		phase = schedulingv1beta1.PodGroupRunning
	} else if p.Explanation != nil {
		phase = schedulingv1beta1.PodGroupInqueue
	}
	all := corev1.ResourceList{}
	for range p.Tasks {
		addAmounts(all, podRequests(&job.Spec.Tasks[0].Template.Spec))
	}
	return &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Name: p.Name + "-" + string(job.UID), Namespace: p.Namespace, UID: "group-" + job.UID, CreationTimestamp: TimeBeforeNow(p.Age),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: job.Name, UID: job.UID}},
		},
		Spec:   schedulingv1beta1.PodGroupSpec{MinMember: p.Tasks, MinResources: &all, Queue: p.Queue, PriorityClassName: p.Class},
		Status: schedulingv1beta1.PodGroupStatus{Phase: phase, Explanation: p.Explanation},
	}
}

func (p JobPlan) newPodObject(job *batchv1alpha1.Job, index int) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-worker-%d", p.Name, index), Namespace: p.Namespace, UID: types.UID(fmt.Sprintf("pod-%d-%d", p.ID, index)), CreationTimestamp: TimeBeforeNow(p.Age),
			Labels:          map[string]string{keys.JobID: fmt.Sprint(p.ID), keys.TaskIndex: fmt.Sprint(index), keys.TaskSpec: "worker"},
			Annotations:     map[string]string{keys.TaskSpec: "worker"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: job.Name, UID: job.UID}},
		},
		Spec:   corev1.PodSpec{Containers: job.Spec.Tasks[0].Template.Spec.Containers},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if index >= len(p.Nodes) {
		return pod
	}
	pod.Spec.NodeName = p.Nodes[index]
	bound := TimeBeforeNow(max(p.Ran, time.Second) + 3*time.Second)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: bound}}
	status := corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}
	if index < len(p.Nodes)-p.Creating {
		pod.Status.Phase = corev1.PodRunning
		started := TimeBeforeNow(max(p.Ran, time.Second))
		pod.Status.StartTime = &started
		status.Ready, status.State = true, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	return pod
}
