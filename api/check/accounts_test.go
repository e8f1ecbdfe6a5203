package check

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const label = "metadata.labels[vc-batch.dev/account]"

var (
	accountKind = accountv1alpha1.GroupVersion.WithKind("Account")
	jobKind     = batchv1alpha1.GroupVersion.WithKind("Job")
	cronKind    = batchv1alpha1.GroupVersion.WithKind("CronJob")
	groupKind   = schedulingv1beta1.GroupVersion.WithKind("PodGroup")
)

func account(name, parent string, users ...accountv1alpha1.AccountUser) *accountv1alpha1.Account {
	return &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: accountv1alpha1.AccountSpec{Parent: parent, Users: users}}
}

// accounts returns a tree: science with physics below it, and chemistry. Ada is in physics, Ben in chemistry.
func accounts() []*accountv1alpha1.Account {
	science := account("science", "")
	science.Spec.UserLimits = &accountv1alpha1.UserLimits{
		MaxRunTime:         &metav1.Duration{Duration: time.Hour},
		MaxResourcesPerJob: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("3")},
	}
	science.Spec.Queues = []string{"default", "fast"}
	physics := account("physics", "science", accountv1alpha1.AccountUser{Name: "ada", Default: true})
	physics.Spec.Namespaces = []string{"lab"}
	return []*accountv1alpha1.Account{science, physics, account("chemistry", "", accountv1alpha1.AccountUser{Name: "ben"})}
}

// jobOf returns a job of a user in an account.
func jobOf(user, account string, changes ...func(*batchv1alpha1.Job)) batchv1alpha1.Job {
	job := batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "lab"}, Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: 2,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			ActiveDeadlineSeconds: new(int64(60)), RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}},
		}}}}}}
	batchv1alpha1.SetUser(&job, user)
	SetAccount(&job, account)
	for _, change := range changes {
		change(&job)
	}
	return job
}

func inQueue(name string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Spec.Queue = name }
}

func replicas(n int32) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = n }
}

func timeLimit(seconds *int64) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = seconds }
}

func estimate(d time.Duration) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Spec.RunningEstimate = &metav1.Duration{Duration: d} }
}

func inNamespace(name string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Namespace = name }
}

func asArray(j *batchv1alpha1.Job) {
	j.Annotations[keys.Array] = "0-9"
	j.Spec.Tasks[0].Replicas = 10
}

// requireErrors fails unless there is one error with this field and text, or none if where is "".
func requireErrors(t *testing.T, errs field.ErrorList, where, what string) {
	t.Helper()
	if where == "" {
		if len(errs) > 0 {
			t.Errorf("rejected: %v", errs)
		}
		return
	}
	if len(errs) != 1 || errs[0].Field != where || !strings.Contains(errs[0].Error(), what) {
		t.Errorf("want %s: %s, got %v", where, what, errs)
	}
}

