package clusterdata_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// A user with access to one namespace gets a note about that only, because all data of that namespace is readable. If
// only jobs of that namespace are named, there is no note.
func TestWhoMayLookAtOneNamespaceIsToldThatAlone(t *testing.T) {
	t.Parallel()
	const note = "note: you are not allowed to list jobs in all namespaces: showing only namespace nlp\n"
	for words, told := range map[string]string{
		"squeue -o %i|%t|%r|%R|%S": "squeue: " + note, "squeue -r -o %i": "squeue: " + note, "squeue -j 36,42 -o %i|%R": "squeue: " + note, "sacct -X -a -o jobid,state,nodelist": "sacct: " + note,
		"squeue -j train-sh-x7k2p,eval-b8d2c -o %i|%r|%R": "", "squeue -j sweep -r -o %i": "",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddJobs(server)
			run := golden.Run{Argv: append([]string{"slurm"}, strings.Fields(words)...), Env: map[string]string{"USER": "mei"}}
			all := run
			all.Argv = append(run.Argv[:len(run.Argv):len(run.Argv)], "--namespace", "nlp")
			want := all.RunAgainst(t, server)
			for _, path := range []string{"/apis/batch.volcano.sh/v1alpha1/jobs", "/apis/scheduling.volcano.sh/v1beta1/podgroups", "/api/v1/pods"} {
				server.RejectRequests("GET", path, 403, metav1.StatusReasonForbidden, "no")
			}
			if got := run.RunAgainst(t, server); got.Out != want.Out || got.Err != told || got.Code != 0 || want.Out == "" {
				t.Errorf("exit %d, %q\nof the namespace: %q\ntold %q, want %q", got.Code, got.Out, want.Out, got.Err, told)
			}
		})
	}
}
