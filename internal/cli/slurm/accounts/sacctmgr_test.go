package accounts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

const qosPath = "/apis/account.vc-batch.dev/v1alpha1/qoses"

// withQOS adds two QOS and a priority class to a run. Account arts permits QOS short.
func withQOS(r golden.Run) golden.Run {
	r.Prepare = func(server *clitest.Server) {
		addAccounts(server)
		server.SetObjects(
			&accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Spec: accountv1alpha1.QOSSpec{
				PriorityClassName: "urgent", Limits: &accountv1alpha1.QOSLimits{MaxRunningJobs: new(int32(4)), MaxResources: corev1.ResourceList(golden.NewResources("cpu", "64"))},
			}},
			&accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: "short"}, Spec: accountv1alpha1.QOSSpec{
				UserLimits: &accountv1alpha1.QOSLimits{MaxRunningJobs: new(int32(2))}, JobLimits: &accountv1alpha1.QOSJobLimits{MaxRunTime: &metav1.Duration{Duration: 30 * time.Minute}},
			}},
			&accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "arts"}, Spec: accountv1alpha1.AccountSpec{PermittedQOS: accountv1alpha1.PermittedQOS{QOS: []string{"short"}}}},
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000},
		)
	}
	return r
}

const accountsPath = "/apis/account.vc-batch.dev/v1alpha1/accounts"

// addAccounts adds a tree of accounts with limits.
func addAccounts(server *clitest.Server) {
	newAccount := func(name string, spec accountv1alpha1.AccountSpec) *accountv1alpha1.Account {
		return &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	}
	server.SetObjects(
		newAccount("science", accountv1alpha1.AccountSpec{
			Description: "Science", Organization: "uni", Coordinators: []string{"boss"}, UserLimits: &accountv1alpha1.UserLimits{MaxRunningJobs: new(int32(10))},
			Limits: &accountv1alpha1.AccountLimits{MaxResources: golden.NewResources("cpu", "1000", "nvidia.com/gpu", "64"), MaxSubmittedJobs: new(int32(500))},
		}),
		newAccount("physics", accountv1alpha1.AccountSpec{
			Parent: "science", Description: "Physics", Organization: "uni", Shares: new(int32(3)),
			Users: []accountv1alpha1.AccountUser{{Name: "mei", Default: true, Limits: &accountv1alpha1.UserLimits{MaxResourcesPerJob: corev1.ResourceList(golden.NewResources("cpu", "16", "memory", "64Gi"))}}, {Name: "omar", Default: true}},
		}),
		newAccount("chem", accountv1alpha1.AccountSpec{Parent: "science", Description: "Chemistry and everything near it", Organization: "uni", Users: []accountv1alpha1.AccountUser{{Name: "mei"}}}),
	)
}

func newRun(about string, argv ...string) golden.Run {
	return golden.Run{About: about, Argv: append([]string{"slurm", "sacctmgr"}, argv...), Prepare: addAccounts}
}

// withDatabase returns a run in a cluster with an accounting database.
func withDatabase(about string, argv ...string) golden.Run {
	r := newRun(about, argv...)
	r.Prepare = slurmtest.AddAccounting
	return r
}

// reporting marks a run that fails after it has printed the changes, or that nothing matches.
func reporting(r golden.Run) golden.Run {
	r.Report = true
	return r
}

// answering returns a run in which the user answers a question on a terminal.
func answering(answer string, r golden.Run) golden.Run {
	r.Input, r.Width, r.Report = answer, 80, true
	return r
}

// expectField checks a field of an account. It is "" if the account does not exist.
func expectField(name, want string, path ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		got := ""
		for _, object := range server.ObjectsBelow(accountsPath) {
			if golden.FieldText(object, "metadata", "name") == name {
				got = golden.FieldText(object, path...)
			}
		}
		if got != want {
			t.Errorf("%s of account %s is %q, want %q", strings.Join(path, "."), name, got, want)
		}
	}
}

