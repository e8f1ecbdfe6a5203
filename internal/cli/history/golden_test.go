package history_test

import (
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestHistoryGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "history", append(golden.RunsForCommands(
		golden.Command{Args: "history -A --user mei", Wrong: "history --state asleep", Prepare: slurmtest.AddAccounting},
	), []golden.Run{
		{About: "the own jobs in the namespace of the context", Args: "history", Env: map[string]string{"USER": "mei"}, Prepare: slurmtest.AddAccounting},
		{About: "of another user, who has none", Args: "history -A --user ann", Prepare: slurmtest.AddAccounting},
		{About: "jobs of all users, without the permission", Args: "history -A --all-users", Prepare: func(server *clitest.Server) {
			slurmtest.AddAccounting(server)
			server.OnCreate("SelfSubjectAccessReview", func(review map[string]any) { review["status"] = map[string]any{"allowed": false} })
		}},
		{About: "all columns", Args: "history -A --all-users -o wide", Prepare: slurmtest.AddAccounting},
		{About: "a spreadsheet", Args: "history -A --all-users -o csv", Prepare: slurmtest.AddAccounting},
		{About: "YAML of the last job", Args: "history -A --all-users --limit 1 -o yaml", Prepare: slurmtest.AddAccounting},
		{About: "without headers, only some states and queues", Args: "history -A --all-users --state completed,failed -q research --no-headers", Prepare: slurmtest.AddAccounting},
		{About: "a time without jobs", Args: "history -A --all-users --since 3d --until 2d", Prepare: slurmtest.AddAccounting},
		{About: "colours", Args: "history -A --all-users", Width: 100, Color: true, Prepare: slurmtest.AddAccounting},
		{About: "a cluster without an accounting database", Args: "history"},
		{About: "a time that is invalid", Args: "history --since soonish"},
		{About: "an interval that is empty", Args: "history --since 1d --until 2d"},
		{About: "a limit that is negative", Args: "history --limit -1"},
		{About: "one user and all users", Args: "history --all-users --user mei"},
		{About: "a format that does not exist", Args: "history -o cvs"},
		{About: "the help", Args: "history --help"},
	}...))
}
