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

// watchesJobs reports whether a watch of jobs has started. Commands may watch other kinds as well.
func watchesJobs(server *clitest.Server) bool {
	queries := server.Queries()
	requests := server.Requests()
	for i, query := range queries {
		if strings.Contains(query, "watch=") && strings.Contains(requests[i], "/jobs") {
			return true
		}
	}
	return false
}

// If an object is deleted while it is followed, the error names it and has a hint.
func TestWhatIsFollowedIsDeleted(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"job", "view", "eval", "-w", "--events=false"}, {"job", "explain", "eval", "-w"}, {"job", "wait", "eval"}} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		out, _, done := golden.Start(t, server, args...)
		for !watchesJobs(server) {
			time.Sleep(time.Millisecond)
		}
		server.RemoveObject(golden.NewJob("eval", "research", batchv1alpha1.Pending, 0))
		want := "error: job \"eval\" was deleted in the meantime\nhint:  `vcctl job list` lists the existing objects\n"
		out.WaitFor(t, want)
		if code := <-done; code != cli.ExitError {
			t.Errorf("%v: exit %d, want %d", args, code, cli.ExitError)
		}
	}
}