func TestSacctmgr(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "sacctmgr", []golden.Run{
		newRun("accounts", "show", "account"),
		withDatabase("transactions", "show", "transactions"),
		withDatabase("transactions of an account by a user, for scripts", "-nP", "show", "transactions", "accounts=nlp-a", "actor=ada", "format=time,action,actor,users,info"),
		withDatabase("transactions of a day on which nothing happened", "show", "transactions", "start=2020-01-01", "end=2020-01-02"),
		withDatabase("a condition that transactions do not have", "show", "transactions", "colour=red"),
		newRun("transactions without a database", "show", "transactions"),
		withDatabase("transactions of QOS", "-nP", "show", "transactions", "action=Modify QOS", "format=action,actor,where,info"),
		withDatabase("events since yesterday", "show", "event"),
		withDatabase("events of nodes, for scripts", "-nP", "show", "events", "nodes=gpu-[1-2]", "state=down", "format=nodename,start,end,duration,state,reason"),
		withDatabase("events of a day on which nothing happened", "show", "event", "start=2020-01-01", "end=2020-01-02"),
		withDatabase("a condition that events do not have", "show", "event", "colour=red"),
		newRun("events without a database", "show", "event"),
		newRun("users", "list", "users"),
		newRun("associations", "show", "assoc"),
		newRun("the tree of associations", "show", "assoc", "tree", "format=account,user,share,grptres%24,maxjobs,maxtres%20"),
		newRun("accounts with their associations", "show", "account", "physics", "withassoc"),
		newRun("users with their associations", "-s", "show", "user", "mei"),
		newRun("accounts with coordinators", "show", "account", "withcoord", "format=account,coord"),
		newRun("for scripts", "-n", "-P", "show", "user", "format=user,defaultaccount"),
		newRun("with a closing separator", "-p", "show", "assoc", "where", "user=mei", "format=account,maxjobs,maxtres"),
		newRun("the cluster", "-n", "-P", "show", "cluster", "format=cluster,controlhost"),
		newRun("resources that can be limited", "show", "tres"),
		slurmtest.WithChecks(newRun("add an account", "-i", "add", "account", "laser", "parent=physics", "description=Laser lab", "fairshare=2", "grptres=cpu=64,mem=1T,gres/gpu=8", "maxwall=1-0"),
			expectField("laser", "physics", "spec", "parent"), expectField("laser", "8", "spec", "limits", "maxResources", "nvidia.com/gpu"), expectField("laser", "24h0m0s", "spec", "userLimits", "maxRunTime")),
		slurmtest.WithChecks(newRun("add a user", "-i", "add", "user", "li", "account=chem,physics", "maxjobs=2"), expectField("chem", "true", "spec", "users", "1", "default"), expectField("physics", "li", "spec", "users", "2", "name")),
		slurmtest.WithChecks(newRun("add a coordinator", "-i", "add", "coordinator", "mei", "account=science"), expectField("science", "[boss mei]", "spec", "coordinators")),
		slurmtest.WithChecks(answering("y\n", newRun("modify an account after a question", "modify", "account", "physics", "set", "fairshare=5", "maxjobs=4")), expectField("physics", "5", "spec", "shares")),
		slurmtest.WithChecks(answering("n\n", newRun("discard a change", "modify", "account", "physics", "set", "fairshare=5")), expectField("physics", "3", "spec", "shares")),
		slurmtest.WithChecks(newRun("remove limits", "-i", "modify", "account", "science", "set", "grptres=cpu=-1", "grpsubmitjobs=-1", "maxjobs=-1"),
			expectField("science", "map[nvidia.com/gpu:64]", "spec", "limits", "maxResources"), expectField("science", "", "spec", "userLimits")),
		slurmtest.WithChecks(newRun("set a budget", "-i", "modify", "account", "physics", "set", "grptresmins=cpu=60000", "budgetperiod=month"),
			expectField("physics", "60k", "spec", "limits", "budget", "resourceMinutes", "cpu"), expectField("physics", "Month", "spec", "limits", "budget", "period")),
		slurmtest.WithChecks(newRun("change the default account", "-i", "modify", "user", "mei", "set", "defaultaccount=chem"), expectField("chem", "true", "spec", "users", "0", "default"), expectField("physics", "", "spec", "users", "0", "default")),
		slurmtest.WithChecks(newRun("quietly", "-i", "-Q", "modify", "user", "mei", "set", "maxsubmit=9", "where", "account=chem"), expectField("chem", "9", "spec", "users", "0", "limits", "maxSubmittedJobs")),
		slurmtest.WithChecks(newRun("remove a user from an account", "-i", "delete", "user", "mei", "account=chem"), expectField("chem", "", "spec", "users", "0", "name")),
		withQOS(newRun("qualities of service", "show", "qos")),
		withQOS(newRun("qualities of service for scripts", "-n", "-P", "show", "qos", "format=name,priority,grpjobs,grptres,maxjobspu,maxwall")),
		withQOS(newRun("the QOS of associations", "show", "assoc", "format=account,user,qos,defaultqos")),
		slurmtest.WithChecks(withQOS(newRun("add a QOS", "-i", "add", "qos", "long", "grpjobs=3", "maxwall=7-0", "priority=urgent")), golden.CheckStored(qosPath, 3)),
		slurmtest.WithChecks(answering("y\n", withQOS(newRun("modify a QOS", "modify", "qos", "short", "set", "maxjobspu=5", "maxtrespu=cpu=8"))), golden.CheckStored(qosPath, 2)),
		slurmtest.WithChecks(withQOS(newRun("delete a QOS", "-i", "delete", "qos", "high")), golden.CheckStored(qosPath, 1)),
		slurmtest.WithChecks(withQOS(newRun("the QOS of an account", "-i", "modify", "account", "physics", "set", "qos=short", "defaultqos=short")), expectField("physics", "short", "spec", "defaultQOS")),
		withQOS(newRun("a QOS that an account names", "-i", "delete", "qos", "short")),
		withQOS(newRun("a QOS that does not exist", "-i", "modify", "account", "physics", "set", "qos+=royal")),
		slurmtest.WithChecks(newRun("delete a subtree", "-i", "delete", "account", "science,physics,chem"), golden.CheckStored(accountsPath, 0)),
		slurmtest.WithChecks(reporting(newRun("without an answer", "delete", "account", "science,physics,chem")), golden.CheckStored(accountsPath, 3)),
		reporting(newRun("nothing to add", "-i", "add", "account", "physics")),
		reporting(newRun("nothing to modify", "-i", "modify", "user", "nobody", "set", "maxjobs=1")),
		newRun("an account with accounts below it", "-i", "delete", "account", "science"),
		newRun("a default account", "-i", "delete", "account", "physics"),
		newRun("an account that does not exist", "-i", "add", "user", "li", "account=phisics,cem"),
		newRun("an invalid name", "-i", "add", "account", "high_energy"),
		newRun("a limit that is not supported", "-i", "modify", "account", "physics", "set", "grptresrunmins=cpu=100"),
		newRun("a value that is not valid", "-i", "modify", "account", "physics", "set", "maxwall=2h"),
		newRun("another cluster", "show", "assoc", "where", "cluster=other"),
		newRun("an unknown column", "show", "user", "format=colour"),
		newRun("changes that are not allowed", "-r", "delete", "account", "chem"),
		newRun("an option without effect", "-s", "show", "tres"),
		newRun("without a command"),
		{About: "forbidden", Report: true, Argv: []string{"slurm", "sacctmgr", "-i", "add", "account", "laser"}, Prepare: func(server *clitest.Server) {
			addAccounts(server)
			server.RejectRequests("POST", accountsPath, 403, metav1.StatusReasonForbidden, `accounts.account.vc-batch.dev is forbidden: User "mei" cannot create resource "accounts" in API group "account.vc-batch.dev" at the cluster scope`)
		}},
		newRun("the help", "--help"),
	})
}

