package sim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
)

// TestASuccessAfterTheMarkOfARestartDoesNotCount records a pod that succeeds between the mark of a restart and its
// deletion. The restart may create it again. Seed 5916 was once such a case.
func TestASuccessAfterTheMarkOfARestartDoesNotCount(t *testing.T) {
	for _, isMarked := range []bool{false, true} {
		c := &checks{world: &World{}, histories: map[types.UID]*jobHistory{}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "pod"}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
		if isMarked {
			pod.Annotations = map[string]string{keys.OutOfSync: "true"}
		}
		history := c.historyOf("job")
		place := history.place(replicaID{task: "main"})
		c.recordPhase(place, pod, 0)
		if counts := place.succeeded != ""; counts == isMarked {
			t.Errorf("marked %t: the success counts: %t", isMarked, counts)
		}
	}
}
