package admission

import (
	"context"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/make"
)

// hooksWithQOS returns webhooks with account physics, in which Ada and Ben may use the QOS short and long, with short as the
// default. Ada may also use high, which has priority class urgent.
func hooksWithQOS() *hooks {
	physics := accountOf("physics", "", "ada", "ben")
	physics.Spec.PermittedQOS = accountv1alpha1.PermittedQOS{QOS: []string{"short", "long"}, DefaultQOS: "short"}
	physics.Spec.Users[0].QOS = []string{"short", "high"}
	h := hooksWith(physics)
	h.accounts = &fakeAccounts{cached: []*accountv1alpha1.Account{physics}, live: []*accountv1alpha1.Account{physics}, qos: []*accountv1alpha1.QOS{
		make.QOS("short").MaxSubmittedJobs(make.AllJobs, 2).MaxRunTime(time.Hour).Obj(), make.QOS("long").Obj(), make.QOS("high").PriorityClass("urgent").Obj(),
	}}
	return h
}

// jobWithQOS returns a job as JSON. The QOS and the priority class may be "".
func jobWithQOS(user, qos, class string) string {
	labels := fmt.Sprintf(`%q:"physics"`, keys.Account)
	if qos != "" {
		labels += fmt.Sprintf(`,%q:%q`, keys.QOS, qos)
	}
	return fmt.Sprintf(`{"metadata":{"name":"x","namespace":"nlp","uid":"u1","annotations":{%q:%q},"labels":{%s}},"spec":{"priorityClassName":%q,"tasks":[%s]}}`,
		keys.User, user, labels, class, goodTask)
}

func TestAJobGetsTheDefaultQOSAndItsPriorityClass(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operation          admissionv1.Operation
		job, old           string
		wantQOS, wantClass string
	}{
		"a job without a QOS":             {admissionv1.Create, jobWithQOS("ben", "", ""), "", "short", ""},
		"a job that names a QOS":          {admissionv1.Create, jobWithQOS("ben", "long", ""), "", "long", ""},
		"a QOS with a priority class":     {admissionv1.Create, jobWithQOS("ada", "high", ""), "", "high", "urgent"},
		"a job with a priority class":     {admissionv1.Create, jobWithQOS("ada", "high", "low"), "", "high", "low"},
		"an update that omits the QOS":    {admissionv1.Update, jobWithQOS("ada", "", ""), jobWithQOS("ada", "high", "urgent"), "high", "urgent"},
		"a class that the QOS got later":  {admissionv1.Update, jobWithQOS("ada", "high", ""), jobWithQOS("ada", "high", ""), "high", ""},
		"an update of a job without one":  {admissionv1.Update, jobWithQOS("ada", "", ""), jobWithQOS("ada", "", ""), "", ""},
		"a QOS that does not exist":       {admissionv1.Create, jobWithQOS("ada", "royal", ""), "", "royal", ""},
		"a job whose user is not listed":  {admissionv1.Create, jobWithQOS("eve", "", ""), "", "short", ""},
		"a job whose account is unlisted": {admissionv1.Create, jobOfUser("eve", "arts"), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := parseJob(t, defaulted(t, hooksWithQOS(), test.operation, test.job, test.old))
			if job.Labels[keys.QOS] != test.wantQOS || job.Spec.PriorityClassName != test.wantClass {
				t.Errorf("QOS %q and class %q, want %q and %q", job.Labels[keys.QOS], job.Spec.PriorityClassName, test.wantQOS, test.wantClass)
			}
		})
	}
}

// TestTheLongestRunTimeOfTheQOSIsTheDefaultTimeLimit gives a job without a time limit the limit of its QOS.
func TestTheLongestRunTimeOfTheQOSIsTheDefaultTimeLimit(t *testing.T) {
	t.Parallel()
	h := hooksWithQOS()
	if got := h.longestRunTime(parseJob(t, jobWithQOS("ben", "short", ""))); got != time.Hour {
		t.Errorf("got %v, want 1h", got)
	}
	if got := h.longestRunTime(parseJob(t, jobWithQOS("ben", "long", ""))); got != 0 {
		t.Errorf("got %v, want none", got)
	}
}

// qosWriters permits one user to update QOS.
type qosWriters string

func (w qosWriters) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	attributes := review.Spec.ResourceAttributes
	review.Status.Allowed = review.Spec.User == string(w) && attributes.Verb == "update" && attributes.Resource == "qoses"
	return review, nil
}

func TestOnlyWhoMayUpdateQOSMayChangeTheQOSOfAJob(t *testing.T) {
	t.Parallel()
	h := hooksWithQOS()
	h.reviews = qosWriters("root")
	change := request(admissionv1.Update, "Job", jobWithQOS("ben", "long", ""), jobWithQOS("ben", "short", ""))
	change.UserInfo.Username = "ben"
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 422, `the QOS of a job cannot be changed from "short" to "long"`)
	change.UserInfo.Username = "root"
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 0, "")
	change.Object.Raw = []byte(jobWithQOS("ben", "royal", ""))
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 422, "this QOS does not exist; the QOS of user \"ben\" in account physics are: long, short: Invalid qos specification")
	// Without any QOS object, the label is free text.
	free := hooksWith(accountOf("physics", "", "ben"))
	free.reviews = qosWriters("root")
	change.UserInfo.Username = "ben"
	requireResponse(t, free.validateHandler(jobKind)(t.Context(), change), 0, "")
}

