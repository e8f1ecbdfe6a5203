package golden

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
)

// TimeAgo returns a time before Now.
func TimeAgo(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }

// NewResources returns a resource list. For example, NewResources("cpu", "1", "memory", "2Gi").
func NewResources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// ClusterObjects returns the objects that all golden files share: four nodes, queues, and jobs in every state in the
// namespaces nlp and cv. Objects that only a single noun needs are added by Run.Prepare.
func ClusterObjects() []client.Object {
	objects := []client.Object{
		NewQueue("default", 1, schedulingv1beta1.QueueStateOpen, nil),
		NewQueue("research", 3, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
			q.Spec.Capability = NewResources("cpu", "16", "memory", "64Gi", "nvidia.com/gpu", "8")
			q.Status.Allocated = NewResources("cpu", "6", "memory", "12Gi", "nvidia.com/gpu", "7")
			q.Status.Running, q.Status.Pending = 1, 1
		}),
		NewQueue("archive", 1, schedulingv1beta1.QueueStateClosed, nil),
	}
	for i, used := range []string{"192.168.23.24", "192.168.51.67", "192.168.57.163", "192.168.63.50"} {
		objects = append(objects, NewNode(used))
		objects = append(objects, newFillerPod(i, used))
	}
	return append(objects, clusterJobs()...)
}

// Establish makes a new CRD one that the API server serves.
func Establish(crd map[string]any) {
	crd["status"] = map[string]any{"storedVersions": []any{"v1"}, "conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
}

func clusterJobs() []client.Object {
	train := NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Spec.Tasks[0].Replicas, train.Spec.MinAvailable = 3, 3
	train.Spec.Plugins = map[string][]string{"svc": {}, "env": {}}
	train.Status.Running, train.Status.MinAvailable = 3, 3
	train.Status.TaskStatusCount = map[string]batchv1alpha1.TaskState{"worker": {Phase: map[corev1.PodPhase]int32{corev1.PodRunning: 3}}}
	train.Status.Conditions = []batchv1alpha1.JobCondition{NewCondition(batchv1alpha1.Pending, 2*time.Hour), NewCondition(batchv1alpha1.Running, 90*time.Minute)}

	eval := NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute)
	eval.Spec.Tasks[0].Replicas, eval.Spec.MinAvailable = 2, 2
	eval.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Limits = NewResources("nvidia.com/gpu", "8")
	eval.Status.Pending, eval.Status.MinAvailable = 2, 2

	plain := NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	done := NewJob("done", "default", batchv1alpha1.Completed, 26*time.Hour)
	done.Labels = map[string]string{"team": "nlp", keys.JobType: "MPI"}
	done.Status.Succeeded, done.Status.MinAvailable = 1, 1
	done.Status.Conditions = []batchv1alpha1.JobCondition{NewCondition(batchv1alpha1.Running, 25*time.Hour)}
	done.Status.State.LastTransitionTime = TimeAgo(24 * time.Hour)
	broken := NewJob("broken", "default", batchv1alpha1.Failed, 3*time.Hour)
	broken.Status.State.Reason, broken.Status.State.Message = "PodFailed", "task main failed: exit code 3"
	broken.Status.Failed, broken.Status.RetryCount = 1, 3
	paused := NewJob("paused", "default", batchv1alpha1.Aborted, time.Hour)
	elsewhere := NewJob("segment", "default", batchv1alpha1.Running, 5*time.Minute)
	elsewhere.Namespace = "cv"
	elsewhere.Status.Running = 1
	elsewhere.Status.Conditions = []batchv1alpha1.JobCondition{NewCondition(batchv1alpha1.Running, 4*time.Minute)}

	return []client.Object{
		train, eval, plain, done, broken, paused, elsewhere,
		NewGroup(train, schedulingv1beta1.PodGroupRunning, nil), NewGroup(eval, schedulingv1beta1.PodGroupPending, WaitingExplanation()),
		NewGroup(plain, schedulingv1beta1.PodGroupPending, nil),
		NewPod(train, 0, "192.168.23.24"), NewPod(train, 1, "192.168.51.67"), NewPod(train, 2, "192.168.51.67"), NewPod(eval, 0, ""),
		NewEvent("train.1", train, "Normal", "CommandIssued", "train created", 2*time.Hour),
		NewEvent("eval.1", NewGroup(eval, "", nil), "Warning", "Unschedulable", "1/2 pods fit", 17*time.Minute),
		NewEvent("old.1", NewJob("eval", "", "", time.Hour), "Normal", "Old", "of another job of this name", time.Minute),
	}
}

