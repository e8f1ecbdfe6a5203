package listrow

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// TestTheQOSOfARowIsTheAssignedOne checks the order of the sources: admission, the command line, the priority class.
func TestTheQOSOfARowIsTheAssignedOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ label, asked, class, want string }{
		"assigned by admission":     {"short", "high", "urgent", "short"},
		"requested without any QOS": {"", "high", "urgent", "high"},
		"a priority class":          {"", "", "urgent", "urgent"},
		"nothing":                   {"", "", "", "normal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{keys.QOS: test.label}}, Spec: batchv1alpha1.JobSpec{PriorityClassName: test.class}}
			row := &Row{Source: &Source{Job: job}, Asked: submission.Options{QOS: test.asked}}
			if got := row.QOSName(); got != test.want {
				t.Errorf("QOS %q, want %q", got, test.want)
			}
		})
	}
}
