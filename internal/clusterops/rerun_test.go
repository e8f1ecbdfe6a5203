package clusterops_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/clusterops"
)

func TestARerunHasTheSpecAndNothingThatHappenedToItsJob(t *testing.T) {
	t.Parallel()
	old := job("train", batchv1alpha1.Failed)
	old.ResourceVersion, old.Generation, old.GenerateName = "7", 3, "train-"
	old.Finalizers = []string{"example.com/keep"}
	old.OwnerReferences = []metav1.OwnerReference{{Kind: "JobFlow", Name: "night"}}
	old.Labels = map[string]string{"team": "nlp", keys.JobID: "42", keys.CreatedByJobFlow: "nlp.night"}
	old.Annotations = map[string]string{
		keys.Array: "0-3", keys.ArrayCancelled: "2", keys.Hold: keys.HoldUser, keys.Begin: "2026-03-01T12:00:00Z", keys.Dependency: "afterok:41",
		keys.CancelledBy: "mei", keys.JobTitle: "called", "kubectl.kubernetes.io/last-applied-configuration": "{}",
	}
	old.Spec = batchv1alpha1.JobSpec{Queue: "research", MinAvailable: 2, Plugins: map[string][]string{"svc": {}}, Volumes: []batchv1alpha1.VolumeSpec{
		{MountPath: "/made", VolumeClaim: &corev1.PersistentVolumeClaimSpec{}, VolumeClaimName: "train-volume-x"}, {MountPath: "/given", VolumeClaimName: "data"},
	}}
	want := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "again", Labels: map[string]string{"team": "nlp"},
			Annotations: map[string]string{keys.Array: "0-3", keys.JobTitle: "called", keys.RerunOf: "train"}},
		Spec: *old.Spec.DeepCopy(),
	}
	want.Spec.Volumes[0].VolumeClaimName = ""
	before := old.DeepCopy()
	if diff := cmp.Diff(want, clusterops.CopyForRerun(old, "again")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, old); diff != "" {
		t.Errorf("the other job is changed: %s", diff)
	}
}

func TestRerunsAreNumbered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		job, of string
		n       int
		want    string
	}{
		"the first":                       {"train", "", 2, "train-2"},
		"the name is taken":               {"train", "", 3, "train-3"},
		"of a rerun":                      {"train-2", "train", 2, "train-3"},
		"of a rerun of one":               {"train-3", "train-2", 2, "train-4"},
		"a number that is no rerun's":     {"sweep-7", "", 2, "sweep-7-2"},
		"a rerun that was named by hand":  {"other-7", "train", 2, "other-7-2"},
		"a date at the end is no number":  {"run-20260301", "run-20260228", 2, "run-20260301-2"},
		"a rerun whose name has no digit": {"again", "train", 2, "again-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := job(tc.job, batchv1alpha1.Completed)
			if tc.of != "" {
				one.Annotations = map[string]string{keys.RerunOf: tc.of}
			}
			if got := clusterops.RerunName(one, tc.n); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
