package slurm_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// A filter with an unset shell variable is an error. It does not mean all jobs, which a script would then cancel.
func TestNoFilterIsEmpty(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddJobs(server)
	tried := 0
	for _, table := range slurm.Listing() {
		for _, option := range table.Options {
			if option.Arg != getopt.Required || !slurm.Filters(option.Group) {
				continue
			}
			for _, value := range []string{"", " , "} {
				tried++
				got := golden.Run{Argv: []string{"slurm", table.Program, "--" + option.Long, value}, Env: map[string]string{"USER": "mei"}}.RunAgainst(t, server)
				if got.Code == 0 || got.Out != "" || !strings.HasPrefix(got.Err, table.Program+": error: ") {
					t.Errorf("%s --%s %q: exit %d, %q, %q", table.Program, option.Long, value, got.Code, got.Out, got.Err)
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d options were tried", tried)
	}
}

// The list of jobs may be omitted if that means all jobs. It may not be empty.
func TestAListOfJobsIsLeftOutOrNotEmpty(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddJobs(server)
	const hint = " is empty\nPROGRAM: hint: specify a value; check whether a shell variable is unset\n"
	for words, problem := range map[string]string{
		"squeue -h -j": "", "squeue -h -s": "", "sprio -h -j": "", "squeue -h -j 36": "", "squeue -h --jobs= 36": "",
		"squeue -h -j ''": "--jobs" + hint, "squeue -h --jobs=": "--jobs" + hint, "squeue -h -j ,": "--jobs" + hint, "squeue -h -s ''": "--steps" + hint,
		"sprio -h -j ''": "--jobs" + hint, "sacct -j ''": "--jobs" + hint, "squeue -h": "", "SQUEUE_USERS squeue -h": "--user" + hint,
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			run := golden.Run{Argv: []string{"slurm"}, Env: map[string]string{"USER": "mei"}}
			for _, word := range strings.Fields(words) {
				if word == "SQUEUE_USERS" {
					run.Env[word] = " "
					continue
				}
				run.Argv = append(run.Argv, strings.Trim(word, "'"))
			}
			program := run.Argv[1]
			got := run.RunAgainst(t, server)
			if problem == "" {
				if got.Code != 0 || got.Err != "" || got.Out == "" {
					t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.Err)
				}
				return
			}
			if want := program + ": error: " + strings.ReplaceAll(problem, "PROGRAM", program); got.Code != 1 || got.Out != "" || got.Err != want {
				t.Errorf("exit %d, %q, %q; want %q", got.Code, got.Out, got.Err, want)
			}
		})
	}
}

// scancel and squeue agree on which jobs are pending, running and on a node. Elements whose pods have no nodes are
// pending.
func TestScancelTakesTheElementsThatSqueueLists(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"42 -t PD": "3-199", "-n sweep -t PD": "3-199", "42_[2-5] -t PD": "3-5", "42_1 -t PD": "",
		"42 -t R": "0-2", "-n sweep -t R": "0-2", "42_[2-5] -t R": "2", "42_7 -t R": "",
		"42 -w r05n07": "0-2", "-n sweep -w r05n07": "0-2", "42_[2-5] -w r05n07": "2", "42 -w r05n99": "", "42 -t PD -w r05n07": "",
		"42 -t S": "", "42 -t PD -u ann": "",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, slurmtest.ArrayWaitingForNodes()...)
			got := golden.Run{Argv: append([]string{"slurm", "scancel"}, strings.Fields(words)...)}.RunAgainst(t, server)
			if got.Code != 0 || got.Err != "" {
				t.Errorf("exit %d, %q", got.Code, got.Err)
			}
			slurmtest.ExpectCommands()(t, server)
			slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, want)(t, server)
		})
	}
}

// If all remaining elements of an array match, the array is cancelled as a job, so that it ends as one.
func TestAnArrayAllOfWhichWaitsIsCancelledAsAJob(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, slurmtest.NewJob(42, "sweep", "mei", "default", batchv1alpha1.Pending, time.Hour, func(j *batchv1alpha1.Job) {
		j.Annotations[keys.Array] = "0-9"
		j.Spec.Tasks[0].Replicas = 10
	}))
	if got := (golden.Run{Argv: []string{"slurm", "scancel", "42", "-t", "PD"}}).RunAgainst(t, server); got.Code != 0 || got.Err != "" {
		t.Errorf("exit %d, %q", got.Code, got.Err)
	}
	slurmtest.ExpectCommands("TerminateJob sweep")(t, server)
	slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "")(t, server)
}
