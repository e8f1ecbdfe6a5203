package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
)

// The messages of Slurm for jobs that accounts do not permit. The errors of the checks end with them, because scripts
// search for them. They are part of the interface, see CutSlurmMessage.
const (
	SlurmInvalidAccount  = "Invalid account or account/partition combination specified"
	SlurmPolicyViolation = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
)

// CutSlurmMessage splits the text of an error into the reason and the message of Slurm with which it ends. If the text does
// not end with such a message, the message is "".
func CutSlurmMessage(text string) (reason, message string) {
	for _, message := range []string{SlurmInvalidAccount, SlurmPolicyViolation, SlurmInvalidQOS} {
		if reason, found := strings.CutSuffix(text, ": "+message); found {
			return reason, message
		}
	}
	return text, ""
}

// AccountLookup provides the existing accounts. Both methods return nil if the accounts cannot be read; the checks that
// involve accounts are then skipped.
type AccountLookup interface {
	// Accounts returns the accounts. The result may be slightly out of date.
	Accounts() *accountv1alpha1.Tree
	// CurrentAccounts returns the accounts without a cache. It is called before an object is rejected.
	CurrentAccounts() *accountv1alpha1.Tree
}

// NewAccountLookup returns a lookup in the given accounts.
func NewAccountLookup(accounts ...*accountv1alpha1.Account) AccountLookup {
	return fixedAccounts{accountv1alpha1.NewTree(accounts)}
}

type fixedAccounts struct{ tree *accountv1alpha1.Tree }

func (f fixedAccounts) Accounts() *accountv1alpha1.Tree        { return f.tree }
func (f fixedAccounts) CurrentAccounts() *accountv1alpha1.Tree { return f.tree }

// checkAccounts runs a check with the known accounts and, before it returns errors, with the current ones. This is
// needed because an account is often created just before a job that uses it.
func (a *Around) checkAccounts(check func(*accountv1alpha1.Tree) field.ErrorList) field.ErrorList {
	if a.Accounts == nil {
		return nil
	}
	tree := a.Accounts.Accounts()
	if tree == nil {
		return nil
	}
	errs := check(tree)
	if len(errs) == 0 {
		return nil
	}
	if current := a.Accounts.CurrentAccounts(); current != nil {
		return check(current)
	}
	return errs
}

// accountRules checks a new job against its account. at is the path of the job in another object, or nil. A missing time
// limit is an error only if the job's defaults are set.
func (a *Around) accountRules(job *batchv1alpha1.Job, at *field.Path, isDefaulted bool) field.ErrorList {
	return a.checkAccounts(func(tree *accountv1alpha1.Tree) field.ErrorList {
		c := newAccountCheck(tree, job, job.Spec.Queue, at)
		errs := append(c.checkMembership(a.RequiresAccount), c.checkQOS(isDefaulted)...)
		if len(errs) > 0 || !c.hasRules() {
			return errs
		}
		errs = append(c.checkQueue(), c.checkNamespace()...)
		errs = append(errs, c.checkClass(job, isDefaulted)...)
		for i := range job.Spec.Tasks {
			errs = append(errs, c.checkTimeLimit(job, i, isDefaulted)...)
			errs = append(errs, c.checkBudget(job, i, isDefaulted)...)
		}
		errs = append(errs, c.checkEstimate(job)...)
		return append(errs, c.checkResources(job, nil)...)
	})
}