// WaitingExplanation returns the scheduler's explanation for a gang that lacks one GPU.
func WaitingExplanation() *schedulingv1beta1.Explanation {
	return &schedulingv1beta1.Explanation{
		Reason:  "GangDoesNotFit",
		Message: "1 of 2 pods fit now; all 2 must start together",
		Hint:    "lower minAvailable to 1, or free 1 nvidia.com/gpu",
		Members: &schedulingv1beta1.ExplainedMembers{Min: 2, Exist: 2, Fit: 1},
		Queue: &schedulingv1beta1.ExplainedQueue{Name: "research", Position: 1, Allocated: NewResources("cpu", "6", "nvidia.com/gpu", "7"),
			Capability: NewResources("cpu", "16", "memory", "64Gi", "nvidia.com/gpu", "8")},
		Short:     []schedulingv1beta1.Shortage{{Resource: "nvidia.com/gpu", Scope: "queue", Asked: "16", Available: "1", ShortBy: "15"}},
		NodeCount: 4,
		Nodes: []schedulingv1beta1.ExplainedNodes{
			{Reason: "InsufficientResource", Detail: "nvidia.com/gpu", Count: 3, ShortBy: "1"},
			{Reason: "UntoleratedTaint", Detail: "team=prod", Count: 1},
		},
	}
}

// NewCondition returns a job condition: the job has been in the phase for the given time.
func NewCondition(phase batchv1alpha1.JobPhase, since time.Duration) batchv1alpha1.JobCondition {
	at := TimeAgo(since)
	return batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &at}
}

// NewQueue returns a queue that is a child of root and two days old. change may be nil.
func NewQueue(name string, weight int32, state schedulingv1beta1.QueueState, change func(*schedulingv1beta1.Queue)) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-queue-" + name), CreationTimestamp: TimeAgo(48 * time.Hour)},
		Spec:       schedulingv1beta1.QueueSpec{Weight: weight, Parent: "root"},
		Status:     schedulingv1beta1.QueueStatus{State: state, Allocated: corev1.ResourceList{}},
	}
	if change != nil {
		change(q)
	}
	return q
}

// NewJob returns a job in the namespace nlp that has one task, "worker", with one pod. Its UID is derived from its
// name and age, so that equal calls return equal jobs.
func NewJob(name, queue string, phase batchv1alpha1.JobPhase, age time.Duration) *batchv1alpha1.Job {
	task := "worker"
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", UID: types.UID(fmt.Sprintf("uid-%s-%d", name, int(age.Seconds()))), CreationTimestamp: TimeAgo(age)},
		Spec: batchv1alpha1.JobSpec{
			Queue: queue, SchedulerName: "volcano", MinAvailable: 1, MaxRetry: 3,
			Tasks: []batchv1alpha1.TaskSpec{{Name: task, Replicas: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{Requests: NewResources("cpu", "1", "memory", "2Gi")}}},
			}}}},
		},
		Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: phase}},
	}
}

