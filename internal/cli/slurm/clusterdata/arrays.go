package clusterdata

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// readArraysByElement adds each array whose own number, or the number of one of its elements, is in numbers. It
// searches the daemon's list or, if the daemon does not answer, the metadata of all jobs. It then reads the jobs that
// it found from the API server.
func (v *View) readArraysByElement(ctx context.Context, numbers []optionvalue.Job) error {
	found, err := v.findArraysInFacts(ctx, numbers)
	if err != nil && ctx.Err() == nil {
		found, err = v.findArraysInMetadata(ctx, numbers)
	}
	if err != nil {
		return err
	}
	for _, name := range found {
		if !slices.ContainsFunc(v.Jobs, func(job *batchv1alpha1.Job) bool { return client.ObjectKeyFromObject(job) == name }) {
			if err := v.getJob(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *View) findArraysInFacts(ctx context.Context, numbers []optionvalue.Job) (found []types.NamespacedName, err error) {
	told := &View{rest: v.rest, namespace: v.namespace, home: v.home}
	if err := told.readFacts(ctx, Wants{arrays: true}); err != nil {
		return nil, err
	}
	for _, job := range told.Jobs {
		if told.isArrayNamed(numbers, job) {
			found = append(found, client.ObjectKeyFromObject(job))
		}
	}
	return found, nil
}

func (v *View) findArraysInMetadata(ctx context.Context, numbers []optionvalue.Job) (found []types.NamespacedName, err error) {
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(batchv1alpha1.GroupVersion.WithKind("JobList"))
	err = cli.ListPages(ctx, v.Client, page, func() error {
		for i := range page.Items {
			job := &batchv1alpha1.Job{ObjectMeta: page.Items[i].ObjectMeta, Spec: batchv1alpha1.JobSpec{Tasks: make([]batchv1alpha1.TaskSpec, 1)}}
			if v.isArrayNamed(numbers, job) {
				found = append(found, client.ObjectKeyFromObject(job))
			}
		}
		page.Items = nil
		return nil
	}, client.InNamespace(v.namespace), client.HasLabels{keys.JobID})
	return found, err
}

// isArrayNamed reports whether a job is an array and one of the references refers to it or to one of its elements.
func (v *View) isArrayNamed(numbers []optionvalue.Job, job *batchv1alpha1.Job) bool {
	return job.Annotations[keys.Array] != "" && slices.ContainsFunc(numbers, func(ref optionvalue.Job) bool { return v.refersTo(ref, job) })
}