func TestAJobMustFitItsAccount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job         batchv1alpha1.Job
		required    bool
		where, what string
	}{
		"a job within all limits":                   {jobOf("ada", "physics"), true, "", ""},
		"a job without an account":                  {jobOf("ada", ""), false, "", ""},
		"a job without an account that it needs":    {jobOf("ada", ""), true, label, `set this label to the name of an account; the accounts of user "ada" are: physics: Invalid account`},
		"a user without any account":                {jobOf("eve", ""), true, label, `user "eve" has no account; ask an administrator`},
		"an unknown account":                        {jobOf("ada", "alchemy"), false, label, `"alchemy": this account does not exist; the accounts of user "ada" are: physics`},
		"an account of others":                      {jobOf("ada", "chemistry"), false, label, `user "ada" is not listed in account chemistry; the accounts of user "ada" are: physics`},
		"the parent of the account":                 {jobOf("ada", "science"), false, label, `user "ada" is not listed in account science`},
		"a job whose user is unknown":               {jobOf("", "physics"), false, label, "the user of the object is unknown"},
		"a queue of the account":                    {jobOf("ada", "physics", inQueue("fast")), false, "", ""},
		"another queue":                             {jobOf("ada", "physics", inQueue("gpu")), false, "spec.queue", "account science does not permit queue gpu: use one of its queues (default, fast)"},
		"a queue for which the account has no rule": {jobOf("ben", "chemistry", inQueue("gpu")), false, "", ""},
		"another namespace":                         {jobOf("ada", "physics", inNamespace("office")), false, "metadata.namespace", "account physics does not permit namespace office: use one of its namespaces (lab)"},
		"as many pods as permitted":                 {jobOf("ada", "physics", replicas(3)), false, "", ""},
		"a pod too many":                            {jobOf("ada", "physics", replicas(4)), false, "spec.tasks", "the pods of the job request pods 4 together, but user \"ada\" may request at most 3 per job in account physics"},
		"an array whose elements fit":               {jobOf("ada", "physics", asArray), false, "", ""},
		"a longer time limit":                       {jobOf("ada", "physics", timeLimit(new(int64(3601)))), false, "spec.tasks[0].template.spec.activeDeadlineSeconds", "may run jobs in account physics for at most 1h: lower it to 3600 seconds or less"},
		"no time limit":                             {jobOf("ada", "physics", timeLimit(nil)), false, "spec.tasks[0].template.spec.activeDeadlineSeconds", "the pods have no time limit"},
		"a longer estimate":                         {jobOf("ada", "physics", estimate(2*time.Hour)), false, "spec.runningEstimate", "the expected run time is 2h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := &Around{Accounts: NewAccountLookup(accounts()...), RequiresAccount: test.required, IsDefaulted: true}
			errs := Create(jobKind, raw(t, test.job), around).Errors
			requireErrors(t, errs, test.where, test.what)
			for _, err := range errs {
				if _, message := CutSlurmMessage(err.Detail); message == "" && test.job.Annotations[keys.User] != "" {
					t.Errorf("no message of Slurm: %v", err)
				}
			}
		})
	}
}

func TestWithoutAnyAccountTheLabelIsFreeText(t *testing.T) {
	t.Parallel()
	job := raw(t, jobOf("ada", "anything"))
	requireErrors(t, Create(jobKind, job, &Around{Accounts: NewAccountLookup()}).Errors, "", "")
	requireErrors(t, Create(jobKind, job, &Around{}).Errors, "", "")
	requireErrors(t, Create(jobKind, job, &Around{Accounts: NewAccountLookup(), RequiresAccount: true}).Errors, label, "this account does not exist")
}

// TestAnUpdateIsCheckedOnlyWhereItRaisesAValue updates a job that exceeds all limits of its account.
func TestAnUpdateIsCheckedOnlyWhereItRaisesAValue(t *testing.T) {
	t.Parallel()
	old := jobOf("eve", "physics", inNamespace("office"), inQueue("gpu"), replicas(5), timeLimit(new(int64(7200))), estimate(2*time.Hour))
	for name, test := range map[string]struct {
		change      func(*batchv1alpha1.Job)
		where, what string
	}{
		"an annotation":         {func(j *batchv1alpha1.Job) { j.Annotations["a"] = "b" }, "", ""},
		"fewer pods":            {replicas(4), "", ""},
		"more pods":             {replicas(6), "spec.tasks", "request"},
		"a shorter limit":       {timeLimit(new(int64(7199))), "", ""},
		"a longer limit":        {timeLimit(new(int64(7201))), "spec.tasks[0].template.spec.activeDeadlineSeconds", "for at most 1h"},
		"a longer estimate":     {estimate(3 * time.Hour), "spec.runningEstimate", "the expected run time is 3h"},
		"another account":       {func(j *batchv1alpha1.Job) { SetAccount(j, "chemistry") }, label, `user "eve" is not listed`},
		"another queue":         {inQueue("slow"), "spec.queue", "does not permit queue slow"},
		"a queue of its acount": {inQueue("fast"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			updated := old.DeepCopy()
			test.change(updated)
			around := &Around{Accounts: NewAccountLookup(accounts()...), IsDefaulted: true}
			errs := around.accountRulesUpdate(&old, updated, true)
			if name == "more pods" { // two resources exceed their limits
				errs = errs[:min(1, len(errs))]
			}
			requireErrors(t, errs, test.where, test.what)
		})
	}
}

