package recorder

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
)

// TestChangesOfNodesAreRecordedAcrossRestarts cordons a node while no recorder runs, and removes it.
func TestChangesOfNodesAreRecordedAcrossRestarts(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	w := newWorld(t, 1<<20, node)
	database := "sqlite:" + t.TempDir()
	storage := NewStorage(w.spool, func(ctx context.Context) (accounting.Store, error) { return store.Open(ctx, database) }, Retention{}, logr.Discard())
	defer storage.Close()
	start := func() *NodeRecorder {
		return &NodeRecorder{Cache: w.Cache, Cluster: "prod", Spool: w.spool, Storage: storage, Log: logr.Discard()}
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	if err := start().recordChanges(t.Context(), now); err == nil {
		t.Error("changes are recorded although the database is not open and the earlier changes are unknown")
	}
	if _, err := storage.openStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	record := func(r *NodeRecorder, hours int) {
		t.Helper()
		if err := r.recordChanges(t.Context(), now.Add(time.Duration(hours)*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for isEmpty := false; !isEmpty; {
			var err error
			if isEmpty, err = storage.storeOldest(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := start()
	record(first, 0)
	record(first, 1)
	changed := node.DeepCopy()
	changed.Spec.Unschedulable = true
	w.server.Save(changed)
	second := start()
	record(second, 2)
	record(second, 13) // the next month
	if err := w.server.Client().Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	record(second, 14)
	type change struct {
		hours int
		state accounting.NodeState
	}
	opened, err := storage.Store()
	if err != nil {
		t.Fatal(err)
	}
	all, err := opened.NodeChanges(t.Context(), nil, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var got []change
	for _, c := range all {
		got = append(got, change{int(c.Time.Sub(now).Hours()), c.State})
	}
	want := []change{{0, accounting.NodeUp}, {2, accounting.NodeDrained}, {12, accounting.NodeDrained}, {14, accounting.NodeGone}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(change{})); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
