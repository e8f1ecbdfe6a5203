package usagereport_test

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestReportGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "report", append(golden.RunsForCommands(
		golden.Command{Args: "report", Wrong: "report --by color", Prepare: slurmtest.AddAccounting},
	), []golden.Run{
		{About: "day by day", Args: "report --by user --per day --since 7d", Prepare: slurmtest.AddAccounting},
		{About: "the highest account in each month, and the sum of the others", Args: "report --by account --per month --top 1", Prepare: slurmtest.AddAccounting},
		{About: "weeks, for a spreadsheet", Args: "report --by account --per week -o csv", Prepare: slurmtest.AddAccounting},
		{About: "one namespace, without headers", Args: "report --by user -n default --no-headers", Prepare: slurmtest.AddAccounting},
		{About: "GPUs by namespace", Args: "report --by namespace --resource gpu", Prepare: slurmtest.AddAccounting},
		{About: "YAML of one user", Args: "report --by queue --user omar --since 2026-02-28 --until 2026-03-01 -o yaml", Prepare: slurmtest.AddAccounting},
		{About: "a resource that was not used", Args: "report --resource example.com/fpga", Prepare: slurmtest.AddAccounting},
		{About: "without the permission to read the usage of others", Args: "report --by user", Prepare: func(server *clitest.Server) {
			slurmtest.AddAccounting(server)
			server.OnCreate("SelfSubjectAccessReview", func(review map[string]any) { review["status"] = map[string]any{"allowed": false} })
		}},
		{About: "a cluster without an accounting database", Args: "report"},
		{About: "a period that does not exist", Args: "report --per fortnight"},
		{About: "a resource that does not exist", Args: "report --resource wood"},
		{About: "a negative number of names", Args: "report --top -1"},
		{About: "an invalid time", Args: "report --until soonish"},
		{About: "the help", Args: "report --help"},
	}...))
}

func TestReportWritesAPageForABrowser(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t)
	slurmtest.AddAccounting(server)
	got := golden.Run{Args: "report --resource gpu --since 2026-02-28 --until 2026-03-01 --account nlp-a -o html"}.RunAgainst(t, server)
	if got.Code != 0 {
		t.Fatal(got.Err)
	}
	for _, want := range []string{
		"<h1>Usage of GPUs</h1>", "<p>2026-02-28 00:00 to 2026-03-01 00:00 UTC</p>", "<p>Accounts: nlp-a</p>", "<h2>By user</h2>", "28 Feb 2026: mei, 4.00 GPU-hours",
	} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("the page does not contain %q:\n%s", want, got.Out)
		}
	}
}
