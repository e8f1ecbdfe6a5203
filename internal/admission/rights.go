package admission

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// isPermitted reports whether a user has the given permission.
func isPermitted(ctx context.Context, reviews Creator[*authorizationv1.SubjectAccessReview], user *authenticationv1.UserInfo, what authorizationv1.ResourceAttributes) (bool, error) {
	if reviews == nil {
		return true, nil // without a reviewer, permissions are not checked
	}
	ctx, cancel := context.WithTimeout(ctx, liveReadTimeout)
	defer cancel()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID, ResourceAttributes: &what,
	}}
	if len(user.Extra) > 0 {
		review.Spec.Extra = make(map[string]authorizationv1.ExtraValue, len(user.Extra))
		for key, values := range user.Extra {
			review.Spec.Extra[key] = authorizationv1.ExtraValue(values)
		}
	}
	answer, err := reviews.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("right of %s to %s %s: %w", user.Username, what.Verb, what.Resource, err)
	}
	return answer.Status.Allowed, nil
}

// identity holds the fields of an object that permissions depend on.
type identity struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Queue string `json:"queue"`
	} `json:"spec"`
}

// rejectHoldRelease rejects an update that removes an administrator's hold from a job, unless its author may update the
// job's queue.
func (h *hooks) rejectHoldRelease(ctx context.Context, request *admission.Request) (field.ErrorList, error) {
	if request.Operation != admissionv1.Update {
		return nil, nil
	}
	var old, updated identity
	if json.Unmarshal(request.OldObject.Raw, &old) != nil || json.Unmarshal(request.Object.Raw, &updated) != nil {
		return nil, nil //nolint:nilerr // reported where the job is checked
	}
	if old.Annotations[keys.Hold] != keys.HoldAdmin || updated.Annotations[keys.Hold] == keys.HoldAdmin {
		return nil, nil
	}
	queue := old.Spec.Queue
	queue = cmp.Or(queue, keys.DefaultQueue)
	allowed, err := isPermitted(ctx, h.reviews, &request.UserInfo, authorizationv1.ResourceAttributes{
		Verb: "update", Group: schedulingv1beta1.GroupName, Resource: "queues", Name: queue,
	})
	if err != nil || allowed {
		return nil, err
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "annotations").Key(keys.Hold), fmt.Sprintf(
		"the job is held by an administrator: only users with permission to update queue %s can release it", queue))}, nil
}

// isReadable reports whether the author of the request may read a job. Every author may read jobs in the namespace in
// which their own job is created. An object that the controllers create for a CronJob or a JobFlow has no user, so it
// may wait only for jobs in its own namespace.
func (l *jobLookup) isReadable(namespace, name string) bool {
	if namespace == l.namespace || l.reviews == nil {
		return true
	}
	key := namespace + "/" + name
	if known, ok := l.known[key]; ok {
		return known
	}
	if l.known == nil {
		l.known = map[string]bool{}
	}
	if l.created {
		l.known[key] = false
		return false
	}
	allowed, err := isPermitted(l.ctx, l.reviews, l.user, authorizationv1.ResourceAttributes{
		Verb: "get", Group: batchv1alpha1.GroupName, Resource: "jobs", Namespace: namespace, Name: name,
	})
	if err != nil {
		l.err = err
	}
	l.known[key] = allowed && err == nil
	return l.known[key]
}

// rejectUnreadable rejects a job that names a job in another namespace if its author may not read that job, whether or
// not it exists. A job number that its author may not read is treated as unknown.
func (l *jobLookup) rejectUnreadable(raw []byte) field.ErrorList {
	var object identity
	if json.Unmarshal(raw, &object) != nil {
		return nil // reported where the job is checked
	}
	d, err := batchv1alpha1.DependencyOf(&batchv1alpha1.Job{ObjectMeta: object.ObjectMeta})
	if err != nil {
		return nil
	}
	errs := l.rejectUnannotated(&object.ObjectMeta)
	for _, term := range d.Terms {
		namesOneJob := term.Job.ID == 0 && term.Kind != batchv1alpha1.Singleton
		readable, asked := l.known[term.Job.Namespace+"/"+term.Job.Name]
		isForbidden := asked && !readable
		if !namesOneJob || !isForbidden {
			continue
		}
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "annotations").Key(keys.Dependency), fmt.Sprintf(
			"%s: you are not allowed to read jobs in namespace %s, so your jobs cannot depend on them; jobs created by CronJobs and JobFlows can depend only on jobs in their own namespace", term, term.Job.Namespace)))
	}
	return errs
}

// rejectUnannotated rejects a job that may wait for jobs in another namespace but lacks the annotation for this,
// because the controllers would treat those jobs as missing.
func (l *jobLookup) rejectUnannotated(object *metav1.ObjectMeta) field.ErrorList {
	job := &batchv1alpha1.Job{ObjectMeta: *object}
	job.Namespace = l.namespace
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(l.known)) {
		if namespace, _, _ := strings.Cut(key, "/"); l.known[key] && !batchv1alpha1.MayAwait(job, namespace) {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "annotations").Key(keys.DependencyNamespaces), fmt.Sprintf(
				"webhook %s did not respond or is not enabled, so the permission to wait for jobs in namespace %s was not recorded; try again", pathMutateJob, namespace)))
		}
	}
	return errs
}
