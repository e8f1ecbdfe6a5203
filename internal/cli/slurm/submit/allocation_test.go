package submit_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// runs gives every created job a running head pod.
func runs(t *testing.T, server *clitest.Server) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		for {
			for _, job := range server.CreatedObjects("Job") {
				meta, _ := job["metadata"].(map[string]any)
				name, _ := meta["name"].(string)
				namespace, _ := meta["namespace"].(string)
				server.SetObjects(&corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-head-0", Labels: map[string]string{keys.JobName: name, keys.TaskSpec: "head"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
				})
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
}

func TestOptionsOfAllocationsAreToldToHaveNoEffectInAJobThatRuns(t *testing.T) {
	t.Parallel()
	got := golden.Run{Argv: strings.Fields("slurm srun --jobid=99999 -C fast --mem=2G --overlap -n2 hostname"), Env: map[string]string{"PATH": "/bin"}}.RunAgainst(t, clitest.Start(t, golden.ClusterObjects()...))
	first, _, _ := strings.Cut(got.Err, "\n")
	if first != "srun: warning: --constraint=fast has no effect with --jobid: the job already has its nodes" || strings.Count(got.Err, "warning") != 1 {
		t.Errorf("exit %d\n%s", got.Code, got.Err)
	}
}

func TestAnAllocationThatCannotBeReachedIsCancelled(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"salloc": "slurm salloc -Q", "srun": "slurm srun -Q hostname"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			runs(t, server)
			server.RejectRequests("GET", "/api/v1/namespaces/nlp/pods/", 403, metav1.StatusReasonForbidden, "pods/exec is forbidden")
			got := golden.Run{Argv: strings.Fields(line), Env: map[string]string{"PATH": "/bin"}}.RunAgainst(t, server)
			commands := server.CreatedObjects("Command")
			if got.Code == 0 || len(commands) != 1 || commands[0]["action"] != "TerminateJob" {
				t.Errorf("exit %d, commands %v\n%s%s", got.Code, commands, got.Out, got.Err)
			}
		})
	}
}
