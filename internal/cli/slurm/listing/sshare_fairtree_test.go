package listing_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/slurmtest"
)

// withAccounts adds a tree of accounts, the configuration of a scheduler and usage before a run.
func withAccounts(r golden.Run, configuration, usage string) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		server.SetObjects(make.Account("physics").Shares(3).Users("ann").UserShares("mei", 2).Obj(), make.Account("bio").Users("bob", "mei").Obj(),
			make.Account("genomics").Parent("bio").Shares(2).Users("cay").Obj(),
			configMap(keys.ConfigurationName, keys.ConfigurationText, configuration), configMap(keys.UsageName, keys.UsageData, usage))
	}
	return r
}

// withBudgets adds budgets before a run. The account genomics has no recorded usage.
func withBudgets(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		usage := configMap(keys.UsageName, keys.BudgetUsageData, budgetUsage)
		usage.Data[keys.UsageData] = partyUsage
		server.SetObjects(make.Account("physics").Shares(3).Users("ann").UserShares("mei", 2).Budget("cpu", "60000").Budget("memory", "1Ti").Obj(),
			make.Account("genomics").Parent("bio").Shares(2).Users("cay").Budget("nvidia.com/gpu", "600").Obj(), usage)
	}
	return r
}

func configMap(name, key, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: name}, Data: map[string]string{key: text}}
}

const (
	fairTreeConfiguration = `
actions: allocate
tiers:
- plugins: [{name: fairtree, arguments: {fairtree.halfLife: 1h}}]
`
	otherConfiguration = `
actions: allocate
tiers:
- plugins: [{name: fairshare}]
`
	// Running pods use nothing per second here, so that what they reserve does not depend on the time.
	budgetUsage = `[{"Account":"physics","Usage":{"Since":"2026-01-01T00:00:00Z","Ended":{"cpu":60000},"Reserved":{"cpu":7200000,"memory":61440}}}]`
	// The usage is from the future of all runs, so that it has not decayed. Usage of queues belongs to another policy.
	partyUsage = `[
{"Account":{"Account":"physics","User":"ann"},"Usage":{"Value":3000,"At":"2999-01-01T00:00:00Z"}},
{"Account":{"Account":"physics","User":"mei"},"Usage":{"Value":1000.4,"At":"2999-01-01T00:00:00Z"}},
{"Account":{"Account":"bio","User":"bob"},"Usage":{"Value":500,"At":"2999-01-01T00:00:00Z"}},
{"Account":{"Account":"bio","User":"removed"},"Usage":{"Value":100,"At":"2999-01-01T00:00:00Z"}},
{"Account":{"Queue":"research","User":"mei"},"Usage":{"Value":7000,"At":"2999-01-01T00:00:00Z"}}]`
)

func TestSshareOfAccounts(t *testing.T) {
	t.Parallel()
	tree := func(about string, argv ...string) golden.Run {
		r := withAccounts(slurmtest.NewRun(about, argv...), fairTreeConfiguration, partyUsage)
		return slurmtest.WithEnv(r, "USER", "mei")
	}
	golden.CompareRuns(t, "sshare-fairtree", []golden.Run{
		tree("accounts and the user", "sshare"),
		tree("all users and columns", "sshare", "-l", "-a"),
		tree("for a script", "sshare", "-n", "-P", "-l", "-a"),
		tree("one account", "sshare", "-a", "-A", "physics"),
		tree("some users", "sshare", "-u", "ann,bob", "-P"),
		tree("users only", "sshare", "-U", "-h", "-o", "Account,User,FairShare"),
		tree("all users only", "sshare", "-U", "-a", "-h", "-o", "Account,User,FairShare"),
		tree("an account that does not exist", "sshare", "-A", "chemistry"),
		withAccounts(slurmtest.NewRun("another policy", "sshare"), otherConfiguration, partyUsage),
		withAccounts(slurmtest.NewRun("an account with another policy", "sshare", "-A", "physics"), otherConfiguration, partyUsage),
		withAccounts(slurmtest.NewRun("no usage yet", "sshare", "-l", "-a"), fairTreeConfiguration, ""),
		withAccounts(slurmtest.NewRun("usage that cannot be read", "sshare"), fairTreeConfiguration, "{"),
		withBudgets(tree("budgets of accounts", "sshare", "-l", "-a")),
		withBudgets(tree("budgets for a script", "sshare", "-n", "-P", "-o", "Account,User,GrpTRESMins,TRESRunMins")),
		withBudgets(tree("budgets without recorded usage", "sshare", "-P", "-o", "Account,GrpTRESMins%20,TRESRunMins", "-A", "genomics")),
		slurmtest.RejectLists(tree("not allowed to read the usage", "sshare", "-n", "-P"), "/api/v1/namespaces/volcano-system/configmaps/"+keys.UsageName),
	})
}
