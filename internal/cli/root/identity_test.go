package root_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// TestAJobNamesTheUserOfTheMachineOnlyIfPermitted: otherwise, admission would reject the job.
func TestAJobNamesTheUserOfTheMachineOnlyIfPermitted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		permitted bool
		argv      []string
		want      string
	}{
		"vcctl, permitted":      {true, []string{"job", "run", "x", "--image", "busybox"}, "mei"},
		"vcctl, not permitted":  {false, []string{"job", "run", "x", "--image", "busybox"}, ""},
		"sbatch, permitted":     {true, []string{"slurm", "sbatch", "--container-image=busybox", "--wrap=true"}, "mei"},
		"sbatch, not permitted": {false, []string{"slurm", "sbatch", "--container-image=busybox", "--wrap=true"}, ""},
		"rerun, permitted":      {true, []string{"job", "rerun", "done"}, "mei"},
		"rerun, not permitted":  {false, []string{"job", "rerun", "done"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			server.PermitImpersonation(test.permitted)
			server.OnCreate("Job", func(job map[string]any) {
				metadata, _ := job["metadata"].(map[string]any)
				metadata["labels"] = map[string]any{keys.JobID: "77"}
			})
			got := golden.Run{Argv: test.argv, Env: map[string]string{"USER": "mei"}}.RunAgainst(t, server)
			if got.Code != 0 {
				t.Fatalf("exit %d: %s%s", got.Code, got.Out, got.Err)
			}
			created := server.CreatedObjects("Job")
			if len(created) != 1 {
				t.Fatalf("%d jobs were created", len(created))
			}
			metadata, _ := created[0]["metadata"].(map[string]any)
			annotations, _ := metadata["annotations"].(map[string]any)
			if user, _ := annotations[keys.User].(string); user != test.want {
				t.Errorf("the job names user %q, want %q", user, test.want)
			}
		})
	}
}

func TestOwnJobsHaveTheNameOfTheMachineOrThatOfTheAPIServer(t *testing.T) {
	t.Parallel()
	var jobs []*batchv1alpha1.Job
	for id, user := range map[string]string{"1": "mei", "2": "oidc:mei", "3": "ada"} {
		jobs = append(jobs, &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job-" + id, Namespace: "nlp",
			Labels: map[string]string{keys.JobID: id}, Annotations: map[string]string{keys.User: user}}})
	}
	server := clitest.Start(t)
	for _, job := range jobs {
		server.SetObjects(job)
	}
	server.KnowUserAs("oidc:mei")
	for argv, want := range map[string]string{
		"slurm squeue --me -h -o %i":    "1 2",
		"slurm squeue --notme -h -o %i": "3",
		"slurm squeue -u ada -h -o %i":  "3",
	} {
		got := golden.Run{Argv: strings.Fields(argv), Env: map[string]string{"USER": "mei"}}.RunAgainst(t, server)
		if ids := strings.Join(strings.Fields(got.Out), " "); got.Code != 0 || ids != want {
			t.Errorf("%s: exit %d, jobs %s, want %s: %s", argv, got.Code, ids, want, got.Err)
		}
	}
}
