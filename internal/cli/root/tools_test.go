package root_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestToolsGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "tools", append(golden.RunsForCommands(
		golden.Command{Args: "top --once", Wrong: "top"},
		golden.Command{Args: "options", Wrong: "options --nmaespace x", NoJSON: true},
	), []golden.Run{
		{About: "nodes, pods and jobs", Args: "top --once"},
		{About: "of all namespaces", Args: "top --once -A"},
		{About: "a narrow terminal", Args: "top --once -n cv", Width: 60},
		{About: "without --once", Args: "top"},
		{About: "an unknown format", Args: "top --once -o jsno"},
		{About: "a format without --once", Args: "top -o json"},
		{About: "nodes by their numbers", Args: "top --once -n empty", Prepare: func(s *clitest.Server) {
			for _, name := range []string{"sim-1", "sim-10", "sim-2"} {
				s.SetObjects(golden.NewNode(name))
			}
		}},
		{About: "nine nodes have the columns of four", Args: "top --once -n empty", Prepare: func(s *clitest.Server) {
			for _, name := range []string{"n5", "n6", "n7", "n8", "n9"} {
				s.SetObjects(golden.NewNode(name))
			}
		}},
		{About: "nothing at all", Args: "top --once", Prepare: func(s *clitest.Server) {
			for _, object := range golden.ClusterObjects() {
				s.RemoveObject(object)
			}
		}},
		{About: "nodes may not be read", Args: "top --once", Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/api/v1/nodes", 403, metav1.StatusReasonForbidden, `nodes is forbidden: User "mei" cannot list resource "nodes" in API group "" at the cluster scope`)
		}},
		{About: "completion of a shell that does not exist", Args: "completion tcsh"},
		{About: "an unknown command", Args: "jbo list"},
		{About: "a colour that is none", Args: "job list --color blue"},
		{About: "a bad variable", Args: "job list", Env: map[string]string{"VCCTL_INSECURE_SKIP_TLS_VERIFY": "perhaps"}},
		{About: "live names of jobs", Args: "__complete job view t"},
		{About: "live names of queues", Args: "__complete job list --queue re"},
		{About: "tasks of a job", Argv: []string{"__complete", "job", "logs", "train", "-t", ""}},
		{About: "contexts", Args: "__complete job list --context t"},
		{About: "formats", Args: "__complete job list -o js"},
	}...))
}