// accountRulesUpdate checks an updated job against its account. It checks only values that the update raises, so that a
// job which exceeds a newer limit, or whose user has left the account, can still be changed in other ways.
func (a *Around) accountRulesUpdate(old, job *batchv1alpha1.Job, isDefaulted bool) field.ErrorList {
	isMoved := old.Labels[keys.Account] != job.Labels[keys.Account] || old.Labels[keys.QOS] != job.Labels[keys.QOS]
	if isMoved || len(old.Spec.Tasks) != len(job.Spec.Tasks) {
		return a.accountRules(job, nil, isDefaulted)
	}
	return a.checkAccounts(func(tree *accountv1alpha1.Tree) field.ErrorList {
		c := newAccountCheck(tree, job, job.Spec.Queue, nil)
		if !c.hasRules() {
			return nil
		}
		var errs field.ErrorList
		if cmp.Or(old.Spec.Queue, keys.DefaultQueue) != c.queue {
			errs = c.checkQueue()
		}
		if !hasSameClasses(old, job) {
			errs = append(errs, c.checkClass(job, isDefaulted)...)
		}
		for i := range job.Spec.Tasks {
			if batchv1alpha1.IsRaisedLimit(old.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds, job.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds) {
				errs = append(errs, c.checkTimeLimit(job, i, isDefaulted)...)
				errs = append(errs, c.checkBudget(job, i, isDefaulted)...)
			}
		}
		if batchv1alpha1.IsRaisedEstimate(old.Spec.RunningEstimate, job.Spec.RunningEstimate) {
			errs = append(errs, c.checkEstimate(job)...)
		}
		return append(errs, c.checkResources(job, RequestsOf(old))...)
	})
}

// groupAccountRules checks the account and the QOS of a new PodGroup that does not belong to a job.
func (a *Around) groupAccountRules(group *schedulingv1beta1.PodGroup) field.ErrorList {
	return a.checkAccounts(func(tree *accountv1alpha1.Tree) field.ErrorList {
		c := newAccountCheck(tree, group, group.Spec.Queue, nil)
		errs := append(c.checkMembership(a.RequiresAccount), c.checkQOS(false)...)
		if len(errs) > 0 || !c.hasRules() {
			return errs
		}
		return append(c.checkQueue(), c.checkNamespace()...)
	})
}

// withDefaultAccount returns a job with the account and the QOS that admission will set. The job may be changed.
func (a *Around) withDefaultAccount(job *batchv1alpha1.Job) *batchv1alpha1.Job {
	if a.Accounts == nil {
		return job
	}
	if tree := a.Accounts.Accounts(); tree != nil {
		DefaultAccount(job, tree)
		DefaultQOS(job, tree)
	}
	return job
}

// DefaultAccount sets the account of an object without one to the default account of its user.
func DefaultAccount(object metav1.Object, tree *accountv1alpha1.Tree) {
	if object.GetLabels()[keys.Account] == "" {
		SetAccount(object, tree.DefaultAccount(batchv1alpha1.UserOf(object)))
	}
}

// SetAccount sets the account of an object. It does nothing if the account is "".
func SetAccount(object metav1.Object, account string) { setLabel(object, keys.Account, account) }

// accountCheck compares an object with the rules of its account and its QOS.
type accountCheck struct {
	tree                            *accountv1alpha1.Tree
	account, user, queue, namespace string
	limits                          accountv1alpha1.UserLimits
	qosName                         string
	qos                             *accountv1alpha1.QOS // nil if it does not exist
	at                              *field.Path          // path of a job in another object; nil for other objects
}

func newAccountCheck(tree *accountv1alpha1.Tree, object metav1.Object, queue string, at *field.Path) *accountCheck {
	c := &accountCheck{
		tree: tree, account: object.GetLabels()[keys.Account], user: batchv1alpha1.UserOf(object),
		queue: cmp.Or(queue, keys.DefaultQueue), namespace: object.GetNamespace(), at: at,
	}
	c.limits = tree.EffectiveUserLimits(c.account, c.user)
	c.qosName = object.GetLabels()[keys.QOS]
	c.qos = tree.QOS(c.qosName)
	return c
}

// hasRules reports whether the object has an account or a QOS with rules. Without any Account object, the label with the
// account is free text.
func (c *accountCheck) hasRules() bool { return c.hasAccountRules() || c.qos != nil }

func (c *accountCheck) hasAccountRules() bool { return c.account != "" && c.tree.Len() > 0 }

