package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

var accountKind = accountv1alpha1.GroupVersion.WithKind("Account")

// fakeAccounts is a cache of accounts that lags behind the API server.
type fakeAccounts struct {
	cached, live []*accountv1alpha1.Account
	qos          []*accountv1alpha1.QOS
	down         error
}

func (f *fakeAccounts) Accounts() *accountv1alpha1.Tree {
	return accountv1alpha1.NewTree(f.cached, f.qos...)
}

func (f *fakeAccounts) ReadAccounts(context.Context) (*accountv1alpha1.Tree, error) {
	if f.down != nil {
		return nil, f.down
	}
	return accountv1alpha1.NewTree(f.live, f.qos...), nil
}

// accountOf returns an account whose first user has it as the default account.
func accountOf(name, parent string, users ...string) *accountv1alpha1.Account {
	account := &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: accountv1alpha1.AccountSpec{Parent: parent}}
	for i, user := range users {
		account.Spec.Users = append(account.Spec.Users, accountv1alpha1.AccountUser{Name: user, Default: i == 0})
	}
	return account
}

// hooksWith returns webhooks with an open default queue and the given accounts.
func hooksWith(accounts ...*accountv1alpha1.Account) *hooks {
	return &hooks{
		schedulers: []string{"volcano"}, namespaces: namespaces{}, accounts: &fakeAccounts{cached: accounts, live: accounts},
		queues:    &fakeQueues{cached: []*schedulingv1beta1.Queue{queue("default", schedulingv1beta1.QueueStateOpen)}},
		submitted: NewSubmittedJobs(time.Now),
	}
}

// jobOfUser returns a job as JSON. The account may be "".
func jobOfUser(user, account string) string {
	labels := ""
	if account != "" {
		labels = fmt.Sprintf(`,"labels":{%q:%q}`, keys.Account, account)
	}
	return fmt.Sprintf(`{"metadata":{"name":"x","namespace":"nlp","uid":"u1","annotations":{%q:%q}%s},"spec":{"tasks":[%s]}}`, keys.User, user, labels, goodTask)
}

func parseJob(t *testing.T, text string) *batchv1alpha1.Job {
	t.Helper()
	job := &batchv1alpha1.Job{}
	if err := json.Unmarshal([]byte(text), job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestAJobGetsTheDefaultAccountOfItsUser(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operation admissionv1.Operation
		job, old  string
		accounts  []*accountv1alpha1.Account
		want      string
	}{
		"a user with a default account":        {admissionv1.Create, jobOfUser("ada", ""), "", []*accountv1alpha1.Account{accountOf("physics", "", "ada", "ben")}, "physics"},
		"a user without one":                   {admissionv1.Create, jobOfUser("ben", ""), "", []*accountv1alpha1.Account{accountOf("physics", "", "ada", "ben")}, ""},
		"a job that names an account":          {admissionv1.Create, jobOfUser("ada", "other"), "", []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, "other"},
		"an update that omits the account":     {admissionv1.Update, jobOfUser("ada", ""), jobOfUser("ada", "other"), []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, "other"},
		"an update of a job without one":       {admissionv1.Update, jobOfUser("ada", ""), jobOfUser("ada", ""), []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, ""},
		"an update that removes a free label":  {admissionv1.Update, jobOfUser("ada", ""), jobOfUser("ada", "other"), nil, ""},
		"a user whom only another account has": {admissionv1.Create, jobOfUser("eve", ""), "", []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := parseJob(t, defaulted(t, hooksWith(test.accounts...), test.operation, test.job, test.old))
			if got := job.Labels[keys.Account]; got != test.want {
				t.Errorf("the account is %q, want %q", got, test.want)
			}
		})
	}
}

func TestTheLongestRunTimeOfTheAccountIsTheDefaultTimeLimit(t *testing.T) {
	t.Parallel()
	physics := accountOf("physics", "", "ada")
	physics.Spec.UserLimits = &accountv1alpha1.UserLimits{MaxRunTime: &metav1.Duration{Duration: time.Hour}}
	h := hooksWith(physics)
	created := defaulted(t, h, admissionv1.Create, jobOfUser("ada", ""), "")
	if limit := parseJob(t, created).Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds; limit == nil || *limit != 3600 {
		t.Errorf("the job has no limit of an hour: %s", created)
	}
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", created, "")), 0, "")
	// The manifest is applied again.
	updated := defaulted(t, h, admissionv1.Update, jobOfUser("ada", ""), created)
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Update, "Job", updated, created)), 0, "")
}

func TestAJobForAnAccountOfOthersIsRejected(t *testing.T) {
	t.Parallel()
	h := hooksWith(accountOf("physics", "", "ada"))
	for name, test := range map[string]struct {
		user, account string
		required      bool
		code          int32
		what          string
	}{
		"a user of the account":             {"ada", "physics", false, 0, ""},
		"another user":                      {"ben", "physics", false, 422, `user "ben" is not listed in account physics`},
		"an unknown account":                {"ada", "alchemy", false, 422, `metadata.labels[vc-batch.dev/account]: Invalid value: "alchemy": this account does not exist`},
		"no account":                        {"ben", "", false, 0, ""},
		"no account, where one is required": {"ben", "", true, 422, `set this label to the name of an account; user "ben" has no account`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *h
			own.requireAccounts = test.required
			requireResponse(t, own.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", jobOfUser(test.user, test.account), "")), test.code, test.what)
		})
	}
}

func TestAnAccountThatWasCreatedJustNowIsReadBeforeAJobIsRejected(t *testing.T) {
	t.Parallel()
	h := hooksWith(accountOf("physics", "", "ada"))
	job := request(admissionv1.Create, "Job", jobOfUser("ben", "chemistry"), "")
	h.accounts = &fakeAccounts{cached: []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, live: []*accountv1alpha1.Account{accountOf("chemistry", "", "ben")}}
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), job), 0, "")
	h.accounts = &fakeAccounts{cached: []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, down: errors.New("down")}
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), job), 500, "down")
}

