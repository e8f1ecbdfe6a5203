package aggregatedapi

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// fakeReviewer returns Permissions that get their answers from review.
func fakeReviewer(now func() time.Time, review func(*authorizationv1.SubjectAccessReview) error) *Permissions {
	core := fake.NewClientset()
	core.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		object := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		if err := review(object); err != nil {
			return true, nil, err
		}
		return true, object, nil
	})
	return NewPermissions(core.AuthorizationV1().SubjectAccessReviews(), now)
}

func listJobs(namespace string) authorizationv1.ResourceAttributes {
	return authorizationv1.ResourceAttributes{Verb: "list", Group: "batch.volcano.sh", Resource: "jobs", Namespace: namespace}
}

func TestPermissionsAreCachedForAShortTime(t *testing.T) {
	t.Parallel()
	reviews, now := 0, time.Now()
	p := fakeReviewer(func() time.Time { return now }, func(review *authorizationv1.SubjectAccessReview) error {
		reviews++
		review.Status.Allowed = review.Spec.ResourceAttributes.Namespace == "nlp" && review.Spec.ResourceAttributes.Verb == "list"
		return nil
	})
	mei := &user.DefaultInfo{Name: "mei", Groups: []string{"nlp"}}
	get := listJobs("nlp")
	get.Verb = "get"
	for _, c := range []struct {
		what    string
		pause   time.Duration
		who     user.Info
		access  authorizationv1.ResourceAttributes
		allowed bool
		reviews int
	}{
		{"first check", 0, mei, listJobs("nlp"), true, 1},
		{"same check again", 0, mei, listJobs("nlp"), true, 1},
		{"other namespace", 0, mei, listJobs("bio"), false, 2},
		{"other namespace again", 0, mei, listJobs("bio"), false, 2},
		{"other verb", 0, mei, get, false, 3},
		{"other groups", 0, &user.DefaultInfo{Name: "mei"}, listJobs("nlp"), true, 4},
		{"other UID", 0, &user.DefaultInfo{Name: "mei", UID: "2"}, listJobs("nlp"), true, 5},
		{"other extra property", 0, &user.DefaultInfo{Name: "mei", Extra: map[string][]string{"scopes": {"jobs"}}}, listJobs("nlp"), true, 6},
		{"expired permission", permissionLifetime, mei, listJobs("nlp"), true, 7},
	} {
		now = now.Add(c.pause)
		if allowed, err := p.IsAllowed(t.Context(), c.who, c.access); err != nil || allowed != c.allowed || reviews != c.reviews {
			t.Errorf("%s: allowed %v after %d reviews, %v", c.what, allowed, reviews, err)
		}
	}
}

// TestTheWholeUserIsReviewed verifies that all properties of a user are sent to the API server, and that errors are not
// cached.
func TestTheWholeUserIsReviewed(t *testing.T) {
	t.Parallel()
	unreachable := true
	var specs []authorizationv1.SubjectAccessReviewSpec
	p := fakeReviewer(time.Now, func(review *authorizationv1.SubjectAccessReview) error {
		specs = append(specs, review.Spec)
		review.Status.Allowed = true
		if unreachable {
			return errors.New("unreachable")
		}
		return nil
	})
	mei := &user.DefaultInfo{Name: "mei", UID: "7", Groups: []string{"nlp"}, Extra: map[string][]string{"scopes": {"jobs"}}}
	if allowed, err := p.IsAllowed(t.Context(), mei, listJobs("nlp")); err == nil || allowed {
		t.Errorf("unreachable API server: %v, %v", allowed, err)
	}
	unreachable = false
	if allowed, err := p.IsAllowed(t.Context(), mei, listJobs("nlp")); err != nil || !allowed {
		t.Errorf("API server that responds again: %v, %v", allowed, err)
	}
	for _, spec := range specs {
		if spec.User != "mei" || spec.UID != "7" || !slices.Equal(spec.Groups, mei.Groups) || !slices.Equal(spec.Extra["scopes"], authorizationv1.ExtraValue{"jobs"}) {
			t.Errorf("reviewed %+v", spec)
		}
	}
}

func TestTheNumberOfCachedPermissionsIsLimited(t *testing.T) {
	t.Parallel()
	p := fakeReviewer(time.Now, func(review *authorizationv1.SubjectAccessReview) error {
		review.Status.Allowed = true
		return nil
	})
	p.known = map[string]permission{}
	for i := range maxPermissions {
		p.known[strconv.Itoa(i)] = permission{}
	}
	if allowed, err := p.IsAllowed(t.Context(), &user.DefaultInfo{Name: "mei"}, listJobs("nlp")); err != nil || !allowed || len(p.known) > maxPermissions {
		t.Errorf("%v, %v, %d permissions are cached", allowed, err, len(p.known))
	}
}