func (c *accountCheck) labelPath() *field.Path {
	return c.at.Child("metadata", "labels").Key(keys.Account)
}

// checkMembership checks that the account exists and lists the user. required is true if the object must have an account.
func (c *accountCheck) checkMembership(required bool) field.ErrorList {
	switch path := c.labelPath(); {
	case c.account == "" && required:
		return field.ErrorList{field.Required(path, c.addOwnAccounts("set this label to the name of an account"))}
	case !c.hasAccountRules() && !required, c.tree.HasUser(c.account, c.user):
		return nil
	case c.tree.Account(c.account) == nil:
		return field.ErrorList{field.Invalid(path, c.account, c.addOwnAccounts("this account does not exist"))}
	case c.user == "":
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the user of the object is unknown, so account %s cannot be used: create the object again; if this error persists, check that the admission webhooks are enabled: %s", c.account, SlurmInvalidAccount))}
	default:
		return field.ErrorList{field.Forbidden(path, c.addOwnAccounts(fmt.Sprintf("user %q is not listed in account %s", c.user, c.account)))}
	}
}

// addOwnAccounts adds the accounts of the user and Slurm's message to a reason.
func (c *accountCheck) addOwnAccounts(reason string) string {
	var own []string
	for _, name := range c.tree.Names() {
		if c.tree.HasUser(name, c.user) {
			own = append(own, name)
		}
	}
	hint := fmt.Sprintf("user %q has no account; ask an administrator to add the user to an account", c.user)
	if len(own) > 0 {
		hint = fmt.Sprintf("the accounts of user %q are: %s", c.user, listSome(own))
	}
	return reason + "; " + hint + ": " + SlurmInvalidAccount
}

// mostNames is the maximum number of names in a message.
const mostNames = 10

// listSome joins the first names.
func listSome(names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

// checkQueue checks that the account and its ancestors permit the queue.
func (c *accountCheck) checkQueue() field.ErrorList {
	for _, account := range c.tree.Path(c.account) {
		if permitted := account.Spec.Queues; len(permitted) > 0 && !slices.Contains(permitted, c.queue) {
			return field.ErrorList{field.Forbidden(c.at.Child("spec", "queue"), fmt.Sprintf(
				"account %s does not permit queue %s: use one of its queues (%s), or another account: %s", account.Name, c.queue, listSome(permitted), SlurmInvalidAccount))}
		}
	}
	return nil
}

// checkNamespace checks that the account and its ancestors permit the namespace.
func (c *accountCheck) checkNamespace() field.ErrorList {
	if c.namespace == "" {
		return nil
	}
	for _, account := range c.tree.Path(c.account) {
		if permitted := account.Spec.Namespaces; len(permitted) > 0 && !slices.Contains(permitted, c.namespace) {
			path := field.NewPath("metadata", "namespace") // also for a job in another object, which is in the same namespace
			return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
				"account %s does not permit namespace %s: use one of its namespaces (%s), or another account: %s", account.Name, c.namespace, listSome(permitted), SlurmInvalidAccount))}
		}
	}
	return nil
}

// runTimeLimit returns the longest run time that the QOS or, if it has no such limit, the account permits, and a description. It is 0 if there is no limit.
func (c *accountCheck) runTimeLimit() (most time.Duration, description string) {
	if most = c.qosRunTimeLimit(); most > 0 {
		return most, fmt.Sprintf("QOS %s permits at most %s", c.qos.Name, textformat.FormatDuration(most))
	}
	if c.limits.MaxRunTime == nil {
		return 0, ""
	}
	most = c.limits.MaxRunTime.Duration
	return most, fmt.Sprintf("user %q may run jobs in account %s for at most %s", c.user, c.account, textformat.FormatDuration(most))
}

