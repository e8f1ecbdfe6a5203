package account

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/usererror"
)

// noLimit is the value of a flag that removes a limit.
const noLimit = "none"

// groupFlags holds the limits of all jobs of an account as flags.
type groupFlags struct{ running, submitted, resources, budget, budgetPeriod string }

func (l *groupFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&l.running, "max-running-jobs", "", "Maximum number of running jobs of the account; none removes the limit")
	flags.StringVar(&l.submitted, "max-submitted-jobs", "", "Maximum number of jobs of the account that have not ended; none removes the limit")
	flags.StringVar(&l.resources, "max-resources", "", "Maximum resources that running jobs of the account request together, for example cpu=100,nvidia.com/gpu=8; none removes the limits")
	flags.StringVar(&l.budget, "budget", "", "Resources multiplied by minutes that jobs of the account may use in a period, for example cpu=60000; none removes the budget")
	flags.StringVar(&l.budgetPeriod, "budget-period", "", "Period at whose start the whole budget is available again: month, quarter, year or none")
	completeLimits(cmd, "max-running-jobs", "max-submitted-jobs", "max-resources", "budget")
	_ = cmd.RegisterFlagCompletionFunc("budget-period", cli.CompleteValues("month", "quarter", "year", noLimit))
}

// completeLimits adds completion of the flags of limits.
func completeLimits(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.RegisterFlagCompletionFunc(name, cli.CompleteValues(noLimit))
	}
}

// apply sets the limits whose flags were specified. It returns nil if no limit remains.
func (l *groupFlags) apply(g *changedFlags, old *accountv1alpha1.AccountLimits) *accountv1alpha1.AccountLimits {
	limits := &accountv1alpha1.AccountLimits{}
	if old != nil {
		limits = old.DeepCopy()
	}
	g.setCount("max-running-jobs", l.running, &limits.MaxRunningJobs)
	g.setCount("max-submitted-jobs", l.submitted, &limits.MaxSubmittedJobs)
	g.setResources("max-resources", l.resources, exampleResources, &limits.MaxResources)
	limits.Budget = l.applyBudget(g, limits.Budget)
	if reflect.ValueOf(*limits).IsZero() {
		return nil
	}
	return limits
}

// applyBudget sets the fields of a budget whose flags were specified. It returns nil if there is no budget.
func (l *groupFlags) applyBudget(g *changedFlags, budget *accountv1alpha1.Budget) *accountv1alpha1.Budget {
	if budget == nil {
		budget = &accountv1alpha1.Budget{}
	}
	g.setResources("budget", l.budget, exampleBudget, &budget.ResourceMinutes)
	if g.has("budget-period") {
		period, ok := sacctmgr.ParsePeriod(l.budgetPeriod)
		if !ok {
			g.addProblem(sacctmgr.PeriodHint, "--budget-period: invalid period %q", l.budgetPeriod)
		}
		budget.Period = period
	}
	isRemoved := g.has("budget") && len(budget.ResourceMinutes) == 0
	if isRemoved || reflect.ValueOf(*budget).IsZero() {
		return nil
	}
	return budget
}

// userFlags holds the limits of a user as flags. Their names begin with prefix.
type userFlags struct {
	prefix                                               string
	running, submitted, resources, jobResources, runTime string
}

func (l *userFlags) addFlags(cmd *cobra.Command, whose string) {
	flags := cmd.Flags()
	flags.StringVar(&l.running, l.prefix+"max-running-jobs", "", "Maximum number of running jobs of "+whose+"; none removes the limit")
	flags.StringVar(&l.submitted, l.prefix+"max-submitted-jobs", "", "Maximum number of jobs of "+whose+" that have not ended; none removes the limit")
	flags.StringVar(&l.resources, l.prefix+"max-resources", "", "Maximum resources that running jobs of "+whose+" request together; none removes the limits")
	flags.StringVar(&l.jobResources, l.prefix+"max-resources-per-job", "", "Maximum resources of each job of "+whose+"; none removes the limits")
	flags.StringVar(&l.runTime, l.prefix+"max-run-time", "", "Longest time limit of each job of "+whose+", for example 24h; none removes the limit")
	completeLimits(cmd, l.prefix+"max-running-jobs", l.prefix+"max-submitted-jobs", l.prefix+"max-resources", l.prefix+"max-resources-per-job", l.prefix+"max-run-time")
}

