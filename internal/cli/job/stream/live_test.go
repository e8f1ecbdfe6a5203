package stream_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestLogsFollowPodsThatComeLater(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	golden.AddLogs(server)
	out, _, done := golden.Start(t, server, "job", "logs", "train", "-f")
	out.WaitFor(t, "worker-0 | epoch 2\n")
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	server.SetLog("nlp/train-worker-7", "late\n")
	server.SetObjects(golden.NewPod(train, 7, "192.168.63.50"))
	out.WaitFor(t, "worker-7 | late\n")
	server.SetObjects(golden.NewPod(train, 7, "192.168.63.50")) // a change of a pod that is already followed
	train.Status.State.Phase = batchv1alpha1.Completed
	server.SetObjects(train)
	select {
	case code := <-done:
		if code != 0 || strings.Count(out.String(), "late") != 1 {
			t.Errorf("exit %d, and what worker-7 said is printed %d times:\n%s", code, strings.Count(out.String(), "late"), out)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("logs -f does not end with the job")
	}
}

func TestLogsGoToAFile(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	golden.AddLogs(server)
	path := filepath.Join(t.TempDir(), "log")
	got := golden.Run{Argv: []string{"job", "logs", "train", "-t", "worker-0", "-o", path}, Color: true}.RunAgainst(t, server)
	text, err := os.ReadFile(path)
	if err != nil || got.Code != 0 || got.Out != "" || string(text) != "worker-0 | epoch 1\nworker-0 | epoch 2\n" {
		t.Errorf("exit %d, %v, printed %q, the file holds %q", got.Code, err, got.Out, text)
	}
	if got = (golden.Run{Args: "job logs train -o /nosuch/log"}).RunAgainst(t, server); got.Code != 1 || !strings.Contains(got.Err, "/nosuch/log") {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
}
