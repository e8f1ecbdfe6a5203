package consistency

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
)

// machine is a node with its free resources.
type machine struct {
	name              string
	cpu, memory, gpus int
	closed            bool
}

// leaves are the queues that accept jobs. The queues a and b are below root, the others below b.
var leaves = []string{"a", "c", "d"}

// drawWorld returns a random cluster: nodes in any state, queues with any limits, and jobs in any phase, with pods on
// nodes that have room for them.
func drawWorld(r *rapid.T) []runtime.Object {
	objects, machines := drawNodes(r)
	objects = append(objects, demo.NewQueue("root", "", 1, nil))
	for _, name := range []string{"a", "b", "c", "d"} {
		parent := "root"
		if name > "b" {
			parent = "b"
		}
		objects = append(objects, demo.NewQueue(name, parent, rapid.Int32Range(1, 9).Draw(r, "weight"), func(q *schedulingv1beta1.Queue) { limit(r, q) }))
	}
	for i := range rapid.IntRange(1, 14).Draw(r, "jobs") {
		objects = append(objects, drawJob(r, i, machines)...)
	}
	return demo.FillInStatus(objects)
}

func drawNodes(r *rapid.T) (objects []runtime.Object, machines []*machine) {
	for i := range rapid.IntRange(9, 16).Draw(r, "nodes") {
		m := &machine{name: fmt.Sprintf("n%02d", i), cpu: rapid.IntRange(1, 64).Draw(r, "cpu"), memory: rapid.IntRange(1, 2000).Draw(r, "Gi"), gpus: rapid.SampledFrom([]int{2, 4, 8}).Draw(r, "gpus")}
		node := demo.NewNode(m.name, "", fmt.Sprint(m.cpu), fmt.Sprintf("%dGi", m.memory), m.gpus)
		switch rapid.IntRange(0, 5).Draw(r, "state") {
		case 0:
			node, m.closed = demo.WithNodeDown(node, time.Minute), true
		case 1:
			node.Spec.Unschedulable = true
		}
		objects, machines = append(objects, node), append(machines, m)
	}
	return objects, machines
}

// limit adds random limits to a queue.
func limit(r *rapid.T, q *schedulingv1beta1.Queue) {
	some := func(what string) corev1.ResourceList {
		list := corev1.ResourceList{}
		if rapid.Bool().Draw(r, what+" gpu") {
			list = demo.ResourceList(demo.GPU, fmt.Sprint(rapid.IntRange(0, 99).Draw(r, what)))
		}
		if rapid.Bool().Draw(r, what+" cpu") {
			list[corev1.ResourceCPU] = demo.ResourceList("cpu", fmt.Sprintf("%dm", 250*rapid.IntRange(0, 999).Draw(r, what)))["cpu"]
		}
		return list
	}
	q.Spec.Guarantee.Resource, q.Spec.Deserved, q.Spec.Capability = some("guarantee"), some("deserved"), some("capability")
	q.Status.State = rapid.SampledFrom([]schedulingv1beta1.QueueState{schedulingv1beta1.QueueStateOpen, schedulingv1beta1.QueueStateClosed}).Draw(r, "queue")
}

