package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// rights holds the permissions of users: "alice get jobs b".
type rights map[string]bool

func (r rights) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	what := review.Spec.ResourceAttributes
	where := what.Namespace
	if where == "" {
		where = what.Name
	}
	review.Status.Allowed = r[fmt.Sprintf("%s %s %s %s", review.Spec.User, what.Verb, what.Resource, where)]
	return review, nil
}

// guarded returns webhooks in a cluster with job 7, b/secret, which only bob and the administrator may read.
func guarded(t *testing.T) *hooks {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	secret := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "secret", Labels: map[string]string{keys.JobID: "7"}}}
	own := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "own", Labels: map[string]string{keys.JobID: "8"}}}
	return &hooks{
		schedulers: []string{"volcano"}, queues: &fakeQueues{cached: []*schedulingv1beta1.Queue{queue("default", "")}},
		jobs:    fake.NewClientBuilder().WithScheme(scheme).WithObjects(secret, own).Build(),
		reviews: rights{"bob get jobs b": true, "root update queues default": true, "root get jobs b": true},
	}
}

// waiting returns a job in alice's namespace with some annotations.
func waiting(annotations, owners string) string {
	return `{"metadata":{"name":"x","namespace":"nlp","annotations":{` + annotations + `}` + owners + `},"spec":{"schedulerName":"volcano","queue":"default","minAvailable":2,"tasks":[` + goodTask + `]}}`
}

func TestJobsOfOtherNamespacesAreKnownOnlyToWhoMayReadThem(t *testing.T) {
	t.Parallel()
	dependency := func(text string) string { return fmt.Sprintf("%q:%q", keys.Dependency, text) }
	noted := func(text string) string {
		return dependency(text) + fmt.Sprintf(",%q:%q", keys.DependencyNamespaces, "b")
	}
	const cron = `,"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"CronJob","name":"c","uid":"c","controller":true}]`
	const denied = "you are not allowed to read jobs in namespace b, so your jobs cannot depend on them"
	tests := map[string]struct {
		user, object string
		says         string // "" if it is allowed
	}{
		"a number of another namespace":              {"alice", waiting(dependency("afterok:7"), ""), "job 7 does not exist: "},
		"a number that nobody has":                   {"alice", waiting(dependency("afterok:9"), ""), "job 9 does not exist: "},
		"a number of the own namespace":              {"alice", waiting(dependency("afterok:8"), ""), ""},
		"a number that its user may read":            {"bob", waiting(noted("afterok:7"), ""), ""},
		"a number that its user may read, not noted": {"bob", waiting(dependency("afterok:7"), ""), "did not respond or is not enabled, so the permission to wait for jobs in namespace b was not recorded"},
		"a note of who may not read":                 {"alice", waiting(noted("afterok:b/secret"), ""), denied},
		"a name in another namespace":                {"alice", waiting(dependency("afterok:b/secret"), ""), denied},
		"a name that nobody has there":               {"alice", waiting(dependency("afterok:b/nothing"), ""), denied},
		"a name that its user may read":              {"bob", waiting(noted("afterok:b/secret"), ""), ""},
		"a name of the own namespace":                {"alice", waiting(dependency("afterok:own"), ""), ""},
		"what a controller makes of a user's object": {"root", waiting(dependency("afterok:b/secret"), cron), denied},
		"a number in what a controller makes":        {"root", waiting(dependency("afterok:7"), cron), "job 7 does not exist: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for operation, old := range map[admissionv1.Operation]string{admissionv1.Create: "", admissionv1.Update: waiting("", "")} {
				r := request(operation, "Job", test.object, old)
				r.UserInfo = authenticationv1.UserInfo{Username: test.user}
				code := int32(0)
				if test.says != "" {
					code = http.StatusUnprocessableEntity
				}
				requireResponse(t, guarded(t).validateHandler(jobKind)(t.Context(), r), code, test.says)
			}
		})
	}
}

