package control

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
)

// cancelledByText returns the value of the annotation that records which user cancelled which elements, after adding
// the elements that this user cancels.
func (s *scancel) cancelledByText(job *batchv1alpha1.Job, added batchv1alpha1.Indices) string {
	texts := map[string]string{}
	for user, set := range batchv1alpha1.ArrayCancelledBy(job) {
		if user == s.UserName() {
			added = added.Union(set)
		}
		texts[user] = set.String()
	}
	if len(added) > 0 {
		texts[s.UserName()] = added.String()
	}
	text, _ := json.Marshal(texts) // a map of strings always marshals
	return string(text)
}

// cancelElements marks elements of an array as cancelled. To keep the elements that concurrent updates add, it
// updates a specific resource version and retries on conflicts. Jobs from the daemon's list have no resource version
// and are read first.
func (s *scancel) cancelElements(ctx context.Context, t target) error {
	job := t.row.Job
	for {
		if job.ResourceVersion == "" {
			fresh := &batchv1alpha1.Job{}
			if err := s.view.Client.Get(ctx, client.ObjectKeyFromObject(job), fresh); err != nil {
				return err
			}
			if fresh.UID != job.UID {
				return program.MissingJobError("the job was deleted in the meantime; squeue and sacct list jobs", "Kill job error on job id %s: Invalid job id specified", t.ref)
			}
			job = fresh
		}
		cancelled, err := batchv1alpha1.ArrayCancelled(job)
		if err != nil {
			return err
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion,
			"annotations": map[string]any{keys.ArrayCancelled: cancelled.Union(t.elements).String(), keys.ArrayCancelledBy: s.cancelledByText(job, t.elements.Minus(cancelled))}}})
		if err != nil {
			return err
		}
		changed := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
		err = s.view.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch))
		if !apierrors.IsConflict(err) {
			return err
		}
		job = &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name, UID: job.UID}}
	}
}