// Hidden text in a description does not reach the terminal.
func TestDescriptionsAreEscaped(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t)
	server.SetObjects(&accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "evil"}, Spec: accountv1alpha1.AccountSpec{Users: []accountv1alpha1.AccountUser{{Name: "x\x1b[2J"}}}})
	for _, argv := range [][]string{{"show", "assoc"}, {"-i", "modify", "user", "set", "maxjobs=1", "where", "account=evil"}} {
		got := golden.Run{Argv: append([]string{"slurm", "sacctmgr"}, argv...)}.RunAgainst(t, server)
		if got.Code != 0 || strings.Contains(got.Out, "\x1b") || !strings.Contains(got.Out, `x\x1b`) {
			t.Errorf("%v: exit %d: %q %s", argv, got.Code, got.Out, got.Err)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t)
	addAccounts(server)
	for line, want := range map[string][]string{
		"":                             {"add", "delete", "modify", "show"},
		"-i mo":                        {"modify"},
		"show as":                      {"association"},
		"modify account ":              {"chem", "physics", "science"},
		"modify user m":                {"mei"},
		"-i add user li account=ph":    {"account=physics"},
		"modify user mei defaultacc":   nil,
		"delete account chem physics ": {"science"},
	} {
		argv := append([]string{"__complete", "slurm", "sacctmgr"}, strings.Split(line, " ")...)
		got := golden.Run{Argv: argv}.RunAgainst(t, server)
		words := strings.Fields(got.Out)
		at := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, ":") })
		if at < 0 {
			t.Fatalf("%q: %s%s", line, got.Out, got.Err)
		}
		if diff := cmp.Diff(want, append([]string(nil), words[:at]...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}
