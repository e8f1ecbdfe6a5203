package submit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// withTable gives the user mei a table before the run.
func withTable(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		slurmtest.AddProfile(server)
	}
	return slurmtest.WithEnv(r, "USER", "mei", "HOME", "/home/mei")
}

// scheduled checks which CronJobs were created, each written as name and schedule.
func scheduled(want ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		var got []string
		for _, object := range server.CreatedObjects("CronJob") {
			spec, metadata := object["spec"].(map[string]any), object["metadata"].(map[string]any)
			template := spec["jobTemplate"].(map[string]any)["spec"].(map[string]any)
			got = append(got, metadata["name"].(string)[:4]+" "+spec["schedule"].(string)+" "+spec["concurrencyPolicy"].(string)+" "+template["queue"].(string))
		}
		slices.Sort(got)
		got = slices.Compact(got) // a dry run comes first
		if !slices.Equal(got, want) {
			t.Errorf("CronJobs %q, want %q", got, want)
		}
	}
}

func TestScrontab(t *testing.T) {
	t.Parallel()
	table := func(about, text string, argv ...string) golden.Run {
		r := withTable(slurmtest.NewRun(about, append([]string{"scrontab"}, argv...)...))
		r.Input = text
		return r
	}
	golden.CompareRuns(t, "scrontab", []golden.Run{
		table("no table to list", "", "-l"),
		table("no table to remove", "", "-r"),
		slurmtest.WithChecks(table("a new table", "#SCRON -t 10 -p research\n*/5 * * * * date\n@noon ls\n", "-v", "-"), scheduled("date */5 * * * * Forbid research", "ls-2 0 12 * * * Forbid default")),
		slurmtest.WithChecks(table("mistakes of lines", "* * * * * date\n61 * * * * x\n@reboot y\n", "-"), scheduled()),
		slurmtest.WithChecks(table("mistakes of options", "@daily a\n#SCRON --time=never\n@daily b\n#SCRON --begin=now\n@daily c\n#SCRON -p nosuch\n@daily d\n#SCRON --color=red\n@daily e\n#SCRON --strict --hint=nomultithread\n@daily f\n", "-"), scheduled()),
		table("two ways at once", "", "-l", "-r"),
		table("a file that is not there", "", "/nosuch"),
	})
}

func TestScrontabHelpNamesItsOptions(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	got := golden.Run{Argv: []string{"slurm", "scrontab", "--help"}}.RunAgainst(t, server)
	if got.Code != 0 || !strings.Contains(got.Out, "#SCRON") || !strings.Contains(got.Out, "--edit") {
		t.Errorf("%d %s", got.Code, got.Out)
	}
}