// TestARejectionIsBasedOnTheCurrentAccounts covers a cache that lags behind the API server.
func TestARejectionIsBasedOnTheCurrentAccounts(t *testing.T) {
	t.Parallel()
	job := raw(t, jobOf("ada", "physics"))
	lagging := &laggingAccounts{cached: accountv1alpha1.NewTree(accounts()[2:]), current: accountv1alpha1.NewTree(accounts())}
	requireErrors(t, Create(jobKind, job, &Around{Accounts: lagging}).Errors, "", "")
	if lagging.reads != 1 {
		t.Errorf("%d reads, want 1", lagging.reads)
	}
	known := &laggingAccounts{cached: lagging.current}
	requireErrors(t, Create(jobKind, job, &Around{Accounts: known}).Errors, "", "")
	if known.reads != 0 {
		t.Errorf("an accepted job causes %d reads", known.reads)
	}
	unreadable := &laggingAccounts{cached: lagging.cached}
	requireErrors(t, Create(jobKind, job, &Around{Accounts: unreadable}).Errors, label, "this account does not exist")
}

type laggingAccounts struct {
	cached, current *accountv1alpha1.Tree
	reads           int
}

func (l *laggingAccounts) Accounts() *accountv1alpha1.Tree { return l.cached }

func (l *laggingAccounts) CurrentAccounts() *accountv1alpha1.Tree {
	l.reads++
	return l.current
}

func TestTheJobsOfACronJobAndPodGroupsMustFitTheirAccount(t *testing.T) {
	t.Parallel()
	cron := func(user, account string, changes ...func(*batchv1alpha1.Job)) any {
		job := jobOf(user, account, changes...)
		c := batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "lab"}, Spec: batchv1alpha1.CronJobSpec{Schedule: "@daily"}}
		c.Spec.JobTemplate = batchv1alpha1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: job.Labels}, Spec: job.Spec}
		batchv1alpha1.SetUser(&c, user)
		return c
	}
	group := func(user, account, queue string) any {
		g := schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "lab"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: queue}}
		batchv1alpha1.SetUser(&g, user)
		SetAccount(&g, account)
		return g
	}
	for name, test := range map[string]struct {
		kind        schema.GroupVersionKind
		object      any
		where, what string
	}{
		"a CronJob whose jobs get the default account": {cronKind, cron("ada", "", timeLimit(nil)), "", ""},
		"a CronJob whose user has no default account":  {cronKind, cron("ben", ""), "spec.jobTemplate." + label, "set this label"},
		"a CronJob for an account of others":           {cronKind, cron("ada", "chemistry"), "spec.jobTemplate." + label, "is not listed in account chemistry"},
		"a CronJob whose jobs are too large":           {cronKind, cron("ada", "", replicas(4)), "spec.jobTemplate.spec.tasks", "request pods 4"},
		"a PodGroup of the account":                    {groupKind, group("ada", "physics", "fast"), "", ""},
		"a PodGroup without an account":                {groupKind, group("ada", "", ""), label, "set this label"},
		"a PodGroup for an account of others":          {groupKind, group("ada", "chemistry", ""), label, "is not listed in account chemistry"},
		"a PodGroup in another queue":                  {groupKind, group("ada", "physics", "gpu"), "spec.queue", "does not permit queue gpu"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := &Around{Accounts: NewAccountLookup(accounts()...), RequiresAccount: true, IsDefaulted: true}
			requireErrors(t, Create(test.kind, raw(t, test.object), around).Errors, test.where, test.what)
		})
	}
}

func TestAPodGroupThatMovesToAnotherQueueIsCheckedLikeANewOne(t *testing.T) {
	t.Parallel()
	group := func(account, queue string) schedulingv1beta1.PodGroup {
		g := schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "lab"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: queue}}
		batchv1alpha1.SetUser(&g, "ada")
		SetAccount(&g, account)
		return g
	}
	queueNamed := func(name string, state schedulingv1beta1.QueueState) *schedulingv1beta1.Queue {
		return &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: schedulingv1beta1.QueueStatus{State: state}}
	}
	queues := schedulingv1beta1.NewQueueLookup(queueNamed("default", schedulingv1beta1.QueueStateClosed), queueNamed("fast", schedulingv1beta1.QueueStateOpen),
		queueNamed("gpu", schedulingv1beta1.QueueStateOpen))
	resized := group("physics", "gpu")
	resized.Spec.MinMember = 2
	for name, test := range map[string]struct {
		old, new    schedulingv1beta1.PodGroup
		where, what string
	}{
		"to a queue that the account permits":         {group("physics", "default"), group("physics", "fast"), "", ""},
		"to a queue that the account does not permit": {group("physics", "fast"), group("physics", "gpu"), "spec.queue", "does not permit queue gpu"},
		"to a closed queue":                           {group("physics", "fast"), group("physics", "default"), "spec.queue", "Closed"},
		"to the default queue by removing the name":   {group("physics", "fast"), group("physics", ""), "spec.queue", "Closed"},
		"a change in a queue that is forbidden now":   {group("physics", "gpu"), resized, "", ""},
		"to the queue in which it is":                 {group("physics", "default"), group("physics", ""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := &Around{Accounts: NewAccountLookup(accounts()...), Queues: queues, IsDefaulted: true}
			requireErrors(t, Update(groupKind, raw(t, test.old), raw(t, test.new), around).Errors, test.where, test.what)
		})
	}
}

