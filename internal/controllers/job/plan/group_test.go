package plan

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

func TestThePodGroupSaysHowLongTheJobRuns(t *testing.T) {
	limit := func(seconds ...int64) func(*batchv1alpha1.Job) {
		return func(j *batchv1alpha1.Job) {
			j.Spec.Tasks = j.Spec.Tasks[len(j.Spec.Tasks)-2:]
			for i, s := range seconds {
				if s != 0 {
					j.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds = ptr.To(s)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*batchv1alpha1.Job)
		want   string
	}{
		"nothing is said":                        {func(*batchv1alpha1.Job) {}, ""},
		"the job's own estimate":                 {func(j *batchv1alpha1.Job) { j.Spec.RunningEstimate = &metav1.Duration{Duration: 90 * time.Minute} }, "1h30m0s"},
		"the longest limit, when all tasks have": {limit(60, 120), "2m0s"},
		"not all tasks have a limit":             {limit(60, 0), ""},
		"a limit beyond all time":                {limit(60, 1<<62), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := given(batchv1alpha1.Pending).task("a", 1).task("b", 1).with(c.change)
			group := newGroup(s.defaulted(), nil, func(int) bool { return true })
			if got := group.Annotations[keys.RunningEstimate]; got != c.want {
				t.Errorf("%s: %q, want %q", keys.RunningEstimate, got, c.want)
			}
		})
	}
}
