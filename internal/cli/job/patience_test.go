package job_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// A short outage of the API server does not end a wait: the user sees one message, and the exit code is that of the
// job.
func TestWaitingCommandsOutlastAnAPIServerThatIsAway(t *testing.T) {
	t.Parallel()
	completed := golden.NewJob("eval", "research", batchv1alpha1.Completed, 18*time.Minute)
	completed.Status.Succeeded = 2
	cases := map[string]struct {
		args  string
		ready string
		code  int
	}{
		"job wait":      {"job wait eval", "", cli.ExitOK},
		"job logs -f":   {"job logs eval -f", "", cli.ExitOK},
		"job list -w":   {"job list eval -w", "NAME", cli.ExitInterrupted},
		"job view -w":   {"job view eval -w", "Phase", cli.ExitOK},
		"explain -w":    {"job explain eval -w", "eval is Pending", cli.ExitOK},
		"job suspend":   {"job suspend eval --wait", "", cli.ExitError}, // it ended during the outage
		"run --wait":    {"job run fresh --wait -- true", "", cli.ExitOK},
		"run --attach":  {"job run fresh --attach -- true", "", cli.ExitOK},
		"several waits": {"job wait eval train", "", cli.ExitOK},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			out, stop, done := golden.Start(t, server, strings.Fields(tc.args)...)
			out.WaitFor(t, tc.ready)
			server.WaitForWatch(t)
			server.StartOutage()
			out.WaitFor(t, "the API server is not responding")
			server.EndOutage()
			out.WaitFor(t, "the API server is responding again")
			ended := completed.DeepCopy()
			if strings.Contains(tc.args, "fresh") {
				ended = golden.NewJob("fresh", "default", batchv1alpha1.Completed, 0)
				for _, job := range server.ObjectsBelow("/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs") {
					if meta := job["metadata"].(map[string]any); meta["name"] == "fresh" {
						ended.UID = golden.UIDOf(meta)
					}
				}
			}
			if strings.Contains(tc.args, "train") {
				train := golden.NewJob("train", "research", batchv1alpha1.Completed, 2*time.Hour)
				server.SetObjects(train)
			}
			server.SetObjects(ended)
			code := 0
			if tc.code == cli.ExitInterrupted {
				out.WaitFor(t, "Completed")
				code = stop()
			} else {
				select {
				case code = <-done:
				case <-time.After(15 * time.Second):
					t.Fatalf("it does not end:\n%s", out)
				}
			}
			if code != tc.code || strings.Count(out.String(), "is not responding") != 1 {
				t.Errorf("it ends with %d, want %d:\n%s", code, tc.code, out)
			}
		})
	}
}