// checkTimeLimit checks the time limit of a task's pods.
func (c *accountCheck) checkTimeLimit(job *batchv1alpha1.Job, task int, requiresTimeLimit bool) field.ErrorList {
	longest, description := c.runTimeLimit()
	most := int64(longest / time.Second)
	if most == 0 {
		return nil
	}
	path := c.at.Child("spec", "tasks").Index(task).Child("template", "spec", "activeDeadlineSeconds")
	limit := job.Spec.Tasks[task].Template.Spec.ActiveDeadlineSeconds
	switch {
	case limit == nil && !requiresTimeLimit:
		return nil
	case limit == nil:
		return field.ErrorList{field.Required(path, fmt.Sprintf("the pods have no time limit, but %s: set a limit of %d seconds or less: %s", description, most, SlurmPolicyViolation))}
	case *limit > most:
		return field.ErrorList{field.Invalid(path, *limit, fmt.Sprintf("the time limit is %s, but %s: lower it to %d seconds or less, or use another account: %s",
			textformat.FormatDuration(time.Duration(min(*limit, schedulingv1beta1.MaxDeadlineSeconds))*time.Second), description, most, SlurmPolicyViolation))}
	}
	return nil
}

// checkBudget checks that a task's pods have a time limit if a budget limits the account. A job without a time limit could
// never be admitted to its queue, because it would have to reserve more than any budget.
func (c *accountCheck) checkBudget(job *batchv1alpha1.Job, task int, requiresTimeLimit bool) field.ErrorList {
	if !requiresTimeLimit || job.Spec.Tasks[task].Template.Spec.ActiveDeadlineSeconds != nil {
		return nil
	}
	if most, _ := c.runTimeLimit(); most > 0 { // checkTimeLimit reports the missing time limit
		return nil
	}
	budgets := c.tree.Budgets(c.account)
	if len(budgets) == 0 {
		return nil
	}
	path := c.at.Child("spec", "tasks").Index(task).Child("template", "spec", "activeDeadlineSeconds")
	return field.ErrorList{field.Required(path, fmt.Sprintf(
		"the pods have no time limit, but account %s has a budget, from which a job reserves its whole time limit: set a time limit (sbatch --time), or use another account: %s", budgets[0], SlurmPolicyViolation))}
}

// checkEstimate checks the expected run time.
func (c *accountCheck) checkEstimate(job *batchv1alpha1.Job) field.ErrorList {
	estimate := job.Spec.RunningEstimate
	longest, description := c.runTimeLimit()
	if longest == 0 || estimate == nil || estimate.Duration <= longest {
		return nil
	}
	return field.ErrorList{field.Invalid(c.at.Child("spec", "runningEstimate"), estimate.Duration.String(), fmt.Sprintf(
		"the expected run time is %s, but %s: lower it, or use another account: %s", textformat.FormatDuration(estimate.Duration), description, SlurmPolicyViolation))}
}

// checkResources checks the total request of all pods of the job or, in an array, of all pods of one element. It ignores
// resources of which the job does not request more than before. For each resource, a limit of the QOS replaces that of the
// account.
func (c *accountCheck) checkResources(job *batchv1alpha1.Job, before corev1.ResourceList) field.ErrorList {
	ofAccount := c.limits.MaxResourcesPerJob.DeepCopy()
	var errs field.ErrorList
	if limits := c.qosJobLimits(); limits != nil {
		errs = c.checkRequests(job, before, limits.MaxResources, func(most string) string {
			return fmt.Sprintf("QOS %s permits at most %s per job: lower the requests or replicas, create several jobs, or use another QOS", c.qos.Name, most)
		})
		for name := range limits.MaxResources {
			delete(ofAccount, name)
		}
	}
	return append(errs, c.checkRequests(job, before, ofAccount, func(most string) string {
		return fmt.Sprintf("user %q may request at most %s per job in account %s: lower the requests or replicas, create several jobs, or use another account", c.user, most, c.account)
	})...)
}

