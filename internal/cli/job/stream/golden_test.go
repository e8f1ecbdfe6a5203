package stream_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// neverStarted gives the job train a pod whose program is missing, and one without a command.
func neverStarted(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	missing, idle := golden.NewPod(train, 3, "192.168.23.24"), golden.NewPod(train, 4, "192.168.23.24")
	missing.Status.Phase = corev1.PodFailed
	missing.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 127, Reason: "StartError", Message: "exec trian: executable file not found in $PATH"}}
	s.SetObjects(missing, idle, golden.NewEvent("idle.1", idle, "Warning", "NoCommand", "Container main has no command: the container waits until it is stopped", time.Minute))
	s.SetLog("nlp/train-worker-3", "")
	s.SetLog("nlp/train-worker-4", "")
}

func TestJobStreamGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "stream", []golden.Run{
		{About: "exec without a command", Args: "job exec train"},
		{About: "exec without --", Args: "job exec train ls -l"},
		{About: "exec in a job that waits", Args: "job exec eval -- sh"},
		{About: "exec in a job that has ended", Args: "job exec done -- sh"},
		{About: "exec in a task that does not exist", Args: "job exec train -t wrker -- sh"},
		{About: "exec with kubectl's -it", Args: "job exec -it train -- echo hi"},
		{About: "exec with a flag of the command's before --", Args: "job exec train --long -- ls"},
		{About: "exec in a container that does not exist", Args: "job exec train -i 1 -c mian -- sh"},
		{About: "attach to what has no stdin", Args: "job attach train", Width: 80},
		{About: "attach to no job", Args: "job attach trian"},
		{About: "attach to an index that does not run", Args: "job attach train -t worker -i 7"},
		{About: "logs of all pods", Args: "job logs train"},
		{About: "logs in colour", Args: "job logs train -t worker-0", Color: true},
		{About: "logs of one pod, bare", Args: "job logs train -t worker-1 --prefix=false"},
		{About: "logs of a pod on a simulated node", Args: "job logs train -t worker-8", Prepare: golden.AddSimulatedNode},
		{About: "logs of pods some of which are on a simulated node", Args: "job logs train", Prepare: golden.AddSimulatedNode},
		{About: "logs of a program that is missing", Args: "job logs train -t worker-3", Prepare: neverStarted},
		{About: "logs of a container without a command", Args: "job logs train -t worker-4", Prepare: neverStarted},
		{About: "logs of a waiting job", Args: "job logs eval"},
		{About: "logs of a job without pods", Args: "job logs plain"},
		{About: "logs of a task that does not exist", Args: "job logs train -t wrker"},
		{About: "logs of a pod that the job does not have", Args: "job logs train -t worker-99"},
		{About: "logs of a container that the job does not have", Args: "job logs train -c mian"},
		{About: "logs of failed pods where none failed", Args: "job logs train --failed"},
		{About: "logs of an earlier start where there was none", Args: "job logs train --previous"},
		{About: "a level that is no number", Args: "job logs train -v x"},
		{About: "logs in a format", Args: "job logs train -o json"},
		{About: "logs of no job", Args: "job logs nosuch"},
		{About: "logs of two jobs, of which one says nothing yet", Args: "job logs train eval"},
		{About: "logs of all jobs, in colour", Args: "job logs --all", Color: true},
		{About: "logs of the jobs of all namespaces", Args: "job logs --all -A --tail 1"},
		{About: "logs of jobs that have no pods", Args: "job logs plain paused"},
		{About: "logs by a label that nobody has", Args: "job logs -l team=none"},
		{About: "logs of a job and of a label", Args: "job logs train -l team=nlp"},
		{About: "logs of one task of several jobs", Args: "job logs --all -t worker-0"},
	})
}