func drawJob(r *rapid.T, i int, machines []*machine) []runtime.Object {
	plan := demo.JobPlan{
		ID: 100 + i, Namespace: rapid.SampledFrom([]string{"nlp", "bio"}).Draw(r, "namespace"), Name: fmt.Sprintf("job-%d", i), Queue: rapid.SampledFrom(leaves).Draw(r, "queue of"), User: "mei",
		Phase: rapid.SampledFrom([]batchv1alpha1.JobPhase{batchv1alpha1.Pending, batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Running, batchv1alpha1.Restarting,
			batchv1alpha1.Aborted, batchv1alpha1.Completed}).Draw(r, "phase"),
		Tasks: rapid.Int32Range(1, 5).Draw(r, "pods"), GPUs: rapid.IntRange(0, 4).Draw(r, "asks gpus"), CPU: fmt.Sprint(rapid.IntRange(1, 16).Draw(r, "asks cpu")), Memory: "3Gi",
		Age: time.Hour,
	}
	cpu := 0
	fmt.Sscan(plan.CPU, &cpu)
	if plan.Phase == batchv1alpha1.Running || plan.Phase == batchv1alpha1.Pending && rapid.Bool().Draw(r, "starts") {
		for _, m := range machines {
			for len(plan.Nodes) < int(plan.Tasks) && !m.closed && m.cpu >= cpu && m.memory >= 3 && m.gpus >= plan.GPUs {
				m.cpu, m.memory, m.gpus = m.cpu-cpu, m.memory-3, m.gpus-plan.GPUs
				plan.Nodes = append(plan.Nodes, m.name)
			}
		}
		plan.Ran = time.Minute
		if len(plan.Nodes) < int(plan.Tasks) {
			plan.Phase, plan.Nodes, plan.Ran = batchv1alpha1.Pending, nil, 0
		} else if plan.Phase == batchv1alpha1.Pending {
			plan.Creating = 1
		}
	}
	if plan.Phase != batchv1alpha1.Pending || plan.Nodes != nil {
		return drawPodStates(r, plan.NewObjects())
	}
	switch rapid.IntRange(0, 2).Draw(r, "waits") {
	case 0:
		plan.Change = func(job *batchv1alpha1.Job) {
			job.Annotations = map[string]string{keys.Hold: keys.HoldUser}
			job.Status.State.Reason, job.Status.State.Message = string(reason.JobHeldUser), "the job is held by its user"
		}
	case 1:
		plan.Explanation = drawExplanation(r, len(machines))
	}
	return plan.NewObjects()
}

// drawPodStates ends or deletes some of the running pods of a job. If all pods have ended, the job may have ended, too.
// Pods that have ended stay on their nodes; pods that are being deleted still use their resources.
func drawPodStates(r *rapid.T, objects []runtime.Object) []runtime.Object {
	job := objects[0].(*batchv1alpha1.Job)
	mayEnd, ended, all := rapid.Bool().Draw(r, "all pods end"), 0, 0
	for _, object := range objects {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			continue
		}
		all++
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		states := []string{"succeeds", "fails", "runs", "is deleted"}
		if mayEnd {
			states = states[:2]
		}
		now := demo.TimeBeforeNow(0)
		switch rapid.SampledFrom(states).Draw(r, "pod") {
		case "succeeds":
			endPod(pod, corev1.PodSucceeded, 0)
			job.Status.Running, job.Status.Succeeded, ended = job.Status.Running-1, job.Status.Succeeded+1, ended+1
		case "fails":
			endPod(pod, corev1.PodFailed, 7)
			job.Status.Running, job.Status.Failed, ended = job.Status.Running-1, job.Status.Failed+1, ended+1
		case "is deleted":
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds, pod.Finalizers = &now, new(int64(30)), []string{"test/keep"}
			job.Status.Running, job.Status.Terminating = job.Status.Running-1, job.Status.Terminating+1
		}
	}
	if all == 0 || ended < all {
		return objects
	}
	job.Status.State.Phase = batchv1alpha1.Completed
	if job.Status.Failed > 0 {
		job.Status.State.Phase = batchv1alpha1.Failed
	}
	objects[1].(*schedulingv1beta1.PodGroup).Status.Phase = schedulingv1beta1.PodGroupCompleted
	return objects
}

// endPod makes a pod end with an exit code.
func endPod(pod *corev1.Pod, phase corev1.PodPhase, code int32) {
	pod.Status.Phase = phase
	ended := corev1.ContainerStateTerminated{ExitCode: code, StartedAt: *pod.Status.StartTime, FinishedAt: demo.TimeBeforeNow(0)}
	pod.Status.ContainerStatuses[0].Ready, pod.Status.ContainerStatuses[0].State = false, corev1.ContainerState{Terminated: &ended}
}

// drawExplanation draws an explanation with a reason for each node.
func drawExplanation(r *rapid.T, nodes int) *schedulingv1beta1.Explanation {
	short := rapid.IntRange(1, nodes-1).Draw(r, "short")
	return &schedulingv1beta1.Explanation{
		Reason: string(reason.GangDoesNotFit), Message: fmt.Sprintf("%d nodes are short of gpu, the others are tainted", short), NodeCount: int32(nodes),
		Nodes: []schedulingv1beta1.ExplainedNodes{
			{Reason: string(reason.InsufficientResource), Detail: demo.GPU, Count: int32(short), ShortBy: "1"},
			{Reason: string(reason.UntoleratedTaint), Detail: "team=prod", Count: int32(nodes - short)},
		},
	}
}