// checkRequests compares the requests of a job with limits. describe returns the text about an exceeded limit.
func (c *accountCheck) checkRequests(job *batchv1alpha1.Job, before, limits corev1.ResourceList, describe func(most string) string) field.ErrorList {
	if len(limits) == 0 {
		return nil
	}
	what := "the pods of the job request"
	if _, _, isArray := batchv1alpha1.ElementsOf(job); isArray {
		what = "the pods of an array task request"
	}
	requests := RequestsOf(job)
	var errs field.ErrorList
	for _, name := range sortedNames(limits) {
		most, requested := limits[name], requests[name]
		previous, had := before[name]
		isRaised := !had || requested.Cmp(previous) > 0
		if requested.Cmp(most) <= 0 || !isRaised {
			continue
		}
		errs = append(errs, field.Invalid(c.at.Child("spec", "tasks"), requested.String(), fmt.Sprintf(
			"%s %s %s together, but %s: %s", what, name, requested.String(), describe(most.String()), SlurmPolicyViolation)))
	}
	return errs
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// RequestsOf returns the total request of all pods of a job or, in an array, of all pods of one element. Each pod also
// requests one unit of the resource pods. A missing request is the limit, as the API server sets it for pods.
func RequestsOf(job *batchv1alpha1.Job) corev1.ResourceList {
	total := corev1.ResourceList{}
	_, size, isArray := batchv1alpha1.ElementsOf(job)
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		pods := task.Replicas
		if isArray {
			pods = size
		}
		for name, quantity := range podRequests(&task.Template.Spec) {
			quantity.Mul(int64(pods))
			sum := total[name]
			sum.Add(quantity)
			total[name] = sum
		}
	}
	return total
}

var onePod = resource.MustParse("1")

// podRequests returns copies of the requests of one pod.
func podRequests(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Overhead: spec.Overhead, Resources: spec.Resources,
		Containers: withRequests(spec.Containers), InitContainers: withRequests(spec.InitContainers),
	}}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}).DeepCopy()
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	requests[corev1.ResourcePods] = onePod.DeepCopy()
	return requests
}

// withRequests returns the resources of containers. A missing request is the limit.
func withRequests(containers []corev1.Container) []corev1.Container {
	filled := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		requests := c.Resources.Limits.DeepCopy()
		for name, quantity := range c.Resources.Requests {
			if requests == nil {
				requests = corev1.ResourceList{}
			}
			requests[name] = quantity
		}
		filled[i] = corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy, Resources: corev1.ResourceRequirements{Requests: requests, Limits: c.Resources.Limits}}
	}
	return filled
}

func newAccount(account *accountv1alpha1.Account, around *Around) Verdict {
	if around.Accounts == nil {
		return Verdict{Errors: accountv1alpha1.Validate(account, nil)}
	}
	return Verdict{Warnings: around.warnAboutUnknownQOS(account), Errors: around.checkAccounts(func(tree *accountv1alpha1.Tree) field.ErrorList {
		return accountv1alpha1.Validate(account, tree)
	})}
}

// changedAccount checks an updated account. If the parent changes, it reads the current accounts, because two updates in
// quick succession could form a cycle.
func changedAccount(old, account *accountv1alpha1.Account, around *Around) Verdict {
	if around.Accounts == nil || old.Spec.Parent == account.Spec.Parent {
		return newAccount(account, around)
	}
	return Verdict{Errors: accountv1alpha1.Validate(account, around.Accounts.CurrentAccounts())}
}

// removedAccount checks the deletion of an account. It reads the current accounts, because users often delete a whole tree
// at once.
func removedAccount(name string, around *Around) Verdict {
	if around.Accounts == nil {
		return Verdict{}
	}
	tree := around.Accounts.CurrentAccounts()
	if tree == nil {
		return Verdict{}
	}
	if err := accountv1alpha1.ValidateDeletion(name, tree); err != nil {
		return Verdict{Errors: field.ErrorList{field.Forbidden(field.NewPath("metadata", "name"), err.Error())}}
	}
	return Verdict{}
}