// Where each job must have an account, a user who was added to an account just now gets it as the default.
func TestADefaultAccountThatWasSetJustNowIsRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		required bool
		cached   []*accountv1alpha1.Account
		down     error
		want     string
	}{
		"the first account":                 {true, nil, nil, "chemistry"},
		"a new account":                     {true, []*accountv1alpha1.Account{accountOf("physics", "", "ada")}, nil, "chemistry"},
		"accounts that cannot be read":      {true, nil, errors.New("down"), ""},
		"where jobs do not need an account": {false, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hooksWith()
			h.requireAccounts = test.required
			h.accounts = &fakeAccounts{cached: test.cached, live: []*accountv1alpha1.Account{accountOf("chemistry", "", "ben")}, down: test.down}
			job := defaulted(t, h, admissionv1.Create, jobOfUser("ben", ""), "")
			if got := parseJob(t, job).Labels[keys.Account]; got != test.want {
				t.Errorf("the account is %q, want %q", got, test.want)
			}
			code, message := int32(0), ""
			if test.down != nil {
				code, message = 500, "down"
			}
			requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", job, "")), code, message)
		})
	}
}

// accountWriters permits only one user to update accounts.
type accountWriters string

func (w accountWriters) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	attributes := review.Spec.ResourceAttributes
	review.Status.Allowed = review.Spec.User == string(w) && attributes.Verb == "update" && attributes.Resource == "accounts"
	return review, nil
}

func TestOnlyWhoMayUpdateAccountsMayChangeTheAccountOfAJob(t *testing.T) {
	t.Parallel()
	h := hooksWith(accountOf("physics", "", "ada"), accountOf("chemistry", "", "ben", "ada"))
	h.reviews = accountWriters("root")
	change := request(admissionv1.Update, "Job", jobOfUser("ada", "chemistry"), jobOfUser("ada", "physics"))
	change.UserInfo.Username = "ada"
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 422, `the account of a job cannot be changed from "physics" to "chemistry"`)
	change.Object.Raw = []byte(jobOfUser("ada", "alchemy"))
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 422, `the account of a job cannot be changed from "physics" to "alchemy"`)
	change.UserInfo.Username, change.Object.Raw = "root", []byte(jobOfUser("ada", "chemistry"))
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 0, "")
	change.Object.Raw = []byte(jobOfUser("ada", "alchemy"))
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), change), 422, "this account does not exist")
	// Without any Account object, the label is free text.
	free := hooksWith()
	free.reviews = accountWriters("root")
	change.UserInfo.Username = "ada"
	requireResponse(t, free.validateHandler(jobKind)(t.Context(), change), 0, "")
}

func TestAPodGroupOfTheControllersNeedsNoAccount(t *testing.T) {
	t.Parallel()
	h := hooksWith(accountOf("physics", "", "ada"))
	h.requireAccounts, h.reviews = true, statusWriters("controllers")
	const owner = `"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"p","controller":true}]`
	for name, test := range map[string]struct {
		author, metadata string
		code             int32
		what             string
	}{
		"a group of the controllers":           {"controllers", owner, 0, ""},
		"a group of a user":                    {"ben", `"annotations":{"vc-batch.dev/user":"ben"}`, 422, "set this label to the name of an account"},
		"a group that a user gives an owner":   {"ben", owner, 422, "set this label to the name of an account"},
		"a group for an account of others":     {"ben", `"annotations":{"vc-batch.dev/user":"ben"},"labels":{"vc-batch.dev/account":"physics"}`, 422, "is not listed in account physics"},
		"a group for an account of its author": {"ada", `"annotations":{"vc-batch.dev/user":"ada"},"labels":{"vc-batch.dev/account":"physics"}`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			review := request(admissionv1.Create, "PodGroup", `{"metadata":{"name":"x",`+test.metadata+`},"spec":{"queue":"default"}}`, "")
			review.UserInfo.Username = test.author
			requireResponse(t, h.validateHandler(groupKind)(t.Context(), review), test.code, test.what)
		})
	}
}

func TestTheWebhookOfAccountsRejectsCyclesAndTheDeletionOfParents(t *testing.T) {
	t.Parallel()
	science, physics := accountOf("science", ""), accountOf("physics", "science")
	h := hooksWith(science, physics)
	requireResponse(t, h.validateHandler(accountKind)(t.Context(), request(admissionv1.Update, "Account",
		`{"metadata":{"name":"science"},"spec":{"parent":"physics"}}`, `{"metadata":{"name":"science"}}`)), 422, "spec.parent: Invalid value: \"physics\": accounts would form a cycle")
	requireResponse(t, h.validateHandler(accountKind)(t.Context(), request(admissionv1.Create, "Account", `{"metadata":{"name":"new"},"spec":{"parent":"science"}}`, "")), 0, "")
	remove := request(admissionv1.Delete, "Account", "", `{}`)
	remove.Name = "science"
	requireResponse(t, h.validateHandler(accountKind)(t.Context(), remove), 422, "account science cannot be deleted, because account physics is below it")
	// The watch lags behind the deletion of the account below it.
	h.accounts = &fakeAccounts{cached: []*accountv1alpha1.Account{science, physics}, live: []*accountv1alpha1.Account{science}}
	requireResponse(t, h.validateHandler(accountKind)(t.Context(), remove), 0, "")
	h.accounts = &fakeAccounts{cached: []*accountv1alpha1.Account{science, physics}, down: errors.New("down")}
	requireResponse(t, h.validateHandler(accountKind)(t.Context(), remove), 500, "down")
}
