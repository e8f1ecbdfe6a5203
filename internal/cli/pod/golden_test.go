package pod_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// pods adds a crashing pod, a failed pod, a pod that no scheduler places, and a plain pod in a queue.
func pods(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	crashing := golden.NewPod(train, 1, "192.168.51.67")
	crashing.Labels[keys.QueueName] = "research"
	crashing.Annotations = map[string]string{keys.GroupName: "train-uid-train-7200"}
	crashing.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "main", RestartCount: 14, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: golden.TimeAgo(20 * time.Second)}}}
	broken := golden.NewPod(golden.NewJob("broken", "default", batchv1alpha1.Failed, 3*time.Hour), 0, "192.168.23.24")
	broken.Status.Phase = corev1.PodFailed
	broken.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: golden.TimeAgo(time.Hour)}}
	waiting := golden.NewPod(golden.NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute), 0, "")
	waiting.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", LastTransitionTime: golden.TimeAgo(17 * time.Minute), Message: "1 of 2 pods fit now; all 2 must start together"}}
	plain := golden.NewPod(train, 7, "192.168.23.24")
	plain.Name, plain.UID, plain.Labels = "plain", "uid-plain", nil
	plain.Annotations = map[string]string{keys.PodQueueName: "research"}
	elsewhere := golden.NewPod(train, 0, "192.168.57.163")
	elsewhere.Namespace = "cv"
	s.SetObjects(crashing, broken, waiting, plain, elsewhere, golden.NewEvent("w.1", waiting, "Warning", "FailedScheduling", "no node was free", time.Minute))
}

func TestPodGoldens(t *testing.T) {
	runs := golden.RunsForCommands(
		golden.Command{Args: "pod list", Wrong: "pod list --phase Runing", Prepare: pods},
		golden.Command{Args: "pod get train-worker-0", Wrong: "pod get train-worker-9", Prepare: pods},
		golden.Command{Args: "pod view train-worker-1", Wrong: "pod view --all train-worker-1", Prepare: pods},
		golden.Command{Args: "pod create -f testdata/pod.yaml", Wrong: "pod create -f testdata/bad.yaml", Prepare: pods},
		golden.Command{Args: "pod delete train-worker-0", Wrong: "pod delete -l " + keys.JobName + "=train", Prepare: pods},
	)
	more := func(about, args string) { runs = append(runs, golden.Run{About: about, Args: args, Prepare: pods}) }
	more("all columns, all namespaces", "pod list -A -o wide")
	more("of a job and a task", "pod list -j train -t worker")
	more("of a task that there is not", "pod list -j train -t ps")
	more("on a node, of no job, too", "pod list --node 192.168.23.24 --any")
	more("in a queue", "pod list -q research")
	more("in a phase", "pod list --phase failed,pending --sort-by status")
	more("by label", "pod list -l "+keys.JobName+"=eval")
	more("Volcano's table", "pod list --compat --job train")
	more("Volcano's table, all namespaces", "pod list --all-namespaces --compat")
	more("a job and its queue", "pod list --job eval --queue research")
	more("a job and another queue", "pod list --job eval --queue default")
	more("a job that is not there and a queue", "pod list --job evl --queue default")
	more("one that waits", "pod view eval-worker-0")
	more("one that failed", "pod view broken-worker-0 --events=false")
	more("one of no job", "pod view plain")
	golden.CompareRuns(t, "pod", runs)
}
