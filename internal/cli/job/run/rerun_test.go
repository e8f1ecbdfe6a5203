package run_test

import (
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// withSlurm makes the job done a job from sbatch.
func withSlurm(s *clitest.Server) {
	done := golden.NewJob("done", "default", batchv1alpha1.Completed, 26*time.Hour)
	done.Labels, done.Annotations = map[string]string{keys.JobID: "42"}, map[string]string{keys.Slurm: "{}"}
	s.SetObjects(done)
}

func TestJobRerunGolden(t *testing.T) {
	t.Parallel()
	named := golden.NewJob("done-2", "default", batchv1alpha1.Running, time.Hour)
	golden.CompareRuns(t, "rerun", []golden.Run{
		{About: "a job that has ended", Args: "job rerun done", Check: golden.CheckJobField("done-2", "done", "metadata", "annotations", keys.RerunOf)},
		{About: "a job that runs", Args: "job rerun train", Check: golden.CheckJobField("train-2", "3", "spec", "minAvailable")},
		{About: "the name is taken", Args: "job rerun done", Prepare: func(s *clitest.Server) { s.SetObjects(named) }, Check: golden.CheckJobField("done-3", "default", "spec", "queue")},
		{About: "by the way kubectl names jobs", Args: "job rerun jobs.batch.volcano.sh/done -o name"},
		{About: "in another queue, later", Args: "job rerun done --name second --queue research --labels a=b --begin 2h --after train", Check: golden.CheckJobField("second", "afterok:train", "metadata", "annotations", keys.Dependency)},
		{About: "held", Args: "job rerun done --hold", Check: golden.CheckJobField("done-2", "user", "metadata", "annotations", keys.Hold)},
		{About: "what would be sent", Args: "job rerun done --dry-run=client -o yaml", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "of a job of sbatch", Args: "job rerun done", Prepare: withSlurm},
		{About: "a queue that is not there", Args: "job rerun done --queue reserch"},
		{About: "a time that is none", Args: "job rerun done --begin soon"},
		{About: "a dependency that is none", Args: "job rerun done --after later:train"},
		{About: "two jobs", Args: "job rerun done train"},
		{About: "no job", Args: "job rerun"},
	})
}
