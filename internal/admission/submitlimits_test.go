package admission

import (
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
)

// watchedJob returns a job as the watch reports it.
func watchedJob(uid, user, account string) *metav1.PartialObjectMetadata {
	job := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid), Labels: map[string]string{keys.Account: account}}}
	batchv1alpha1.SetUser(job, user)
	return job
}

// limitedTree returns science, which permits four jobs, with physics and chemistry below it. A user may have two jobs in
// each account, but Ada three in physics.
func limitedTree() *accountv1alpha1.Tree {
	science, physics, chemistry := accountOf("science", ""), accountOf("physics", "science", "ada", "ben"), accountOf("chemistry", "science", "ben", "ada")
	science.Spec.Limits = &accountv1alpha1.AccountLimits{MaxSubmittedJobs: new(int32(4))}
	science.Spec.UserLimits = &accountv1alpha1.UserLimits{MaxSubmittedJobs: new(int32(2))}
	physics.Spec.Users[0].Limits = &accountv1alpha1.UserLimits{MaxSubmittedJobs: new(int32(3))}
	return accountv1alpha1.NewTree([]*accountv1alpha1.Account{science, physics, chemistry, accountOf("arts", "", "eve")})
}

func TestTheNumberOfJobsThatHaveNotEndedIsLimited(t *testing.T) {
	t.Parallel()
	const own, ofAll = `user %q in account %s has %s, and the limit is %d`, "account science with the accounts below it has 4 unfinished jobs, and the limit is 4"
	for name, test := range map[string]struct {
		watched []submitter
		new     submitter
		what    string
	}{
		"the first job":                 {nil, submitter{"physics", "ben", ""}, ""},
		"as many as the user may have":  {[]submitter{{"physics", "ben", ""}}, submitter{"physics", "ben", ""}, ""},
		"one more than that":            {[]submitter{{"physics", "ben", ""}, {"physics", "ben", ""}}, submitter{"physics", "ben", ""}, fmt.Sprintf(own, "ben", "physics", "2 unfinished jobs", 2)},
		"a user with another limit":     {[]submitter{{"physics", "ada", ""}, {"physics", "ada", ""}}, submitter{"physics", "ada", ""}, ""},
		"jobs in another account":       {[]submitter{{"physics", "ben", ""}, {"physics", "ben", ""}}, submitter{"chemistry", "ben", ""}, ""},
		"jobs of another user":          {[]submitter{{"physics", "ben", ""}, {"physics", "ben", ""}}, submitter{"physics", "ada", ""}, ""},
		"the limit of the parent":       {[]submitter{{"physics", "ben", ""}, {"physics", "ben", ""}, {"chemistry", "ben", ""}, {"chemistry", "ben", ""}}, submitter{"chemistry", "ada", ""}, ofAll},
		"an account without any limits": {[]submitter{{"arts", "eve", ""}, {"arts", "eve", ""}, {"arts", "eve", ""}}, submitter{"arts", "eve", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSubmittedJobs(time.Now)
			for i, by := range test.watched {
				s.OnAdd(watchedJob(fmt.Sprint(i), by.user, by.account), true)
			}
			rejected, err := s.acceptJob(limitedTree(), test.new, "new")
			if err != nil {
				t.Fatal(err)
			}
			reason := rejected.reason
			text, message := check.CutSlurmMessage(reason)
			if test.what == "" && reason != "" {
				t.Errorf("rejected: %s", reason)
			}
			if test.what != "" && (len(text) < len(test.what) || text[:len(test.what)] != test.what || message != check.SlurmPolicyViolation) {
				t.Errorf("want %s…, got %s", test.what, reason)
			}
		})
	}
}

