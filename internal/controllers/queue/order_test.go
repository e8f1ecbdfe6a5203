package queue

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

// backwardCommands is a cache that lists commands in the reverse order.
type backwardCommands struct{ client.Reader }

func (c backwardCommands) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := c.Reader.List(ctx, list, opts...)
	slices.Reverse(list.(*busv1alpha1.CommandList).Items)
	return err
}

// TestCommandsOfADeletedQueueAreDeletedInOrder verifies that the order does not depend on the order of a cached list.
func TestCommandsOfADeletedQueueAreDeletedInOrder(t *testing.T) {
	t.Parallel()
	var writes [][]string
	for _, backward := range []bool{false, true} {
		server := apiserver.New(testScheme(), time.Now)
		for _, name := range []string{"a", "b", "c"} {
			server.Save(&busv1alpha1.Command{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Action: string(busv1alpha1.CloseQueueAction),
				TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "gone"},
			})
		}
		api := apiserver.NewConnection(server)
		var cache client.Reader = apiserver.NewCache(server.Objects(busv1alpha1.GroupVersion.WithKind("Command"))...)
		if backward {
			cache = backwardCommands{cache}
		}
		if err := New(Options{Cache: cache, API: api.Client()}).forgetCommands(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
		writes = append(writes, api.Writes)
	}
	if diff := cmp.Diff(writes[0], writes[1]); diff != "" || len(writes[0]) != 3 {
		t.Errorf("%d writes, want 3; (-forward +backward):\n%s", len(writes[0]), diff)
	}
}

// TestAConflictIsReturnedAsAnError: the delay before the next attempt grows only after an error.
func TestAConflictIsReturnedAsAnError(t *testing.T) {
	w := newWorld()
	w.reconciler = New(Options{Cache: w.server.Cache(), API: w.api.Client(), Recorder: record.NewFakeRecorder(1000)})
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "queues"}, "a", errors.New("modified"))
	w.api.Rejected = map[string]error{"patch status of Queue a": conflict}
	if _, err := w.reconciler.Reconcile(t.Context(), requestForQueue("a")); !errors.Is(err, conflict) {
		t.Errorf("error %v, want the conflict; writes: %v", err, w.api.Writes)
	}
}
