package sinfo

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/profile"
)

func TestAPartitionHasNoNodesThatJobsMayNotUse(t *testing.T) {
	t.Parallel()
	node := func(name, kind string) *Node {
		return &Node{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kind": kind}}}}
	}
	nodes := []*Node{node("a", "process"), node("b", "simulated"), node("c", "spare")}
	queues := []*schedulingv1beta1.Queue{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	for selector, want := range map[string]int{"": 3, "process": 1, "process,spare": 2} {
		site := &profile.Profile{}
		if selector != "" {
			site.NodeSelector = map[string]string{"kind": selector}
		}
		if p := PartitionsOf(queues, nodes, site); len(p) != 1 || len(p[0].Nodes) != want {
			t.Errorf("%q: %d partitions, the first with %d nodes, want %d", selector, len(p), len(p[0].Nodes), want)
		}
	}
}

// Every state of a node has a long name and a place in the order, and -t accepts both of its names.
func TestEveryStateOfANodeIsKnownEverywhere(t *testing.T) {
	t.Parallel()
	for short, long := range states {
		if !slices.Contains(order, short) {
			t.Errorf("%s has no place in the order", short)
		}
		asked := slices.ContainsFunc([]string{short, long}, func(word string) bool { return slices.Contains(flags[word], short) })
		if !asked && !slices.Contains(flags["planned"], short) {
			t.Errorf("nobody can ask for %s", short)
		}
		if short != long && CheckStates([]string{long}) != nil && !slices.Contains(flags["planned"], short) {
			t.Errorf("-t %s is refused", long)
		}
	}
	if len(order) != len(states) {
		t.Errorf("%d states have a place, and %d a long form", len(order), len(states))
	}
	for word, stands := range flags {
		for _, short := range stands {
			if states[short] == "" {
				t.Errorf("-t %s stands for %s, which there is not", word, short)
			}
		}
	}
}
