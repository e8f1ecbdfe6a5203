package account_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const accountPath = "/apis/account.vc-batch.dev/v1alpha1/accounts"

// addAccounts adds three accounts, and jobs of two of them.
func addAccounts(s *clitest.Server) {
	add := func(name string, spec accountv1alpha1.AccountSpec) {
		s.SetObjects(&accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: golden.TimeAgo(48 * time.Hour)}, Spec: spec})
	}
	add("science", accountv1alpha1.AccountSpec{
		Description: "Faculty of Science", Organization: "uni", Coordinators: []string{"ada"},
		Limits:     &accountv1alpha1.AccountLimits{MaxResources: golden.NewResources("cpu", "1000", "nvidia.com/gpu", "64")},
		UserLimits: &accountv1alpha1.UserLimits{MaxRunTime: &metav1.Duration{Duration: 48 * time.Hour}, MaxRunningJobs: new(int32(20))},
	})
	add("physics", accountv1alpha1.AccountSpec{
		Parent: "science", Description: "Physics", Shares: new(int32(3)), Queues: []string{"research"},
		Limits:     &accountv1alpha1.AccountLimits{MaxRunningJobs: new(int32(100)), MaxSubmittedJobs: new(int32(500)), MaxResources: golden.NewResources("cpu", "500"), Budget: &accountv1alpha1.Budget{ResourceMinutes: golden.NewResources("cpu", "60000"), Period: accountv1alpha1.BudgetPeriodMonth}},
		UserLimits: &accountv1alpha1.UserLimits{MaxRunningJobs: new(int32(10)), MaxResourcesPerJob: golden.NewResources("cpu", "64")},
		Users: []accountv1alpha1.AccountUser{
			{Name: "mei", Default: true, Limits: &accountv1alpha1.UserLimits{MaxRunningJobs: new(int32(4))}}, {Name: "omar", Default: true},
		},
	})
	add("chem", accountv1alpha1.AccountSpec{Parent: "science", Users: []accountv1alpha1.AccountUser{{Name: "mei"}}})
	for name, phase := range map[string]schedulingv1beta1.PodGroupPhase{"one": schedulingv1beta1.PodGroupRunning, "two": schedulingv1beta1.PodGroupPending, "gone": schedulingv1beta1.PodGroupCompleted} {
		minimum := golden.NewResources("cpu", "32", "memory", "64Gi")
		s.SetObjects(&schedulingv1beta1.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", Labels: map[string]string{keys.Account: "physics"}, Annotations: map[string]string{keys.User: "mei"}},
			Spec:       schedulingv1beta1.PodGroupSpec{MinResources: &minimum}, Status: schedulingv1beta1.PodGroupStatus{Phase: phase},
		})
	}
}

// budgetUsage is the usage of the budget of account physics: 100 CPU-minutes of ended pods, and one pod with a CPU that has
// run for 10 of 60 minutes.
var budgetUsage = fmt.Sprintf(`[{"Account": "physics", "Usage": {"Since": %[1]q, "At": %[1]q, "Ended": {"cpu": 6000000}, "Rate": {"cpu": 1000}, "Reserved": {"cpu": 3600000}}}]`,
	golden.Now.Add(-10*time.Minute).Format(time.RFC3339))

func run(about, args string, wantAccounts int) golden.Run {
	return golden.Run{About: about, Args: args, Prepare: addAccounts, Check: golden.CheckStored(accountPath, wantAccounts)}
}

func TestEachCommandGolden(t *testing.T) {
	t.Parallel()
	var commands []golden.Command
	for _, line := range [][2]string{
		{"account list", "account list phisics"}, {"account get physics", "account get"}, {"account view physics --events=false", "account view phisics"},
		{"account tree", "account tree phisics"}, {"account create laser --parent physics", "account create physics"},
		{"account set physics --shares 5", "account set physics --shares -1"}, {"account delete chem --yes", "account delete cem"},
		{"account add-user chem zoe", "account add-user cem zoe"}, {"account remove-user chem mei", "account remove-user chem mai"},
	} {
		commands = append(commands, golden.Command{Args: line[0], Wrong: line[1], Prepare: addAccounts})
	}
	golden.CompareRuns(t, "each", golden.RunsForCommands(commands...))
}

func TestAccountGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "account", []golden.Run{
		run("a list", "account list", 3),
		run("all columns", "account list physics -o wide", 3),
		run("names", "account list -o name", 3),
		run("the object", "account get chem -o yaml", 3),
		run("no such account", "account get phisics", 3),
		run("the tree", "account tree", 3),
		{About: "the tree on a terminal", Args: "account tree science", Width: 100, Env: map[string]string{"LANG": "de_DE.UTF-8", "TERM": "xterm"}, Prepare: addAccounts},
		run("a subtree as objects", "account tree physics -o name", 3),
		run("a subtree that does not exist", "account tree biology", 3),
		run("one account with its use", "account view physics", 3),
		{About: "one account without permission to see jobs", Args: "account view physics", Prepare: func(s *clitest.Server) {
			addAccounts(s)
			s.RejectRequests("GET", "/apis/scheduling.volcano.sh/v1beta1/podgroups", 403, metav1.StatusReasonForbidden, "podgroups is forbidden")
		}},
		{About: "one account with the usage of its budget", Args: "account view physics", Prepare: func(s *clitest.Server) {
			addAccounts(s)
			s.SetObjects(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: keys.UsageName},
				Data:       map[string]string{keys.BudgetUsageData: budgetUsage},
			})
		}},
		run("create", "account create laser --parent physics --description Lasers --shares 2 --max-resources cpu=100,memory=1Ti --user-max-run-time 12h --coordinators ada,ada", 4),
		run("create, looked at", "account create laser --parent physics --max-running-jobs 10 --user-max-resources-per-job cpu=8 --dry-run=client -o yaml", 3),
		run("create, checked by the server", "account create laser --dry-run=server", 3),
		run("delete, checked by the server", "account delete chem --yes --dry-run=server", 3),
		run("create what exists", "account create physics", 3),
		run("create below a parent that does not exist", "account create laser --parent phisics", 3),
		run("create the root", "account create root", 3),
		run("create with an invalid name", "account create Laser_Lab", 3),
		run("create with bad values", "account create laser --max-running-jobs many --max-resources cpu --user-max-run-time 2 --shares -1", 3),
		run("create nothing", "account create", 3),
		run("set and remove limits", "account set physics --max-running-jobs none --max-resources cpu=800 --user-max-run-time 24h -o jsonpath={.spec.limits}{.spec.userLimits}", 3),
		run("set a budget and QOS", "account set chem --budget cpu=6000,nvidia.com/gpu=300 --budget-period Quarter --qos normal,long --default-qos long -o jsonpath={.spec.limits}{.spec.qos}{.spec.defaultQOS}", 3),
		run("remove all limits of an account but its budget", "account set physics --max-running-jobs none --max-submitted-jobs none --max-resources none -o jsonpath={.spec.limits}", 3),
		run("remove a budget", "account set physics --budget none -o jsonpath={.spec.limits}", 3),
		run("set a period without a budget", "account set chem --budget-period month", 3),
		run("set a bad budget", "account set chem --budget cpu --budget-period week", 3),
		run("set nothing", "account set physics", 3),
		run("set what is set already", "account set physics --shares 3", 3),
		run("move an account below itself", "account set science --parent physics", 3),
		run("set an account that does not exist", "account set phisics --shares 3", 3),
		run("delete an account with users needs --yes", "account delete chem", 3),
		run("delete, agreed", "account delete chem --yes", 2),
		run("delete an account without its children", "account delete science --yes", 3),
		run("delete a whole tree", "account delete science physics chem --yes", 0),
		run("delete the default account of a user", "account delete physics --yes", 3),
		run("delete, looked at", "account delete chem --dry-run=client", 3),
		run("delete what is not there", "account delete biology", 3),
		run("delete what is not there, which is fine", "account delete biology --ignore-not-found", 3),
		run("add users", "account add-user chem omar zoe", 3),
		run("add a user who gets this default account", "account add-user chem mei --default --max-running-jobs 2", 3),
		run("remove the limit of a user", "account add-user physics mei --max-running-jobs none -o jsonpath={.spec.users[0]}", 3),
		run("add a user with a bad limit", "account add-user chem zoe --max-submitted-jobs -1", 3),
		run("add no user", "account add-user chem", 3),
		run("add a user to an account that does not exist", "account add-user cem zoe", 3),
		run("remove a user", "account remove-user chem mei", 3),
		run("remove a user from the default account", "account remove-user physics mei", 3),
		run("remove a user who is not there", "account remove-user chem mai", 3),
		{About: "a cluster without accounts", Args: "account list"},
		{About: "the help", Args: "account --help"},
		{About: "the help of set", Args: "account set --help"},
	})
}
