package joblist

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

const (
	// trusted is how long a user's permission is cached.
	trusted = 10 * time.Second
	// mostRights is the maximum number of cached permissions.
	mostRights = 10_000
)

// resource is a resource that users may or may not list.
type resource struct{ group, name string }

func (r resource) String() string { return strings.TrimSuffix(r.name+"."+r.group, ".") }

// resourcesInResponse returns the resources contained in the response to a query.
func resourcesInResponse(q jobsummary.Query) []resource {
	all := []resource{{batchv1alpha1.GroupName, "jobs"}, {schedulingv1beta1.GroupName, "podgroups"}}
	if q.Pods {
		all = append(all, resource{"", "pods"})
	}
	return all
}

// rights checks with the API server which resources users may list.
type rights struct {
	api authorizationclient.SubjectAccessReviewInterface
	now func() time.Time

	mu    sync.Mutex
	known map[string]verdict
}

type verdict struct {
	allowed bool
	until   time.Time
}

// missing returns the first resource of a query that a user may not list, or nil.
func (r *rights) missing(ctx context.Context, who user.Info, q jobsummary.Query) (*resource, error) {
	kinds := resourcesInResponse(q)
	allowed, errs := make([]bool, len(kinds)), make([]error, len(kinds))
	var wait sync.WaitGroup
	for i := range kinds {
		wait.Go(func() { allowed[i], errs[i] = r.mayListResource(ctx, who, kinds[i], q.Namespace) })
	}
	wait.Wait()
	for i := range kinds {
		if errs[i] != nil {
			return nil, fmt.Errorf("rights on %s: %w", kinds[i], errs[i])
		}
		if !allowed[i] {
			return &kinds[i], nil
		}
	}
	return nil, nil
}

// mayListResource reports whether a user may list a resource in a namespace, or in all namespaces if it is "".
func (r *rights) mayListResource(ctx context.Context, who user.Info, kind resource, namespace string) (bool, error) {
	key := permissionKey(who, kind, namespace)
	r.mu.Lock()
	have, ok := r.known[key]
	r.mu.Unlock()
	if ok && r.now().Before(have.until) {
		return have.allowed, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: map[string]authorizationv1.ExtraValue{},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Group: kind.group, Resource: kind.name},
	}}
	for key, values := range who.GetExtra() {
		review.Spec.Extra[key] = values
	}
	answer, err := r.api.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= mostRights {
		r.known = map[string]verdict{}
	}
	r.known[key] = verdict{allowed: answer.Status.Allowed, until: r.now().Add(trusted)}
	return answer.Status.Allowed, nil
}

// permissionKey returns a key for the cache. The key contains the resource, the namespace, and all properties of the
// user that permissions may depend on.
func permissionKey(who user.Info, kind resource, namespace string) string {
	var extra []string
	for key, values := range who.GetExtra() {
		extra = append(extra, fmt.Sprintf("%q=%q", key, values))
	}
	slices.Sort(extra)
	return fmt.Sprintf("%q %q %q %q %q %q", who.GetName(), who.GetUID(), who.GetGroups(), extra, kind.String(), namespace)
}
