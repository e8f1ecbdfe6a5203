package root_test

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// Each row is a command line that misled a new user, with a text that the output must contain and one that it must
// not contain.
func TestSmallAnswersAreTrue(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		run       golden.Run
		says, not string
		code      int
	}{
		"a setting is named with its file": {
			run:  golden.Run{Args: "job list", Env: map[string]string{"VCCTL_CONFIG": "testdata/badcolor.yaml"}},
			says: `settings testdata/badcolor.yaml: color: unknown value "sometimes"`, not: "--color", code: cli.ExitError},
		"a variable is named": {
			run:  golden.Run{Args: "job list", Env: map[string]string{"VCCTL_COLOR": "sometimes"}},
			says: `environment variable VCCTL_COLOR: unknown value "sometimes"`, not: "--color", code: cli.ExitError},
		"a queue that is not there":              {run: golden.Run{Args: "job list --queue reserch"}, says: `warning: --queue: queue "reserch" does not exist; did you mean "research"?`},
		"a queue that is not there, of groups":   {run: golden.Run{Args: "podgroup list --queue nope"}, says: `warning: --queue: queue "nope" does not exist`},
		"a node that is not there, of pods":      {run: golden.Run{Args: "pod list --node nope"}, says: `warning: --node: node "nope" does not exist`},
		"no scheduler has ever run":              {run: golden.Run{Args: "version"}, says: "warning: no vc scheduler has started in namespace volcano-system"},
		"update has no defaults":                 {run: golden.Run{Args: "queue update --help"}, says: "--weight", not: "(default )"},
		"columns to sort by":                     {run: golden.Run{Args: "__complete job list --sort-by r"}, says: "runtime"},
		"columns of pods to sort by":             {run: golden.Run{Args: "__complete pod list --sort-by n"}, says: "node"},
		"labels of jobs":                         {run: golden.Run{Args: "job list --show-labels", Prepare: labelled}, says: "volcano.sh/job-type=MPI"},
		"a column for a label":                   {run: golden.Run{Args: "node list -L gpu", Prepare: labelled}, says: "GPU"},
		"the title is that of kubectl":           {run: golden.Run{Args: "job list -L volcano.sh/job-type"}, says: "JOB-TYPE   REASON"},
		"labels and JSON":                        {run: golden.Run{Args: "job list --show-labels -o json"}, says: "--show-labels cannot be combined with --output=json", code: cli.ExitError},
		"a field selector":                       {run: golden.Run{Args: "job list --field-selector metadata.name=train -o name"}, says: "job.batch.volcano.sh/train\n", not: "eval"},
		"a field selector that is none":          {run: golden.Run{Args: "job list --field-selector nonsense"}, says: "hint:  for example: metadata.name!=train", code: cli.ExitError},
		"-A of what is in no namespace":          {run: golden.Run{Args: "node list -A"}, says: "192.168.23.24"},
		"-A of queues":                           {run: golden.Run{Args: "queue list -A"}, says: "research"},
		"events of the last while":               {run: golden.Run{Args: "events --since 1s"}, says: "No resources found"},
		"events of the future":                   {run: golden.Run{Args: "events --since -1s"}, says: "hint:  for example --since 10m", code: cli.ExitError},
		"fields of a queue":                      {run: golden.Run{Args: "__complete plan --queue-edit research --set cap"}, says: "capability.cpu="},
		"values of a field":                      {run: golden.Run{Args: "__complete plan --queue-edit research --set state="}, says: "state=Open"},
		"labels of nodes":                        {run: golden.Run{Args: "__complete job run x --node-selector g", Prepare: labelled}, says: "gpu=a100"},
		"what is wrong with one queue of a file": {run: golden.Run{Args: "queue create -f testdata/siblings.yaml"}, says: `(queue "nlp")`, not: `(queue "vision")`, code: cli.ExitError},
		"the same by another command":            {run: golden.Run{Args: "job run -f testdata/siblings.yaml"}, says: `(queue "nlp")`, not: `(queue "vision")`, code: cli.ExitError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			if row.run.Prepare != nil {
				row.run.Prepare(server)
			}
			got := row.run.RunAgainst(t, server)
			all := got.Out + got.Err
			if got.Code != row.code || !strings.Contains(all, row.says) {
				t.Errorf("exit %d, want %d and %q:\n%s", got.Code, row.code, row.says, all)
			}
			if row.not != "" && strings.Contains(all, row.not) {
				t.Errorf("says %q:\n%s", row.not, all)
			}
		})
	}
}

func labelled(s *clitest.Server) {
	node := golden.NewNode("labelled")
	node.Labels = map[string]string{"gpu": "a100"}
	s.SetObjects(node)
}