// NewGroup returns the PodGroup of a job. A pending PodGroup without an explanation gets Volcano's condition.
func NewGroup(of *batchv1alpha1.Job, phase schedulingv1beta1.PodGroupPhase, explanation *schedulingv1beta1.Explanation) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: of.Name + "-" + string(of.UID), Namespace: of.Namespace, UID: "group-" + of.UID,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: of.Name, UID: of.UID}}},
		Status: schedulingv1beta1.PodGroupStatus{Phase: phase, Explanation: explanation},
	}
	if explanation == nil && phase == schedulingv1beta1.PodGroupPending {
		g.Status.Conditions = []schedulingv1beta1.PodGroupCondition{{Type: schedulingv1beta1.PodGroupUnschedulableType, Status: corev1.ConditionTrue,
			Reason: "NotEnoughResources", Message: "1/1 tasks in gang unschedulable: pod group is not ready"}}
	}
	return g
}

// NewPod returns a pod of the task "worker". If node is set, the pod is running.
func NewPod(of *batchv1alpha1.Job, index int, node string) *corev1.Pod {
	name := fmt.Sprintf("%s-worker-%d", of.Name, index)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: of.Namespace, UID: types.UID("uid-" + name), CreationTimestamp: TimeAgo(89 * time.Minute),
			Labels: map[string]string{keys.JobName: of.Name, keys.TaskSpec: "worker", keys.TaskIndex: fmt.Sprint(index)}},
		Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if node != "" {
		p.Status.Phase, p.Status.PodIP = corev1.PodRunning, fmt.Sprintf("10.0.0.%d", index+1)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	return p
}

// NewEvent returns an event about a job, a PodGroup or a pod.
func NewEvent(name string, about client.Object, kind, reason, message string, since time.Duration) *corev1.Event {
	word := "Job"
	switch about.(type) {
	case *schedulingv1beta1.PodGroup:
		word = "PodGroup"
	case *corev1.Pod:
		word = "Pod"
	}
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: about.GetNamespace()},
		InvolvedObject: corev1.ObjectReference{Kind: word, Name: about.GetName(), Namespace: about.GetNamespace(), UID: about.GetUID()},
		Type:           kind, Reason: reason, Message: message, LastTimestamp: TimeAgo(since), Count: 1,
	}
}

// NewNode returns a node like those of the demo, with 3920m cpu and 6265300Ki memory.
func NewNode(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Allocatable: NewResources("cpu", "3920m", "memory", "6265300Ki", "pods", "110"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// newFillerPod returns a pod that uses as much of its node as the pods of the demo did.
func newFillerPod(index int, node string) *corev1.Pod {
	held := [][2]string{{"1500m", "2621440Ki"}, {"2000m", "2097152Ki"}, {"500m", "524288Ki"}, {"1000m", "2097152Ki"}}[index]
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("filler-%d", index), Namespace: "kube-system"},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main",
			Resources: corev1.ResourceRequirements{Requests: NewResources("cpu", held[0], "memory", held[1])}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// AddLogs adds logs for the pods of the job train.
func AddLogs(server *clitest.Server) {
	server.SetLog("nlp/train-worker-0", "epoch 1\nepoch 2\n")
	server.SetLog("nlp/train-worker-1", "epoch 1\nno newline at the end")
	server.SetLog("nlp/train-worker-2", "")
}

// UIDOf returns the UID in the metadata of a stored object.
func UIDOf(meta map[string]any) types.UID { return types.UID(meta["uid"].(string)) }

// AddSimulatedNode adds a simulated node with a pod of the job train, which has no logs.
func AddSimulatedNode(s *clitest.Server) {
	train := NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	node := NewNode("sim-16")
	node.Labels = map[string]string{keys.NodeKind: "simulated"}
	s.SetObjects(node, NewPod(train, 8, "sim-16"))
}

// NewSweep returns the job sweep, an array of which elements failed.
func NewSweep(phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
	job := NewJob("sweep", "default", phase, time.Hour)
	job.Annotations = map[string]string{keys.Array: "0-11"}
	job.Spec.Tasks[0].Replicas = 12
	job.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "0-4,6,8-11", Failed: "5,7", ExitCodes: map[string]string{"1": "7", "7": "5"}}
	job.Status.Succeeded, job.Status.Failed = 10, 2
	return job
}
