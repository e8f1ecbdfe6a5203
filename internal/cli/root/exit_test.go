package root_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// verdict makes the scheduler answer every plan with v.
func verdict(v insightv1alpha1.Verdict) func(*clitest.Server) {
	return golden.AnswerPlans(golden.NewJobAnswer("filed", v, nil))
}

// TestEveryExitCode covers every row of `vcctl help exit-codes`.
func TestEveryExitCode(t *testing.T) {
	t.Parallel()
	refused := func(code int, reason metav1.StatusReason) func(*clitest.Server) {
		return func(s *clitest.Server) { s.RejectRequests("*", "/", code, reason, "no") }
	}
	cases := map[string]struct {
		run  golden.Run
		want int
	}{
		"done":                                 {golden.Run{Args: "job list"}, cli.ExitOK},
		"a job that was waited for succeeded":  {golden.Run{Args: "job wait done"}, cli.ExitOK},
		"a job that runs needs no explanation": {golden.Run{Args: "job explain train"}, cli.ExitOK},
		"a plan: it would start":               {golden.Run{Args: "plan -f -", Input: golden.JobFile, Prepare: verdict(insightv1alpha1.VerdictStarts)}, cli.ExitOK},
		"differences":                          {golden.Run{Args: "diff -f -", Input: golden.JobFile}, cli.ExitDiffers},
		"an error of diff":                     {golden.Run{Args: "diff -f /nosuch.yaml"}, cli.ExitDiffError},
		"a flag that diff does not have":       {golden.Run{Args: "diff --nosuch"}, cli.ExitDiffError},
		"an error":                             {golden.Run{Args: "job view nosuch"}, cli.ExitError},
		"a flag that does not exist":           {golden.Run{Args: "job list --nosuch"}, cli.ExitError},
		"a command that does not exist":        {golden.Run{Args: "job lits"}, cli.ExitError},
		"a job that was waited for failed":     {golden.Run{Args: "job wait broken"}, cli.ExitError},
		"no at a prompt":                       {golden.Run{Args: "job delete --all", Width: 80, Input: "n\n"}, cli.ExitCancelled},
		"no at a prompt about a queue":         {golden.Run{Args: "queue close research", Width: 80, Input: "n\n"}, cli.ExitCancelled},
		"nobody to ask is an error":            {golden.Run{Args: "job delete --all"}, cli.ExitError},
		"not authenticated":                    {golden.Run{Args: "job list", Prepare: refused(401, metav1.StatusReasonUnauthorized)}, cli.ExitForbidden},
		"forbidden":                            {golden.Run{Args: "queue list", Prepare: refused(403, metav1.StatusReasonForbidden)}, cli.ExitForbidden},
		"a wait that timed out":                {golden.Run{Args: "job wait train --timeout 20ms"}, cli.ExitPending},
		"a run that timed out":                 {golden.Run{Args: "job run x --wait --timeout 20ms"}, cli.ExitPending},
		"a job that waits is explained":        {golden.Run{Args: "job explain eval"}, cli.ExitPending},
		"a plan: it would wait":                {golden.Run{Args: "plan -f -", Input: golden.JobFile, Prepare: verdict(insightv1alpha1.VerdictWaits)}, cli.ExitPending},
		"a plan: it can never start":           {golden.Run{Args: "plan -f -", Input: golden.JobFile, Prepare: verdict(insightv1alpha1.VerdictNever)}, cli.ExitNever},
		"the code of a command in a pod":       {golden.Run{Args: "job exec train -- exit 42"}, 42},
		"a command that a signal ended":        {golden.Run{Args: "job exec train -- exit 137"}, 137},
		"a code that means something here":     {golden.Run{Args: "job exec train -- exit 8"}, 8},
		"a command whose connection was lost":  {golden.Run{Args: "job exec train -- cut"}, cli.ExitLost},
	}
	tried := map[int]bool{}
	for name, tc := range cases {
		tried[tc.want] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			if tc.run.Prepare != nil {
				tc.run.Prepare(server)
			}
			if got := tc.run.RunAgainst(t, server); got.Code != tc.want {
				t.Errorf("exit %d, want %d: %s%s", got.Code, tc.want, got.Out, got.Err)
			}
		})
	}
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "job", "list", "-w")
	out.WaitFor(t, "train")
	if code := stop(); code != cli.ExitInterrupted {
		t.Errorf("interrupted: exit %d", code)
	}
	tried[cli.ExitInterrupted], tried[cli.ExitUnreachable] = true, true // the latter after five minutes: cli.TestAPatientClientWaitsForTheServer
	help := helpOf(t, "help", "exit-codes")
	for line := range strings.Lines(help) {
		var code int
		if _, err := fmt.Sscanf(line, "%d ", &code); err == nil && !tried[code] {
			t.Errorf("exit code %d is told in the help and not tried here", code)
		}
	}
	for code := range tried {
		if code < 42 && !strings.Contains("\n"+help, fmt.Sprintf("\n%d ", code)) {
			t.Errorf("exit code %d is not told in the help:\n%s", code, help)
		}
	}
}

func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	streams, out, errOut := iostreams.TestStreams("", 0)
	if code := root.Run(t.Context(), cli.NewFactory("vcctl", &streams), args); code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// isNeeded reports whether a command needs the answer to a request. Slurm commands work without the site's profile, sshare
// without accounts, and commands work without the name by which the API server knows the user.
func isNeeded(command, request string) bool {
	optional := []string{"/configmaps/slurm-profile", "/selfsubjectreviews", "/selfsubjectaccessreviews"}
	if strings.HasPrefix(command, "slurm sshare ") {
		optional = append(optional, "/accounts")
	}
	return !slices.ContainsFunc(optional, func(suffix string) bool { return strings.HasSuffix(request, suffix) })
}

// Every command that sends a request exits with 4 if the request is forbidden, and has a hint.
func TestEveryCommandThatIsForbiddenSaysSo(t *testing.T) {
	t.Parallel()
	tree := newTree("vcctl")
	seen := map[string]bool{}
	for _, one := range readGoldens(t) {
		cmd, _, err := tree.Find(one.args)
		line := strings.Join(one.args, " ")
		if err != nil || one.code || one.err != "" || seen[line] || strings.HasPrefix(line, "__complete") || cmd.Name() == "version" {
			continue
		}
		seen[line] = true
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			server.RejectRequests("*", "/", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot list resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
			got := golden.Run{Argv: one.args, Input: golden.JobFile}.RunAgainst(t, server)
			if !slices.ContainsFunc(server.Requests(), func(request string) bool { return isNeeded(line, request) }) {
				return
			}
			if got.Code != cli.ExitForbidden || !strings.Contains(got.Err, "forbidden: ") || !strings.Contains(got.Err, "hint: ") {
				t.Errorf("exit %d: %s%s", got.Code, got.Out, got.Err)
			}
		})
	}
}