// apply sets the limits whose flags were specified. It returns nil if no limit remains.
func (l *userFlags) apply(g *changedFlags, old *accountv1alpha1.UserLimits) *accountv1alpha1.UserLimits {
	limits := &accountv1alpha1.UserLimits{}
	if old != nil {
		limits = old.DeepCopy()
	}
	g.setCount(l.prefix+"max-running-jobs", l.running, &limits.MaxRunningJobs)
	g.setCount(l.prefix+"max-submitted-jobs", l.submitted, &limits.MaxSubmittedJobs)
	g.setResources(l.prefix+"max-resources", l.resources, exampleResources, &limits.MaxResources)
	g.setResources(l.prefix+"max-resources-per-job", l.jobResources, exampleResources, &limits.MaxResourcesPerJob)
	g.setRunTime(l.prefix+"max-run-time", l.runTime, &limits.MaxRunTime)
	if reflect.ValueOf(*limits).IsZero() {
		return nil
	}
	return limits
}

// spec is an account as described by flags.
type spec struct {
	parent, description, organization string
	shares                            int32
	coordinators, queues, namespaces  []string
	qos                               []string
	defaultQOS                        string
	group                             groupFlags
	each                              userFlags
}

func (s *spec) addFlags(f *cli.Factory, cmd *cobra.Command) {
	s.each.prefix = "user-"
	flags := cmd.Flags()
	flags.StringVar(&s.parent, "parent", "", "Parent account; root is the top of the tree")
	flags.StringVar(&s.description, "description", "", "Description of the account")
	flags.StringVar(&s.organization, "organization", "", "Organization to which the account belongs")
	flags.Int32Var(&s.shares, "shares", 1, "Weight of the account, relative to its siblings")
	flags.StringSliceVar(&s.coordinators, "coordinators", nil, "Users who may see the jobs of the account and of the accounts below it")
	flags.StringSliceVar(&s.queues, "queues", nil, "Permit only these queues; an empty list permits all")
	flags.StringSliceVar(&s.namespaces, "namespaces", nil, "Permit only these namespaces; an empty list permits all")
	flags.StringSliceVar(&s.qos, "qos", nil, "Permit only these QOS; an empty list permits those of the parent account")
	flags.StringVar(&s.defaultQOS, "default-qos", "", "QOS of jobs that name none")
	s.group.addFlags(cmd)
	s.each.addFlags(cmd, "each user")
	_ = cmd.RegisterFlagCompletionFunc("parent", f.CompleteKind(accountKind(), false))
	_ = cmd.RegisterFlagCompletionFunc("queues", f.CompleteQueues())
	for _, name := range []string{"qos", "default-qos"} {
		_ = cmd.RegisterFlagCompletionFunc(name, f.CompleteKind(accountv1alpha1.GroupVersion.WithKind("QOS"), false))
	}
	for _, name := range []string{"description", "organization", "coordinators"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	_ = cmd.RegisterFlagCompletionFunc("namespaces", f.CompleteKind(corev1.SchemeGroupVersion.WithKind("Namespace"), false))
}

// apply sets the fields whose flags were specified, and reports whether there are any.
func (s *spec) apply(cmd *cobra.Command, to *accountv1alpha1.AccountSpec) (changed bool, err error) {
	g := &changedFlags{cmd: cmd}
	if g.has("parent") {
		if to.Parent = s.parent; s.parent == sacctmgr.Root {
			to.Parent = ""
		}
	}
	if g.has("description") {
		to.Description = s.description
	}
	if g.has("organization") {
		to.Organization = s.organization
	}
	g.setShares(s.shares, &to.Shares)
	for _, one := range []struct {
		name  string
		list  []string
		field *[]string
	}{{"coordinators", s.coordinators, &to.Coordinators}, {"queues", s.queues, &to.Queues}, {"namespaces", s.namespaces, &to.Namespaces}, {"qos", s.qos, &to.QOS}} {
		if g.has(one.name) {
			*one.field = withoutDuplicates(one.list)
		}
	}
	if g.has("default-qos") {
		to.DefaultQOS = s.defaultQOS
	}
	to.Limits = s.group.apply(g, to.Limits)
	to.UserLimits = s.each.apply(g, to.UserLimits)
	return g.changed, errors.Join(g.problems...)
}

// withoutDuplicates returns a list of names without duplicates and empty names.
func withoutDuplicates(names []string) []string {
	var list []string
	seen := map[string]bool{"": true}
	for _, name := range names {
		if !seen[name] {
			list, seen[name] = append(list, name), true
		}
	}
	return list
}

// changedFlags reads the flags that were specified, and collects their errors.
type changedFlags struct {
	cmd      *cobra.Command
	changed  bool
	problems []error
}

// has reports whether a flag was specified.
func (g *changedFlags) has(name string) bool {
	isGiven := g.cmd.Flags().Lookup(name).Changed
	g.changed = g.changed || isGiven
	return isGiven
}

func (g *changedFlags) addProblem(hint, format string, args ...any) {
	g.problems = append(g.problems, usererror.Errorf(hint, format, args...))
}

// maxShares is the maximum number of shares in the API.
const maxShares = 1_000_000

func (g *changedFlags) setShares(shares int32, field **int32) {
	if !g.has("shares") {
		return
	}
	if shares < 0 || shares > maxShares {
		g.addProblem("an account with 2 shares gets twice as much as a sibling with 1 share", "--shares: %d is not between 0 and %d", shares, maxShares)
	}
	*field = &shares
}

func (g *changedFlags) setCount(name, text string, field **int32) {
	if !g.has(name) {
		return
	}
	*field = nil
	if text == noLimit {
		return
	}
	count, err := strconv.ParseInt(text, 10, 32)
	if err != nil || count < 0 {
		g.addProblem("for example --"+name+"=10; use none for no limit", "--%s: %q is not a number between 0 and %d", name, text, math.MaxInt32)
		return
	}
	*field = new(int32(count))
}

func (g *changedFlags) setRunTime(name, text string, field **metav1.Duration) {
	if !g.has(name) {
		return
	}
	*field = nil
	if text == noLimit {
		return
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		g.addProblem("for example --"+name+"=24h; use none for no limit", "--%s: %q is not a positive duration", name, text)
		return
	}
	*field = &metav1.Duration{Duration: limit}
}

// The examples in errors about resources.
const (
	exampleResources = "cpu=16,memory=64Gi,nvidia.com/gpu=8"
	exampleBudget    = "cpu=6000,nvidia.com/gpu=600 for 100 CPU hours and 10 GPU hours"
)

// setResources sets a field to the resources in the text of a flag. An error shows the example.
func (g *changedFlags) setResources(name, text, example string, field *corev1.ResourceList) {
	if !g.has(name) {
		return
	}
	*field = nil
	if text == noLimit {
		return
	}
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		of, amount, found := strings.Cut(strings.TrimSpace(part), "=")
		quantity, err := resource.ParseQuantity(amount)
		isAmount := err == nil && quantity.Sign() >= 0
		if !found || of == "" || !isAmount {
			g.addProblem("for example --"+name+"="+example+"; use none for no limits", "--%s: %q is not NAME=AMOUNT with an amount of at least 0", name, part)
			return
		}
		list[corev1.ResourceName(of)] = quantity
	}
	*field = list
}
