package policy

import (
	"strings"
	"testing"
)

// rule lists imports that the packages below a directory must not have. Directories and imports are prefixes. An import
// without a dot in its first element is ours.
type rule struct {
	of     string   // the directories to which the rule applies
	except []string // directories below them to which it does not apply
	deny   []string // forbidden imports
	allow  []string // exceptions to deny
	tests  bool     // the rule also applies to tests
	why    string
}

// rules are the permitted imports; docs/architecture.md ("Imports") explains the most important ones.
var rules = []rule{
	{of: "api", deny: []string{"internal", "cmd", "deploy"}, why: "api is what crosses the wire; everyone may use it, so it uses nobody"},
	{of: "internal/model", deny: []string{"internal", "cmd", "k8s.io/client-go", "k8s.io/klog", "sigs.k8s.io/controller-runtime", "log", "net/http"},
		allow: []string{"internal/model", "internal/podtermination"}, why: "the model is plain data"},
	{of: "internal/podtermination", deny: []string{"api", "internal", "cmd", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "net", "os", "log", "math/rand"}, why: "it reads pods, for the model and the controllers alike"},
	{of: "internal/scheduler", except: []string{"internal/scheduler/kube"},
		deny:  []string{"internal", "cmd", "k8s.io/client-go", "k8s.io/kubernetes", "k8s.io/klog", "github.com/go-logr", "sigs.k8s.io/controller-runtime", "log", "net", "os", "math/rand"},
		allow: []string{"internal/model", "internal/scheduler", "internal/explain", "internal/fairtree"}, why: "deciding code knows api and model only: no client, no clock, no logger"},
	{of: "internal/fairtree", deny: []string{"internal", "cmd", "k8s.io", "sigs.k8s.io", "github.com/go-logr", "log", "net", "os", "math/rand"},
		allow: []string{"internal/model"}, why: "it computes ranks, for the scheduler and sshare alike"},
	{of: "internal/extender", deny: []string{"internal", "cmd", "k8s.io/client-go", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime", "os"},
		allow: []string{"internal/model", "internal/scheduler", "internal/explain", "internal/extender"}, why: "the one policy that asks over the network; it takes part in deciding and knows no more of the system than other policies"},
	{of: "internal/nodemetrics", deny: []string{"internal", "cmd", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime"},
		allow: []string{"internal/model", "internal/scheduler/config", "internal/nodemetrics"}, why: "it only brings what a source of metrics measured"},
	{of: "internal/accounting", except: []string{"internal/accounting/audit", "internal/accounting/export", "internal/accounting/store", "internal/accounting/extract", "internal/accounting/gpustats", "internal/accounting/kubeletstats", "internal/accounting/podmeasure", "internal/accounting/recorder", "internal/accounting/serve", "internal/accounting/spool", "internal/accounting/wire"}, deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "database", "net", "os", "log", "math/rand"},
		allow: []string{"internal/accounting"}, why: "records and queries are plain data, which databases, recorder and commands share"},
	{of: "internal/accounting/store", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "log", "net/http"},
		allow: []string{"internal/accounting", "internal/usererror"}, why: "it stores records, whoever made them"},
	{of: "internal/accounting/extract", deny: []string{"internal", "cmd", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/go-logr", "net", "os", "log", "math/rand"},
		allow: []string{"internal/accounting", "internal/jobstatus", "internal/podusage", "internal/slurm"}, why: "records follow from the objects alone"},
	{of: "internal/accounting/podmeasure", deny: []string{"internal", "cmd", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/go-logr", "net", "os", "log", "math/rand"},
		allow: []string{"internal/accounting", "internal/podusage"}, why: "the use of pods follows from what was measured, whoever measured it"},
	{of: "internal/accounting/kubeletstats", deny: []string{"internal", "cmd", "k8s.io/kubernetes"}, allow: []string{"internal/accounting/podmeasure", "internal/accounting/kubeletstats", "internal/metrics"},
		why: "it brings what kubelets measure, and computes nothing"},
	{of: "internal/accounting/gpustats", deny: []string{"internal", "cmd", "k8s.io/kubernetes"}, allow: []string{"internal/accounting/podmeasure", "internal/metrics", "internal/usagemetrics", "internal/usererror"},
		why: "it brings what Prometheus has measured, and computes nothing"},
	{of: "internal/accounting/audit", deny: []string{"internal", "cmd", "k8s.io/client-go", "sigs.k8s.io", "database", "net", "os", "log", "math/rand"}, allow: []string{"internal/accounting"}, why: "changes follow from the versions of an account alone"},
	{of: "internal/accounting/wire", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "net/http", "os", "log", "math/rand"}, allow: []string{"internal/accounting"}, why: "what crosses the wire is plain data, which both sides know"},
	{of: "internal/accounting/spool", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "net", "log", "math/rand"}, allow: []string{"internal/accounting"}, why: "it keeps records, whoever made them"},
	{of: "internal/accounting/export", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "net", "log", "math/rand"}, allow: []string{"internal/accounting"}, why: "it writes records to files, whoever made them"},
	{of: ".", except: []string{"internal/accounting/export"}, deny: []string{"github.com/parquet-go"}, tests: true, why: "one package knows the format of exports"},
	{of: "internal/accounting/recorder", deny: []string{"internal", "cmd", "k8s.io/client-go"}, allow: []string{"internal/accounting", "internal/controllers/backoff", "internal/controllers/index", "internal/controllers/registration", "internal/metrics"},
		why: "it moves records from the API to the database, and computes nothing"},
	{of: "internal/accounting/serve", deny: []string{"api", "internal", "cmd", "sigs.k8s.io"}, allow: []string{"internal/accounting", "internal/aggregatedapi"}, why: "it serves the database, whoever fills it"},
	{of: ".", except: []string{"internal/accounting/store", "test/postgres"}, deny: []string{"database/sql", "modernc.org/sqlite", "github.com/jackc/pgx"}, tests: true, why: "one package knows the databases of the history"},
	{of: "internal/explain", deny: []string{"internal", "cmd", "k8s.io/client-go", "k8s.io/klog", "github.com/go-logr", "sigs.k8s.io/controller-runtime", "log", "net", "os", "math/rand"},
		allow: []string{"internal/model", "internal/explain"}, why: "explaining is deciding code, and the engine uses it, not the other way round"},
	{of: "internal/whatif", deny: []string{"internal", "cmd", "k8s.io/client-go", "k8s.io/klog", "github.com/go-logr", "sigs.k8s.io/controller-runtime", "log", "net", "os", "math/rand"},
		allow: []string{"internal/model", "internal/scheduler", "internal/controllers/job/plan", "internal/controllers/job/plugin", "internal/controllers/podgroup/plan", "internal/whatif"}, why: "it brings the plans of the job and the PodGroup controller and the engine together, and all are pure"},
	{of: "internal/controllers", deny: []string{"internal/scheduler", "internal/outbox", "internal/feed"}, why: "controllers and scheduler know of each other through the API only"},
	{of: "internal/jobstatus", deny: []string{"internal", "cmd", "k8s.io/client-go", "k8s.io/klog", "sigs.k8s.io/controller-runtime", "log", "net", "os", "math/rand"},
		allow: []string{"internal/jobstatus", "internal/printable", "internal/render"}, why: "what is told about a job follows from what is handed in; command line and dashboard both use it"},
	{of: "internal/jobtrace", deny: []string{"internal", "cmd", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "google.golang.org/grpc", "log", "net", "os"},
		allow: []string{"internal/jobtrace"}, why: "a trace follows from recorded times"},
	{of: ".", except: []string{"internal/traceexport"}, deny: []string{"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters"}, tests: true, why: "traces are sent by one package"},
	{of: "internal/traceexport", deny: []string{"internal", "cmd", "k8s.io"}, allow: []string{"internal/traceexport", "internal/jobtrace", "internal/metrics", "internal/build"}, why: "it sends what others computed"},
	{of: "internal/cli", deny: []string{"internal/tui", "internal/outbox", "internal/controllers", "internal/local"}, why: "the command line reaches the system through the API only"},
	{of: "internal/tui", deny: []string{"internal/cli", "internal/outbox", "internal/controllers", "internal/local", "internal/feed", "internal/podlogs", "k8s.io/client-go"},
		why: "the dashboard gets its data and performs its actions through interfaces: it holds no client"},
	{of: "internal/snapshot", deny: []string{"internal/cli", "internal/tui", "internal/feed", "internal/clusterops", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"}, why: "what is known is plain data: whoever brings it knows it, not the other way round"},
	{of: ".", except: []string{"cmd", "test", "internal/dashboard"}, deny: []string{"internal/dashboard"}, why: "it puts command line and dashboard together, for programs only"},
	{of: "internal/joblist", deny: []string{"internal/scheduler", "internal/outbox", "internal/feed", "internal/controllers", "internal/cli", "internal/slurm", "internal/local"}, why: "it hands out what is in memory, whoever brought it there"},
	{of: "internal/aggregatedapi", deny: []string{"internal", "cmd"}, allow: []string{"internal/admission", "internal/aggregatedapi"}, why: "it serves any API group"},
	{of: "internal/joblist/jobsummary", deny: []string{"internal", "cmd", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "net", "os", "log", "math/rand"}, allow: []string{"internal/joblist/jobsummary"}, why: "what crosses the wire is plain data, which both sides know"},
	{of: "internal/usererror", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "net", "os", "log", "math/rand"}, why: "every layer uses it, also what runs in the pods"},
	{of: "internal/slurm", except: []string{"internal/slurm/step", "internal/slurm/launchconfig", "internal/slurm/podsetup"}, deny: []string{"internal", "cmd", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/go-logr", "log", "net", "os", "math/rand"},
		allow: []string{"internal/slurm", "internal/build", "internal/usererror", "internal/jobstatus", "internal/printable", "internal/nodecapacity", "internal/accounting", "internal/podusage", "internal/fairtree"}, why: "Slurm's language is text in, plain data out; the cluster and the terminal are internal/cli/slurm's"},
	{of: "internal/slurm/step", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "net/http"}, allow: []string{"internal/slurm/step", "internal/slurm/timeformat", "internal/slurm/launchconfig", "internal/usererror", "internal/slurm/slurmerror", "internal/slurm/getopt", "internal/slurm/hostlist", "internal/slurm/tableformat", "internal/printable"},
		why: "what runs in the pods is small, and knows no API: it has no rights there"},
	{of: "internal/slurm/launchconfig", deny: []string{"api", "internal", "cmd", "k8s.io", "sigs.k8s.io", "net", "os", "log", "math/rand"}, allow: []string{"internal/slurm/hostlist"}, why: "it is in the pods, too, and what both sides agree on is plain data"},
	{of: "internal/slurm/podsetup", deny: []string{"internal", "cmd", "k8s.io/client-go", "net", "os", "log", "math/rand"}, allow: []string{"internal/slurm/launchconfig"}, why: "what becomes of a pod follows from what was asked"},
	{of: ".", except: []string{"cmd/vc-local", "internal/local", "test"}, deny: []string{"internal/local"}, why: "only vc-local and tests run clusters"},
	{of: ".", except: []string{"cmd", "internal/cli", "internal/slurm/cmd", "internal/local", "test"}, deny: []string{"github.com/spf13/cobra"}, tests: true, why: "commands live in cmd and cli"},
	{of: "internal/local", deny: []string{"github.com/spf13/cobra"}, why: "commands live in cmd and cli"},
	{of: ".", except: []string{"internal/render"}, deny: []string{"github.com/olekukonko/tablewriter"}, tests: true, why: "tables are made by internal/render"},
	{of: ".", except: []string{"internal/render", "internal/tui", "test/guide", "test/tuitest"}, deny: []string{"charm.land", "github.com/charmbracelet"}, tests: true, why: "the terminal belongs to render and tui"},
	{of: ".", except: []string{"test"}, deny: []string{"volcano.sh/apis"}, why: "Volcano's own types are used in tests only, to prove that ours carry the same bytes"},
	{of: ".", except: []string{"internal/local", "internal/scheduler/kube", "internal/podtemplate", "test", "cmd/vc-local"}, deny: []string{"k8s.io/kubernetes"}, why: "only the embedded control plane, the adapter and the check of pod templates carry Kubernetes itself"},
	{of: "internal/apiclient", deny: []string{"internal", "cmd"}, allow: []string{"internal/apiclient"}, why: "feed, outbox and controllers use it"},
	{of: "internal/feed", deny: []string{"internal/outbox", "internal/controllers", "internal/daemon"}, why: "watches come in, writes go out, by different doors"},
	{of: "internal/outbox", deny: []string{"internal/feed", "internal/controllers", "internal/daemon"}, why: "watches come in, writes go out, by different doors"},
}

func TestImportsFlowOneWay(t *testing.T) {
	t.Parallel()
	for _, s := range everySource(t) {
		for _, r := range rules {
			if (s.test && !r.tests) || (r.of != "." && !under(s.dir, r.of)) || underAny(s.dir, r.except) {
				continue
			}
			for _, path := range s.imports {
				path = strings.TrimPrefix(path, module)
				if underAny(path, r.deny) && !underAny(path, r.allow) {
					t.Errorf("%s imports %s: %s", s.path, path, r.why)
				}
			}
		}
	}
}

func TestTheRulesCatchWhatTheyForbid(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		for _, path := range r.deny {
			if underAny(path, r.allow) {
				t.Errorf("the rule of %s (%s) forbids and allows %s", r.of, r.why, path)
			}
		}
		if r.why == "" {
			t.Errorf("the rule of %s has no reason", r.of)
		}
	}
}
