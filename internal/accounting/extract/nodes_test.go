package extract

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
)

var december = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// testNode returns a node with 4 CPUs whose readiness changed at a time.
func testNode(name string, ready corev1.ConditionStatus, since time.Time) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), "example.com/gpu": resource.MustParse("0")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(since)}},
		},
	}
}

// nodeAt returns a change of a node with 4 CPUs.
func nodeAt(name string, at time.Time, state accounting.NodeState, reason string) accounting.NodeChange {
	return accounting.NodeChange{Cluster: "east", Node: name, Time: at, State: state, Reason: reason, Capacity: accounting.Resources{accounting.CPU: 4000, accounting.Nodes: 1}}
}

func TestChangesOfNodes(t *testing.T) {
	t.Parallel()
	now := december.Add(12*time.Hour + 500*time.Millisecond)
	noon, minute := december.Add(12*time.Hour), time.Minute
	cordoned := testNode("a", corev1.ConditionTrue, december)
	cordoned.Spec.Unschedulable = true
	drained := cordoned
	drained.Annotations = map[string]string{keys.DrainReason: "bad disk"}
	larger := testNode("a", corev1.ConditionTrue, december)
	larger.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("8")
	more := nodeAt("a", noon, accounting.NodeUp, "")
	more.Capacity[accounting.CPU] = 8000
	gone := accounting.NodeChange{Cluster: "east", Node: "a", Time: noon, State: accounting.NodeGone}
	up, down := corev1.ConditionTrue, corev1.ConditionUnknown
	for name, test := range map[string]struct {
		last *accounting.NodeChange
		node *corev1.Node
		now  time.Time
		want []accounting.NodeChange
	}{
		"a new node":                  {node: new(testNode("a", up, december)), want: []accounting.NodeChange{nodeAt("a", noon, accounting.NodeUp, "")}},
		"no change":                   {last: new(nodeAt("a", december, accounting.NodeUp, "")), node: new(testNode("a", up, december))},
		"down since a minute":         {last: new(nodeAt("a", december, accounting.NodeUp, "")), node: new(testNode("a", down, noon.Add(-minute))), want: []accounting.NodeChange{nodeAt("a", noon.Add(-minute), accounting.NodeDown, "NodeStatusUnknown")}},
		"up again since a minute":     {last: new(nodeAt("a", december, accounting.NodeDown, "x")), node: new(testNode("a", up, noon.Add(-minute))), want: []accounting.NodeChange{nodeAt("a", noon.Add(-minute), accounting.NodeUp, "")}},
		"cordoned":                    {last: new(nodeAt("a", december, accounting.NodeUp, "")), node: &cordoned, want: []accounting.NodeChange{nodeAt("a", noon, accounting.NodeDrained, "Cordoned")}},
		"more CPUs":                   {last: new(nodeAt("a", december, accounting.NodeUp, "")), node: &larger, want: []accounting.NodeChange{more}},
		"removed":                     {last: new(nodeAt("a", december, accounting.NodeUp, "")), want: []accounting.NodeChange{gone}},
		"still removed":               {last: &gone},
		"created again":               {last: &gone, node: new(testNode("a", up, december)), want: []accounting.NodeChange{nodeAt("a", noon.Add(time.Second), accounting.NodeUp, "")}},
		"drained for a reason":        {last: new(nodeAt("a", december, accounting.NodeUp, "")), node: &drained, want: []accounting.NodeChange{nodeAt("a", noon, accounting.NodeDrained, "bad disk")}},
		"changed again in the second": {last: new(nodeAt("a", noon, accounting.NodeUp, "")), node: &cordoned, want: []accounting.NodeChange{nodeAt("a", noon.Add(time.Second), accounting.NodeDrained, "Cordoned")}},
		"a new month":                 {last: new(nodeAt("a", december.Add(-minute), accounting.NodeUp, "")), node: new(testNode("a", up, december.Add(-minute))), want: []accounting.NodeChange{nodeAt("a", december, accounting.NodeUp, "")}},
		"a change in a new month": {last: new(nodeAt("a", december.Add(-minute), accounting.NodeUp, "")), node: &cordoned, want: []accounting.NodeChange{
			nodeAt("a", december, accounting.NodeUp, ""), nodeAt("a", noon, accounting.NodeDrained, "Cordoned"),
		}},
		"down since the last month": {last: new(nodeAt("a", december.Add(-time.Hour), accounting.NodeUp, "")), node: new(testNode("a", down, december.Add(-minute))), want: []accounting.NodeChange{
			nodeAt("a", december.Add(-minute), accounting.NodeDown, "NodeStatusUnknown"), nodeAt("a", december, accounting.NodeDown, "NodeStatusUnknown"),
		}},
		"down since the beginning of the month": {last: new(nodeAt("a", december.Add(-time.Hour), accounting.NodeUp, "")), node: new(testNode("a", down, december)), want: []accounting.NodeChange{
			nodeAt("a", december, accounting.NodeDown, "NodeStatusUnknown"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := map[string]accounting.NodeChange{}
			if test.last != nil {
				known["a"] = *test.last
			}
			var nodes []corev1.Node
			if test.node != nil {
				nodes = append(nodes, *test.node)
			}
			if diff := cmp.Diff(test.want, NodeChanges("east", known, nodes, now)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChangesOfNodesAreRecordedOnce applies the changes of a node, at random times, to what is known.
func TestChangesOfNodesAreRecordedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		known, now := map[string]accounting.NodeChange{}, december.Add(-36*time.Hour)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 12*3600).Draw(t, "seconds")) * time.Second)
			var nodes []corev1.Node
			if rapid.IntRange(0, 4).Draw(t, "exists") > 0 {
				status := rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionUnknown}).Draw(t, "ready")
				node := testNode("a", status, now.Add(-time.Duration(rapid.IntRange(0, 7200).Draw(t, "since"))*time.Second))
				node.Spec.Unschedulable = rapid.Bool().Draw(t, "cordoned")
				nodes = append(nodes, node)
			}
			for _, change := range NodeChanges("east", known, nodes, now) {
				if last, ok := known["a"]; ok && !change.Time.After(last.Time) {
					t.Fatalf("change %v follows %v", change, last)
				}
				known["a"] = change
			}
			if len(nodes) > 0 && known["a"].Time.Before(accounting.Month.Start(now)) {
				t.Fatalf("no change in the month of %v: %v", now, known)
			}
			if again := NodeChanges("east", known, nodes, now); len(again) > 0 {
				t.Fatalf("changes %v are repeated: %v", known, again)
			}
		}
	})
}
