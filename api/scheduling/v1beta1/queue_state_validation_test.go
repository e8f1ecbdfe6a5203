package v1beta1

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

func TestAQueueMayAskForAStateByItsAnnotation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		queue, wish string
		says        string // "" if it is valid
	}{
		"open":              {"q", "Open", ""},
		"closed":            {"q", "Closed", ""},
		"closing is no aim": {"q", "Closing", `metadata.annotations[vc-batch.dev/queue-state]: Unsupported value: "Closing": supported values: "Open", "Closed"`},
		"nothing at all":    {"q", "", `Unsupported value: ""`},
		"root":              {"root", "Closed", "queue root cannot be closed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := &Queue{ObjectMeta: metav1.ObjectMeta{Name: test.queue}, Spec: QueueSpec{Weight: 1}}
			q := old.DeepCopy()
			old.Annotations = map[string]string{keys.QueueState: "Ajar"} // created before the annotation was validated
			q.Annotations = map[string]string{keys.QueueState: test.wish}
			for what, errs := range map[string]field.ErrorList{"new": ValidateQueue(q, nil), "updated": ValidateQueueUpdate(old, q, nil)} {
				text := fmt.Sprint(errs.ToAggregate())
				if test.says == "" && len(errs) > 0 || !strings.Contains(text, test.says) {
					t.Errorf("%s: %s, want %q", what, text, test.says)
				}
			}
		})
	}
}
