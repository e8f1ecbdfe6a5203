package submit_test

import (
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// TestTranslateAndExplain checks the printed manifest: each field with the option that set it, and the same data for
// programs.
func TestTranslateAndExplain(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/bash\n#SBATCH -J train -N2 --ntasks-per-node=4\n#SBATCH -t 2:00:00\nsrun python train.py\n#SBATCH -n2\n"
	run := func(about string, argv ...string) golden.Run {
		return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Input: script, Prepare: slurmtest.AddProfile, Env: map[string]string{"USER": "mei", "SBATCH_GPUS_PER_NODE": "2", "EPOCHS": "3"},
			Check: golden.CheckStored("/api/v1/namespaces/nlp/configmaps", 0)}
	}
	verbose := run("what would be submitted, on the way to when it would start", "sbatch", "--test-only", "-v", "--mem=1G", "--wrap=hostname")
	verbose.Prepare = func(server *clitest.Server) {
		slurmtest.AddProfile(server)
		golden.AnswerPlans(golden.NewStartingAnswer())(server)
	}
	verbose.Env["SBATCH_GPUS_PER_NODE"] = "1"
	golden.CompareRuns(t, "translate", []golden.Run{
		run("a script with its options", "translate", "--export=EPOCHS", "--signal=USR1@60", "--hint=nomultithread"),
		run("for programs", "translate", "-o", "json", "--mem=1G", "--wrap=hostname"),
		run("with the profile of a file, and no cluster", "translate", "--site", "testdata/profile.yaml", "-p", "gpu", "-o", "logs/%j.out", "--wrap=hostname", "-oyaml"),
		run("a file that is not there", "translate", "--site", "testdata/nosuch.yaml"),
		run("a mistake", "translate", "--mem=4Gi"),
		verbose,
	})
}