// TestAnAcceptedJobCountsUntilTheWatchReportsIt submits jobs faster than the watch reports them.
func TestAnAcceptedJobCountsUntilTheWatchReportsIt(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s, by, tree := NewSubmittedJobs(func() time.Time { return now }), submitter{"physics", "ben", ""}, limitedTree()
	accepted := func(uid types.UID) bool {
		t.Helper()
		rejected, err := s.acceptJob(tree, by, uid)
		if err != nil {
			t.Fatal(err)
		}
		return rejected.reason == ""
	}
	if !accepted("a") || !accepted("b") || accepted("c") {
		t.Error("two jobs are permitted, and no third one")
	}
	if !accepted("b") {
		t.Error("a second review of an accepted job counts the job twice")
	}
	s.OnAdd(watchedJob("a", "ben", "physics"), false)
	if accepted("c") {
		t.Error("a job that the watch reports is not counted")
	}
	s.OnDelete(cache.DeletedFinalStateUnknown{Obj: watchedJob("a", "ben", "physics")})
	if !accepted("c") || accepted("d") {
		t.Error("an ended job still counts, or another one no longer counts")
	}
	now = now.Add(acceptedJobLifetime)
	if !accepted("d") || !accepted("e") || accepted("f") {
		t.Error("jobs that the watch never reported still count after their lifetime")
	}
}

func TestAJobWhoseAccountChangesCountsInItsNewAccount(t *testing.T) {
	t.Parallel()
	s, tree := NewSubmittedJobs(time.Now), limitedTree()
	for _, uid := range []string{"a", "b"} {
		s.OnAdd(watchedJob(uid, "ben", "physics"), true)
	}
	s.OnUpdate(watchedJob("a", "ben", "physics"), watchedJob("a", "ben", "chemistry"))
	if rejected, err := s.acceptJob(tree, submitter{"physics", "ben", ""}, "c"); err != nil || rejected.reason != "" {
		t.Errorf("%s, %v", rejected.reason, err)
	}
}

func TestAnUnsyncedWatchPreventsOnlyJobsWithALimit(t *testing.T) {
	t.Parallel()
	s := NewSubmittedJobs(time.Now)
	s.isSynced = func() bool { return false }
	if _, err := s.acceptJob(limitedTree(), submitter{"physics", "ben", ""}, "a"); err == nil {
		t.Error("a job with a limit was accepted without knowing the other jobs")
	}
	if _, err := s.acceptJob(limitedTree(), submitter{"arts", "eve", ""}, "b"); err != nil {
		t.Error(err)
	}
}

func TestTheWebhookRejectsTheJobBeyondTheLimit(t *testing.T) {
	t.Parallel()
	physics := accountOf("physics", "", "ada")
	physics.Spec.Limits = &accountv1alpha1.AccountLimits{MaxSubmittedJobs: new(int32(1))}
	h := hooksWith(physics)
	create := request(admissionv1.Create, "Job", jobOfUser("ada", "physics"), "")
	invalid := request(admissionv1.Create, "Job", `{"metadata":{"name":"x","uid":"u2","labels":{"vc-batch.dev/account":"physics"}},"spec":{}}`, "")
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), invalid), 422, "") // a rejected job does not count
	trial := create
	trial.DryRun = new(true)
	for range 2 { // and a dry run does not count
		requireResponse(t, h.validateHandler(jobKind)(t.Context(), trial), 0, "")
	}
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), create), 0, "")
	second := request(admissionv1.Create, "Job", `{"metadata":{"name":"y","uid":"u3",`+jobOfUser("ada", "physics")[len(`{"metadata":{"name":"x","namespace":"nlp","uid":"u1",`):], "")
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), second), 422,
		"account physics with the accounts below it has 1 unfinished job, and the limit is 1: wait until a job ends, or cancel one: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")
	// An update does not count.
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Update, "Job", jobOfUser("ada", "physics"), jobOfUser("ada", "physics"))), 0, "")
}

func TestTheWatchOfJobsKeepsOnlyWhatIsCounted(t *testing.T) {
	t.Parallel()
	if _, err := newJobInformer(&rest.Config{Host: "https://127.0.0.1:1"}, jobsWithAccount); err != nil {
		t.Fatal(err)
	}
	job := watchedJob("a", "ben", "physics")
	job.Labels["other"], job.Annotations["other"] = "x", "y"
	reduced, err := reduceJob(job)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := reduced.(*metav1.PartialObjectMetadata)
	if !ok || len(got.Labels) != 2 || len(got.Annotations) != 1 || submitterOf(got) != (submitter{"physics", "ben", ""}) || got.UID != "a" {
		t.Errorf("%+v", reduced)
	}
}