// TestAListedQOSGrantsItsPriorityClass requires a permission for each priority class. A user needs none for the class of a QOS
// that an administrator has listed for the user.
func TestAListedQOSGrantsItsPriorityClass(t *testing.T) {
	t.Parallel()
	h := hooksWithQOS()
	h.requireClassUse, h.reviews = true, qosWriters("root")
	create := request(admissionv1.Create, "Job", jobWithQOS("ada", "high", "urgent"), "")
	create.UserInfo.Username = "ada"
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), create), 0, "")
	create.Object.Raw = []byte(jobWithQOS("ada", "short", "urgent"))
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), create), 422, `user "ada" is not allowed to use priority class urgent`)
	create.Object.Raw = []byte(jobWithQOS("ada", "high", "low"))
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), create), 422, "jobs of QOS high have priority class urgent")
}

// TestTheLabelsOfASourceOfJobsGrantNoPriorityClass writes the labels and the user of a privileged job into objects from which
// jobs are created.
func TestTheLabelsOfASourceOfJobsGrantNoPriorityClass(t *testing.T) {
	t.Parallel()
	h := hooksWithQOS()
	h.requireClassUse, h.reviews = true, qosWriters("root")
	for _, kind := range []string{"CronJob", "JobFlow", "JobTemplate"} {
		create := request(admissionv1.Create, kind, jobWithQOS("ada", "high", "urgent"), "")
		create.UserInfo.Username = "eve"
		errs, err := h.rejectForbiddenClasses(t.Context(), &create)
		if err != nil || len(errs) != 1 {
			t.Errorf("%s: errors %v, %v; want one for the class", kind, errs, err)
		}
	}
}

func TestTheNumberOfJobsOfAQOSIsLimited(t *testing.T) {
	t.Parallel()
	tree := accountv1alpha1.NewTree(nil,
		make.QOS("all").MaxSubmittedJobs(make.AllJobs, 2).Obj(), make.QOS("user").MaxSubmittedJobs(make.JobsOfUser, 1).Obj(),
		make.QOS("account").MaxSubmittedJobs(make.JobsOfAccount, 1).Obj())
	for name, test := range map[string]struct {
		watched []submitter
		new     submitter
		what    string
	}{
		"the first job":              {nil, submitter{"", "ben", "all"}, ""},
		"all jobs together":          {[]submitter{{"physics", "ada", "all"}, {"", "eve", "all"}}, submitter{"", "ben", "all"}, "QOS all has 2 unfinished jobs, and the limit is 2"},
		"jobs of another QOS":        {[]submitter{{"", "ben", "user"}, {"", "ben", ""}}, submitter{"", "ben", "all"}, ""},
		"a user in another account":  {[]submitter{{"physics", "ben", "user"}}, submitter{"arts", "ben", "user"}, `user "ben" in QOS user has 1 unfinished job, and the limit is 1`},
		"another user":               {[]submitter{{"physics", "ada", "user"}}, submitter{"physics", "ben", "user"}, ""},
		"an account":                 {[]submitter{{"physics", "ada", "account"}}, submitter{"physics", "ben", "account"}, "account physics in QOS account has 1 unfinished job, and the limit is 1"},
		"another account":            {[]submitter{{"physics", "ada", "account"}}, submitter{"arts", "ada", "account"}, ""},
		"a QOS that does not exist":  {[]submitter{{"physics", "ada", "royal"}}, submitter{"physics", "ada", "royal"}, ""},
		"an account that is unknown": {[]submitter{{"", "ada", "account"}}, submitter{"", "ada", "account"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSubmittedJobs(time.Now)
			for i, by := range test.watched {
				job := watchedJob(fmt.Sprint(i), by.user, by.account)
				check.SetQOS(job, by.qos)
				s.OnAdd(job, true)
			}
			rejected, err := s.acceptJob(tree, test.new, types.UID("new"))
			if err != nil {
				t.Fatal(err)
			}
			want := rejection{}
			if test.what != "" {
				want = rejection{keys.QOS, test.what + ": wait until a job ends, or cancel one: " + check.SlurmPolicyViolation}
			}
			if rejected != want {
				t.Errorf("got %v, want %v", rejected, want)
			}
		})
	}
}

func TestTheWebhookOfQOSRejectsInvalidLimits(t *testing.T) {
	t.Parallel()
	kind := accountv1alpha1.GroupVersion.WithKind("QOS")
	h := hooksWithQOS()
	requireResponse(t, h.validateHandler(kind)(t.Context(), request(admissionv1.Create, "QOS", `{"metadata":{"name":"x"},"spec":{"limits":{"maxResources":{"requests.cpu":"1"}}}}`, "")),
		422, "spec.limits.maxResources[requests.cpu]: Invalid value: \"requests.cpu\": is not a resource of nodes")
	requireResponse(t, h.validateHandler(kind)(t.Context(), request(admissionv1.Create, "QOS", `{"metadata":{"name":"x"},"spec":{"jobLimits":{"maxRunTime":"1h"}}}`, "")), 0, "")
}

// TestAnAccountWithAnUnknownQOSGetsAWarning permits the account, because the QOS may be created later.
func TestAnAccountWithAnUnknownQOSGetsAWarning(t *testing.T) {
	t.Parallel()
	response := hooksWithQOS().validateHandler(accountKind)(t.Context(), request(admissionv1.Create, "Account", `{"metadata":{"name":"new"},"spec":{"qos":["short","royal"]}}`, ""))
	requireResponse(t, response, 0, "")
	if len(response.Warnings) != 1 || response.Warnings[0] != `account new names QOS "royal", which does not exist` {
		t.Errorf("warnings: %q", response.Warnings)
	}
}
