package cli

import (
	"cmp"
	"context"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// FindPermittedUser returns the given login name if the API server permits submitting jobs for that user in a namespace, as it
// permits administrators and the user of a local cluster. Otherwise, it returns "", and admission writes the user of the request.
func (f *Factory) FindPermittedUser(ctx context.Context, namespace, user string) string {
	if user == "" {
		return ""
	}
	c, err := f.Client()
	if err != nil {
		return "" // the submission reports this error
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Verb: "impersonate", Group: batchv1alpha1.GroupVersion.Group, Resource: "jobs", Namespace: namespace, Name: user,
	}}}
	if err := c.Create(ctx, review); err != nil || !review.Status.Allowed {
		return ""
	}
	return user
}

// FindJobUser returns the user of jobs that the user of this machine submits to a namespace.
func (f *Factory) FindJobUser(ctx context.Context, namespace string) string {
	user := f.Streams.FindUserName()
	if name := f.FindPermittedUser(ctx, namespace, user); name != "" {
		return name
	}
	return cmp.Or(append(f.ListOwnUserNames(ctx), user)...)
}

// ListOwnUserNames returns the names of the user that jobs may contain: the given names, and the name by which the API server
// knows the user.
func (f *Factory) ListOwnUserNames(ctx context.Context, names ...string) []string {
	c, err := f.Client()
	if err != nil {
		return names
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return names
	}
	if name := review.Status.UserInfo.Username; !slices.Contains(names, name) {
		names = append(slices.Clone(names), name)
	}
	return names
}
