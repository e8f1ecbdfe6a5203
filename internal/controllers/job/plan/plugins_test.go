package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestWhatPluginsMakeIsThereBeforeTheFirstPod includes a restart of the controller and a change of the replicas in
// between.
func TestWhatPluginsMakeIsThereBeforeTheFirstPod(t *testing.T) {
	t.Parallel()
	for _, phase := range []batchv1alpha1.JobPhase{"", batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Restarting} {
		s := given(phase).with(func(j *batchv1alpha1.Job) { j.Spec.Plugins = map[string][]string{"pytorch": {"--worker=w"}} }).group("Inqueue")
		p := Compute(s.Input)
		words := digest(&p)
		pods := slices.IndexFunc(words, func(w string) bool { return w == "create w-0 w-1" })
		objects := slices.Index(words, "EnsureObjects")
		if pods >= 0 && (objects < 0 || objects > pods) {
			t.Errorf("phase %q: %v", phase, words)
		}
		if phase == batchv1alpha1.Pending && pods < 0 {
			t.Errorf("no pods are made: %v", words)
		}
	}
}

func TestPluginsAreRecordedAsVolcanoDoes(t *testing.T) {
	t.Parallel()
	s := given("").with(func(j *batchv1alpha1.Job) {
		j.Spec.Plugins = map[string][]string{"env": nil, "hcclrank": nil, "mpi": {"--master=w"}}
	})
	p := Compute(s.Input)
	for _, w := range p.Writes {
		if w, ok := w.(WriteStatus); ok {
			want := map[string]string{"plugin-env": "env", "plugin-mpi": "mpi", "plugin-ssh": "ssh", "plugin-svc": "svc"}
			if diff := cmp.Diff(want, w.Status.ControlledResources); diff != "" {
				t.Errorf("controlled resources (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("no status: %v", digest(&p))
}