func TestAnAdministratorsHoldIsTakenOffByAdministrators(t *testing.T) {
	t.Parallel()
	held := func(by string) string { return waiting(fmt.Sprintf("%q:%q", keys.Hold, by), "") }
	free := waiting("", "")
	const says = "the job is held by an administrator: only users with permission to update queue default can release it"
	tests := map[string]struct {
		user, old, object string
		says              string // "" if it is allowed
	}{
		"the user":                           {"alice", held(keys.HoldAdmin), free, says},
		"the user, by a hold of her own":     {"alice", held(keys.HoldAdmin), held(keys.HoldUser), says},
		"an administrator":                   {"root", held(keys.HoldAdmin), free, ""},
		"the user's own hold":                {"alice", held(keys.HoldUser), free, ""},
		"another change, and the hold stays": {"alice", held(keys.HoldAdmin), waiting(fmt.Sprintf("%q:%q,%q:%q", keys.Hold, keys.HoldAdmin, keys.Begin, "2030-01-01T00:00:00Z"), ""), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(admissionv1.Update, "Job", test.object, test.old)
			r.UserInfo = authenticationv1.UserInfo{Username: test.user}
			code := int32(0)
			if test.says != "" {
				code = http.StatusUnprocessableEntity
			}
			requireResponse(t, guarded(t).validateHandler(jobKind)(t.Context(), r), code, test.says)
		})
	}
}

func TestTheNamespacesInWhichAJobMayWaitAreNoted(t *testing.T) {
	t.Parallel()
	dependency := func(text string) string { return fmt.Sprintf("%q:%q", keys.Dependency, text) }
	forged := fmt.Sprintf(",%q:%q", keys.DependencyNamespaces, "b,c")
	tests := map[string]struct {
		user, object, old string
		want              string
	}{
		"a number that the user may read":     {"bob", waiting(dependency("afterok:7"), ""), "", "b"},
		"a name that the user may read":       {"bob", waiting(dependency("afterany:b/secret,afterany:own"), ""), "", "b"},
		"a number that the user may not read": {"alice", waiting(dependency("afterok:7"), ""), "", ""},
		"a note of the user's own":            {"alice", waiting(dependency("afterok:own")+forged, ""), "", ""},
		"no dependency":                       {"bob", waiting(`"a":"b"`+forged, ""), "", ""},
		"the dependency stays":                {"alice", waiting(dependency("afterok:7"), ""), waiting(dependency("afterok:7")+fmt.Sprintf(",%q:%q", keys.DependencyNamespaces, "b"), ""), "b"},
		"the note alone changes":              {"alice", waiting(dependency("afterok:7")+forged, ""), waiting(dependency("afterok:7"), ""), ""},
		"the dependency changes":              {"alice", waiting(dependency("afterok:own")+forged, ""), waiting(dependency("afterok:7")+forged, ""), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation := admissionv1.Create
			if test.old != "" {
				operation = admissionv1.Update
			}
			r := request(operation, "Job", test.object, test.old)
			r.UserInfo = authenticationv1.UserInfo{Username: test.user}
			job := &batchv1alpha1.Job{}
			if err := json.Unmarshal([]byte(test.object), job); err != nil {
				t.Fatal(err)
			}
			guarded(t).annotateNamespaces(t.Context(), &r, job)
			if got := job.Annotations[keys.DependencyNamespaces]; got != test.want {
				t.Errorf("noted %q, want %q", got, test.want)
			}
		})
	}
}

// brokenReader is an API server that does not respond.
type brokenReader struct{ client.Reader }

func (brokenReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no answer")
}

func (brokenReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("no answer")
}

// brokenReviewer returns an error for every check of permissions.
type brokenReviewer struct{}

func (brokenReviewer) Create(context.Context, *authorizationv1.SubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	return nil, errors.New("no answer")
}

func TestADependencyIsNotJudgedWhereNobodyAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dependency string
		damage     func(h *hooks)
	}{
		"a number, and jobs cannot be read":  {"afterok:8", func(h *hooks) { h.jobs = brokenReader{} }},
		"a name, and jobs cannot be read":    {"afterok:own", func(h *hooks) { h.jobs = brokenReader{} }},
		"a number, and rights are not known": {"afterok:7", func(h *hooks) { h.reviews = brokenReviewer{} }},
		"a name, and rights are not known":   {"afterok:b/secret", func(h *hooks) { h.reviews = brokenReviewer{} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := guarded(t)
			c.damage(h)
			r := request(admissionv1.Create, "Job", waiting(fmt.Sprintf("%q:%q", keys.Dependency, c.dependency), ""), "")
			r.UserInfo = authenticationv1.UserInfo{Username: "bob"}
			requireResponse(t, h.validateHandler(jobKind)(t.Context(), r), http.StatusInternalServerError, "no answer")
		})
	}
}
