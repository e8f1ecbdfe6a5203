package clusterops

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// leftLabels and leftAnnotations list the keys that a rerun does not copy from its job: the job number, holds and other
// start conditions, requests made after the job was created, and the object that created it.
var (
	leftLabels      = []string{keys.JobID, keys.CreatedByJobTemplate, keys.CreatedByJobFlow}
	leftAnnotations = []string{
		keys.JobIDWas, keys.Hold, keys.Begin, keys.Dependency, keys.KillOnInvalidDependency,
		keys.ArrayCancelled, keys.ArrayCancelledBy, keys.CancelledBy,
		keys.CreatedByJobTemplate, keys.CreatedByJobFlow, keys.CronJobScheduled, keys.JobForwarding,
		"kubectl.kubernetes.io/last-applied-configuration",
	}
)

// CopyForRerun returns a new job with the spec, labels and annotations of another one. It contains no status, no start
// conditions of the other job, and no claims that were created for the other job, because the new job gets its own
// claims.
func CopyForRerun(job *batchv1alpha1.Job, name string) *batchv1alpha1.Job {
	old := job.DeepCopy()
	again := &batchv1alpha1.Job{
		TypeMeta:   old.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: name, Labels: old.Labels, Annotations: old.Annotations},
		Spec:       old.Spec,
	}
	for _, key := range leftLabels {
		delete(again.Labels, key)
	}
	for _, key := range leftAnnotations {
		delete(again.Annotations, key)
	}
	if again.Annotations == nil {
		again.Annotations = map[string]string{}
	}
	again.Annotations[keys.RerunOf] = job.Name
	for i := range again.Spec.Volumes {
		if volume := &again.Spec.Volumes[i]; volume.VolumeClaim != nil {
			volume.VolumeClaimName = "" // the controller names the claim that it creates
		}
	}
	return again
}

// RerunName returns the n-th candidate for the name of a rerun, starting at 2: train-2 for train, and train-3 for
// train-2 if train-2 is itself a rerun of train.
func RerunName(job *batchv1alpha1.Job, n int) string {
	base := job.Name
	first := job.Annotations[keys.RerunOf]
	if stem, number, ok := splitNumber(job.Name); ok && first != "" && strings.HasPrefix(first, stem) {
		base, n = stem, number+n-1
	}
	return base + "-" + batchv1alpha1.FormatJobID(int64(n))
}

// splitNumber splits train-2 into train and 2.
func splitNumber(name string) (stem string, number int, ok bool) {
	at := strings.LastIndexByte(name, '-')
	if at <= 0 {
		return name, 0, false
	}
	id, ok := batchv1alpha1.ParseJobID(name[at+1:])
	const most = 1 << 20 // larger numbers are dates, not counts
	return name[:at], int(id), ok && id < most
}
