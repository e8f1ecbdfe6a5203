package check

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

const qosLabel = "metadata.labels[vc-batch.dev/qos]"

// treeWithQOS returns the tree of function accounts. Science permits the QOS short and high, chemistry all QOS. The QOS short
// permits 10 CPUs and two hours for each job, more than science. QOS high has priority class urgent.
func treeWithQOS() fixedAccounts {
	all := accounts()
	all[0].Spec.PermittedQOS = accountv1alpha1.PermittedQOS{QOS: []string{"short", "high"}}
	short, high, long := &accountv1alpha1.QOS{}, &accountv1alpha1.QOS{}, &accountv1alpha1.QOS{}
	short.Name, high.Name, long.Name = "short", "high", "long"
	short.Spec.JobLimits = &accountv1alpha1.QOSJobLimits{
		MaxResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10")}, MaxRunTime: &metav1.Duration{Duration: 2 * time.Hour},
	}
	high.Spec.PriorityClassName = "urgent"
	return fixedAccounts{accountv1alpha1.NewTree(all, short, high, long)}
}

func withQOS(name string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { SetQOS(j, name) }
}

func withClass(name string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Spec.PriorityClassName = name }
}

func withTaskClass(name string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Template.Spec.PriorityClassName = name }
}

func withCPU(cpu string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
}

func TestAJobMustFitItsQOS(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job         batchv1alpha1.Job
		where, what string
	}{
		"a permitted QOS":                            {jobOf("ada", "physics", withQOS("short")), "", ""},
		"a QOS that does not exist":                  {jobOf("ada", "physics", withQOS("royal")), qosLabel, `"royal": this QOS does not exist; the QOS of user "ada" in account physics are: high, short: Invalid qos specification`},
		"a QOS that the account does not permit":     {jobOf("ada", "physics", withQOS("long")), qosLabel, `account physics does not permit QOS long for user "ada"; the QOS of user "ada" in account physics are: high, short: Invalid qos specification`},
		"a QOS that no account restricts":            {jobOf("ben", "chemistry", withQOS("long")), "", ""},
		"a job without a QOS that it needs":          {jobOf("ada", "physics"), qosLabel, "set this label to the name of a QOS; the QOS of user \"ada\" in account physics are: high, short"},
		"a job without a QOS that needs none":        {jobOf("ben", "chemistry"), "", ""},
		"a job without an account":                   {jobOf("eve", "", withQOS("long")), "", ""},
		"an unknown QOS without an account":          {jobOf("eve", "", withQOS("royal")), qosLabel, `the QOS of user "eve" are: high, long, short`},
		"the priority class of the QOS":              {jobOf("ada", "physics", withQOS("high"), withClass("urgent")), "", ""},
		"another priority class":                     {jobOf("ada", "physics", withQOS("high"), withClass("low")), "spec.priorityClassName", `"low": jobs of QOS high have priority class urgent: remove this field, or use another QOS: Invalid qos specification`},
		"another priority class of a task":           {jobOf("ada", "physics", withQOS("high"), withClass("urgent"), withTaskClass("low")), "spec.tasks[0].template.spec.priorityClassName", "jobs of QOS high have priority class urgent"},
		"any priority class in a QOS without one":    {jobOf("ada", "physics", withQOS("short"), withClass("low")), "", ""},
		"more cpu than the account, but not the QOS": {jobOf("ada", "physics", withQOS("short"), withCPU("5")), "", ""},
		"more cpu than the QOS":                      {jobOf("ada", "physics", withQOS("short"), withCPU("6")), "spec.tasks", `"12": the pods of the job request cpu 12 together, but QOS short permits at most 10 per job: lower the requests or replicas, create several jobs, or use another QOS: Job violates accounting/QOS policy`},
		"more pods than the account permits":         {jobOf("ada", "physics", withQOS("short"), replicas(4)), "spec.tasks", `the pods of the job request pods 4 together, but user "ada" may request at most 3 per job in account physics`},
		"more cpu than the account in another QOS":   {jobOf("ada", "physics", withQOS("high"), withClass("urgent"), withCPU("3")), "spec.tasks", "at most 4 per job in account physics"},
		"longer than the account, but not the QOS":   {jobOf("ada", "physics", withQOS("short"), timeLimit(new(int64(7200)))), "", ""},
		"longer than the QOS":                        {jobOf("ada", "physics", withQOS("short"), timeLimit(new(int64(7201)))), "spec.tasks[0].template.spec.activeDeadlineSeconds", "QOS short permits at most 2h: lower it to 7200 seconds or less"},
		"an expected run time beyond the QOS":        {jobOf("ada", "physics", withQOS("short"), estimate(3*time.Hour)), "spec.runningEstimate", "QOS short permits at most 2h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := &Around{Accounts: treeWithQOS(), IsDefaulted: true}
			requireErrors(t, around.accountRules(&test.job, nil, true), test.where, test.what)
		})
	}
}

// TestAnUpdateOfAJobChecksItsQOSOnlyIfItChanges changes jobs whose QOS is no longer permitted, or got another class.
func TestAnUpdateOfAJobChecksItsQOSOnlyIfItChanges(t *testing.T) {
	t.Parallel()
	around := &Around{Accounts: treeWithQOS(), IsDefaulted: true}
	for name, test := range map[string]struct {
		old, job    batchv1alpha1.Job
		where, what string
	}{
		"the same QOS, which is not permitted":  {jobOf("ada", "physics", withQOS("long")), jobOf("ada", "physics", withQOS("long"), inQueue("fast")), "", ""},
		"another QOS that is not permitted":     {jobOf("ada", "physics", withQOS("short")), jobOf("ada", "physics", withQOS("long")), qosLabel, "does not permit QOS long"},
		"the same class, which the QOS forbids": {jobOf("ada", "physics", withQOS("high"), withClass("low")), jobOf("ada", "physics", withQOS("high"), withClass("low"), inQueue("fast")), "", ""},
		"another class that the QOS forbids":    {jobOf("ada", "physics", withQOS("high"), withClass("urgent")), jobOf("ada", "physics", withQOS("high"), withClass("low")), "spec.priorityClassName", "jobs of QOS high have priority class urgent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireErrors(t, around.accountRulesUpdate(&test.old, &test.job, true), test.where, test.what)
		})
	}
}

func TestWithoutAnyQOSTheLabelIsFreeText(t *testing.T) {
	t.Parallel()
	around := &Around{Accounts: NewAccountLookup(accounts()...), IsDefaulted: true}
	job := jobOf("ada", "physics", withQOS("royal"))
	requireErrors(t, around.accountRules(&job, nil, true), "", "")
	DefaultQOS(&job, around.Accounts.Accounts())
	if got := job.Labels[keys.QOS]; got != "royal" {
		t.Errorf("the QOS is %q", got)
	}
}
