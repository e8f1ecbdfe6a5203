package scheduler

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
)

// TestTheTimeOfAHyperNodeIsThatOfItsLastTransition adds a node to a HyperNode that was ready before.
func TestTheTimeOfAHyperNodeIsThatOfItsLastTransition(t *testing.T) {
	t.Parallel()
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(clustertest.HyperNode("rack", 1, topologyv1alpha1.MemberTypeNode, "a", "b"), model.NodeFrom(make.Node("a").CPU("4").Obj()))
	c.Apply(clustertest.HyperNode("row", 2, topologyv1alpha1.MemberTypeHyperNode, "rack"))
	now := make.Epoch
	statusAfter := func(changes ...model.Delta) decision.HyperNodeStatus {
		t.Helper()
		now = now.Add(time.Minute)
		c.Apply(changes...)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
		for _, status := range d.HyperNodes {
			if status.HyperNode == "rack" {
				return status
			}
		}
		t.Fatal("no status is written")
		return decision.HyperNodeStatus{}
	}
	first := statusAfter()
	if first.NodeCount != 1 || !first.Ready.LastTransitionTime.Equal(new(metav1.NewTime(now))) {
		t.Fatalf("at %v: %+v", now, first)
	}
	second := statusAfter(model.NodeFrom(make.Node("b").CPU("4").Obj()))
	if second.NodeCount != 2 || !second.Ready.LastTransitionTime.Equal(&first.Ready.LastTransitionTime) {
		t.Errorf("with another node: %+v, want the time %v", second, first.Ready.LastTransitionTime)
	}
}
