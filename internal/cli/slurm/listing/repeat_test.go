package listing_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// With -i, a listing is repeated, but a note is printed only once.
func TestAListingIsRepeated(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddJobs(server)
	server.RejectRequests("GET", "/apis/scheduling.volcano.sh/v1beta1/podgroups", 403, metav1.StatusReasonForbidden, "no")
	out, stop, _ := golden.Start(t, server, "slurm", "squeue", "-i", "1", "-u", "ann", "-o", "%i")
	out.WaitFor(t, "\n\nSun Mar 01 12:00:00 2026\nJOBID\n")
	if code := stop(); code != 130 { // the exit code of an interrupted command
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(out.String(), "you may not list the PodGroups"); n > 1 {
		t.Errorf("it is noted %d times:\n%s", n, out)
	}
	if rounds := strings.Count(out.String(), "JOBID\n"); rounds < 2 {
		t.Errorf("%d rounds:\n%s", rounds, out)
	}
}
