package root

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/cli/clitest"
)

const (
	queuePath        = "/apis/scheduling.volcano.sh/v1beta1/queues"
	queueCommandPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"
)

func TestQueueGolden(t *testing.T) {
	t.Parallel()
	golden(t, "queue", []run{
		{about: "a list", args: "queue list"},
		{about: "bars on a terminal that can draw them", args: "queue list", width: 120, env: map[string]string{"LANG": "zh_CN.UTF-8", "TERM": "xterm"}},
		{about: "all columns", args: "queue list research -o wide"},
		{about: "names", args: "queue list -o name"},
		{about: "Volcano's table", args: "queue list --compat"},
		{about: "one queue", args: "queue get research"},
		{about: "one queue, Volcano's way", args: "queue get -n research --compat"},
		{about: "a path", args: "queue get research -o jsonpath={.spec.capability.cpu}"},
		{about: "the object", args: "queue get default -o json"},
		{about: "no name", args: "queue get"},
		{about: "no such queue", args: "queue get nosuch"},
		{about: "create", args: "queue create fresh --weight 2 --capability cpu=4,memory=8Gi", check: stored(queuePath, 4)},
		{about: "create, looked at", args: "queue create fresh --weight 2 --capability cpu=4 --dry-run=client -o yaml", check: stored(queuePath, 3)},
		{about: "create, Volcano's way, is silent", args: "queue create -n fresh -w 2 -S Open", check: stored(queuePath, 4)},
		{about: "create what exists", args: "queue create research"},
		{about: "create with a bad amount", args: "queue create fresh --capability cpu", check: stored(queuePath, 3)},
		{about: "create with a bad weight", args: "queue create fresh --weight 0", check: stored(queuePath, 3)},
		{about: "create nothing", args: "queue create"},
		{about: "update", args: "queue update research --weight 5"},
		{about: "update nothing", args: "queue update research"},
		{about: "close a queue in use needs --yes", args: "queue close research", check: stored(queueCommandPath, 0)},
		{about: "close a queue in use, agreed", args: "queue close research --yes", check: stored(queueCommandPath, 1)},
		{about: "close an empty queue", args: "queue close default", check: stored(queueCommandPath, 1)},
		{about: "close the root queue", args: "queue close root", check: stored(queueCommandPath, 0)},
		{about: "operate: close the root queue, and some other", args: "queue operate root default -a close", check: stored(queueCommandPath, 1)},
		{about: "open", args: "queue open archive", check: stored(queueCommandPath, 1)},
		{about: "operate: close, Volcano's way", args: "queue operate -n research -a close", check: stored(queueCommandPath, 1)},
		{about: "operate: update", args: "queue operate research -a update -w 4"},
		{about: "operate: update without a weight", args: "queue operate research -a update"},
		{about: "operate: no action", args: "queue operate research"},
		{about: "operate: an unknown action", args: "queue operate research -a clsoe"},
		{about: "operate: no name", args: "queue operate -a open"},
		{about: "operate: no such queue", args: "queue operate reserch -a open"},
		{about: "delete", args: "queue delete archive", check: stored(queuePath, 2)},
		{about: "delete, Volcano's way, is silent", args: "queue delete -n archive", check: stored(queuePath, 2)},
		{about: "delete what is not there", args: "queue delete archiv", check: stored(queuePath, 3)},
		{about: "delete a queue in use needs --yes", args: "queue delete research", check: stored(queuePath, 3)},
		{about: "delete a queue in use, agreed", args: "queue delete research -y", check: stored(queuePath, 2)},
		{about: "delete by label needs --yes", args: "queue delete -l !team", check: stored(queuePath, 3)},
		{about: "the webhook refuses a delete", args: "queue delete default", prepare: func(s *clitest.Server) {
			s.Refuse("DELETE", queuePath, 403, metav1.StatusReasonForbidden, `admission webhook "validatequeue.volcano.sh" denied the request: the default queue stays`)
		}},
	})
}

// The counts of a queue are in its status; listing PodGroups of all namespaces
// for them would need rights that most users do not have.
func TestQueueListAsksForQueuesOnly(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	run{args: "queue list"}.do(t, server)
	if got := server.Requests(); len(got) != 1 || got[0] != "GET "+queuePath {
		t.Errorf("requests: %v", got)
	}
}

func TestTopAndToolsGolden(t *testing.T) {
	t.Parallel()
	golden(t, "top", []run{
		{about: "the demo's three blocks", args: "top --once"},
		{about: "of all namespaces", args: "top --once -A"},
		{about: "a narrow terminal gets a row a node", args: "top --once -n cv", width: 60},
		{about: "without --once", args: "top"},
		{about: "more than eight nodes get a row each", args: "top --once -n empty", prepare: func(s *clitest.Server) {
			for _, name := range []string{"n5", "n6", "n7", "n8", "n9"} {
				s.Set(node(name))
			}
		}},
		{about: "nothing at all", args: "top --once", prepare: func(s *clitest.Server) {
			for _, object := range cluster() {
				s.Remove(object)
			}
		}},
		{about: "nodes may not be read", args: "top --once", prepare: func(s *clitest.Server) {
			s.Refuse("GET", "/api/v1/nodes", 403, metav1.StatusReasonForbidden, `nodes is forbidden: User "mei" cannot list resource "nodes" in API group "" at the cluster scope`)
		}},
		{about: "completion of a shell that does not exist", args: "completion tcsh"},
		{about: "an unknown command", args: "jbo list"},
		{about: "a colour that is none", args: "job list --color blue"},
		{about: "a bad variable", args: "job list", env: map[string]string{"VCCTL_INSECURE_SKIP_TLS_VERIFY": "perhaps"}},
		{about: "live names of jobs", args: "__complete job view t"},
		{about: "live names of queues", args: "__complete job list --queue re"},
		{about: "tasks of a job", argv: []string{"__complete", "job", "logs", "train", "-t", ""}},
		{about: "contexts", args: "__complete job list --context t"},
		{about: "formats", args: "__complete job list -o js"},
	})
}
