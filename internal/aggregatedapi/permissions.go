package aggregatedapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

const (
	// permissionLifetime is how long a user's permission is cached.
	permissionLifetime = 10 * time.Second
	// maxPermissions is the maximum number of cached permissions.
	maxPermissions = 10_000
)

// Permissions checks with the API server whether users may access resources, and caches the results for a short time.
type Permissions struct {
	api authorizationclient.SubjectAccessReviewInterface
	now func() time.Time

	mu    sync.Mutex
	known map[string]permission
}

// permission is the cached result of a check.
type permission struct {
	allowed bool
	until   time.Time
}

// NewPermissions returns a Permissions that sends its checks to api. now returns the current time.
func NewPermissions(api authorizationclient.SubjectAccessReviewInterface, now func() time.Time) *Permissions {
	return &Permissions{api: api, now: now}
}

// IsAllowed reports whether a user may access a resource. An error means that the API server did not respond.
func (p *Permissions) IsAllowed(ctx context.Context, who user.Info, access authorizationv1.ResourceAttributes) (bool, error) {
	key := permissionKey(who, access)
	p.mu.Lock()
	have, ok := p.known[key]
	p.mu.Unlock()
	if ok && p.now().Before(have.until) {
		return have.allowed, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: map[string]authorizationv1.ExtraValue{}, ResourceAttributes: &access,
	}}
	for key, values := range who.GetExtra() {
		review.Spec.Extra[key] = values
	}
	answer, err := p.api.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= maxPermissions {
		p.known = map[string]permission{}
	}
	p.known[key] = permission{allowed: answer.Status.Allowed, until: p.now().Add(permissionLifetime)}
	return answer.Status.Allowed, nil
}

// permissionKey returns a key for the cache. The key contains the access and all properties of the user that
// permissions may depend on.
func permissionKey(who user.Info, access authorizationv1.ResourceAttributes) string {
	var extra []string
	for key, values := range who.GetExtra() {
		extra = append(extra, fmt.Sprintf("%q=%q", key, values))
	}
	slices.Sort(extra)
	resource := []string{access.Verb, access.Group, access.Resource, access.Namespace, access.Name}
	return fmt.Sprintf("%q %q %q %q %q", who.GetName(), who.GetUID(), who.GetGroups(), extra, resource)
}