func TestTheRequestsOfAJobAreThoseOfAllItsPods(t *testing.T) {
	t.Parallel()
	job := jobOf("ada", "physics", replicas(3))
	spec := &job.Spec.Tasks[0].Template.Spec
	spec.Overhead = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	spec.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}
	spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	text := func() map[string]string {
		all := map[string]string{}
		for name, quantity := range RequestsOf(&job) {
			all[string(name)] = quantity.String()
		}
		return all
	}
	if diff := cmp.Diff(map[string]string{"cpu": "6", "memory": "3Gi", "nvidia.com/gpu": "3", "pods": "3"}, text()); diff != "" {
		t.Error(diff)
	}
	asArray(&job)
	if diff := cmp.Diff(map[string]string{"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1", "pods": "1"}, text()); diff != "" {
		t.Errorf("an element of an array: %s", diff)
	}
}

func TestAnAccountIsCheckedAgainstTheOtherAccounts(t *testing.T) {
	t.Parallel()
	circle := accounts()[0]
	circle.Spec.Parent = "physics"
	orphan := account("orphan", "nowhere")
	lookup := NewAccountLookup(accounts()...)
	requireErrors(t, Update(accountKind, raw(t, accounts()[0]), raw(t, circle), &Around{Accounts: lookup}).Errors, "spec.parent", "accounts would form a cycle: science -> physics -> science")
	requireErrors(t, Create(accountKind, raw(t, orphan), &Around{Accounts: lookup}).Errors, "spec.parent", `account "nowhere" does not exist`)
	requireErrors(t, Create(accountKind, raw(t, orphan), &Around{}).Errors, "", "")
	requireErrors(t, Delete(accountKind, "science", &Around{Accounts: lookup}).Errors, "metadata.name", "account physics is below it")
	requireErrors(t, Delete(accountKind, "physics", &Around{Accounts: lookup}).Errors, "", "")
}

// TestTwoUpdatesInARowFormNoCycle covers a cache that does not contain the first update yet.
func TestTwoUpdatesInARowFormNoCycle(t *testing.T) {
	t.Parallel()
	a, b := account("a", ""), account("b", "")
	aBelowB, bBelowA := account("a", "b"), account("b", "a")
	lagging := &laggingAccounts{cached: accountv1alpha1.NewTree([]*accountv1alpha1.Account{a, b}), current: accountv1alpha1.NewTree([]*accountv1alpha1.Account{aBelowB, b})}
	requireErrors(t, Update(accountKind, raw(t, b), raw(t, bBelowA), &Around{Accounts: lagging}).Errors, "spec.parent", "accounts would form a cycle")
}

// TestAJobForAnAccountWithABudgetNeedsATimeLimit covers a budget of an ancestor, and an update of a job that was created
// before the budget.
func TestAJobForAnAccountWithABudgetNeedsATimeLimit(t *testing.T) {
	t.Parallel()
	science, physics := account("science", ""), account("physics", "science", accountv1alpha1.AccountUser{Name: "ada"})
	science.Spec.Limits = &accountv1alpha1.AccountLimits{Budget: &accountv1alpha1.Budget{ResourceMinutes: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("60000")}}}
	around := &Around{Accounts: NewAccountLookup(science, physics), IsDefaulted: true}
	const where, what = "spec.tasks[0].template.spec.activeDeadlineSeconds", "the pods have no time limit, but account science has a budget"
	limited, unlimited := jobOf("ada", "physics"), jobOf("ada", "physics", timeLimit(nil))
	requireErrors(t, Create(jobKind, raw(t, limited), around).Errors, "", "")
	requireErrors(t, Create(jobKind, raw(t, unlimited), around).Errors, where, what)
	requireErrors(t, Update(jobKind, raw(t, unlimited), raw(t, unlimited), around).Errors, "", "")
}
