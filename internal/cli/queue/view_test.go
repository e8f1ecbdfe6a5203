package queue_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// busyQueue gives research limits of all kinds, an event, and waiting jobs in another namespace.
func busyQueue(s *clitest.Server) {
	q := golden.NewQueue("research", 3, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
		q.Spec.Capability = golden.NewResources("cpu", "16", "nvidia.com/gpu", "8")
		q.Spec.Guarantee.Resource = golden.NewResources("cpu", "2")
		q.Status.Allocated = golden.NewResources("cpu", "6", "memory", "12Gi", "nvidia.com/gpu", "7")
		q.Status.Terminating = golden.NewResources("cpu", "1")
		q.Status.Deserved = golden.NewResources("cpu", "4")
		q.Status.Running, q.Status.Pending, q.Status.Inqueue, q.Status.Completed = 1, 2, 1, 40
	})
	event := golden.NewEvent("research.1", golden.NewJob("x", "", "", 0), "Normal", "CommandIssued", "queue research was opened", time.Hour)
	event.Namespace, event.InvolvedObject = "default", corev1.ObjectReference{Kind: "Queue", Name: "research", UID: q.UID}
	s.SetObjects(q, event, golden.NewQueue("below", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) { q.Spec.Parent = "research" }))
	for i, position := range []int32{3, 2} {
		job := golden.NewJob(fmt.Sprintf("late-%d", i), "research", batchv1alpha1.Pending, 2*time.Minute)
		job.Namespace = "cv"
		group := groupOf(job, schedulingv1beta1.PodGroupInqueue, golden.WaitingExplanation())
		group.Status.Explanation.Queue.Position = position
		s.SetObjects(group)
	}
}

// groupOf returns the PodGroup of a job as its controller creates it.
func groupOf(job *batchv1alpha1.Job, phase schedulingv1beta1.PodGroupPhase, why *schedulingv1beta1.Explanation) *schedulingv1beta1.PodGroup {
	group := golden.NewGroup(job, phase, why)
	group.Spec.Queue, group.Spec.MinMember, group.CreationTimestamp = job.Spec.Queue, job.Spec.MinAvailable, job.CreationTimestamp
	group.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
	return group
}

func crowd(s *clitest.Server) {
	for i := range 12 {
		s.SetObjects(groupOf(golden.NewJob(fmt.Sprintf("sweep-%02d", i), "research", batchv1alpha1.Pending, time.Minute), schedulingv1beta1.PodGroupPending, nil))
	}
}

func TestQueueViewGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "view", append(golden.RunsForCommands(golden.Command{Args: "queue view research", Wrong: "queue view reserch", Prepare: busyQueue}),
		golden.Run{About: "an empty queue", Args: "queue view archive"},
		golden.Run{About: "more wait than are shown", Args: "queue view research --events=false", Prepare: crowd},
		golden.Run{About: "all that match", Args: "queue view -l team=nlp", Prepare: busyQueue},
		golden.Run{About: "without the right to list PodGroups and events", Args: "queue view research", Prepare: func(s *clitest.Server) {
			busyQueue(s)
			s.RejectRequests("GET", "/apis/scheduling.volcano.sh/v1beta1/podgroups", 403, metav1.StatusReasonForbidden, "podgroups is forbidden")
			s.RejectRequests("GET", "/api/v1/namespaces/default/events", 403, metav1.StatusReasonForbidden, "events is forbidden")
		}},
	))
}
