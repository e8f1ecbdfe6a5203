package placement

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/model"
)

// TestLeavesAreFilledFromTheSmallestSubtreeThatFits has a row "a" of two racks with 2 slots each, and a row "b" with a
// rack of 3 slots and a full one.
func TestLeavesAreFilledFromTheSmallestSubtreeThatFits(t *testing.T) {
	t.Parallel()
	shape := &model.Shape{}
	var names []string
	var slots []int
	leaf := func(name string, n int) *model.Domain {
		d := &model.Domain{Own: []model.NodeID{0}, Index: len(slots)}
		d.Leaves = []*model.Domain{d}
		names, slots = append(names, name), append(slots, n)
		return d
	}
	above := func(parts ...*model.Domain) *model.Domain {
		d := &model.Domain{Children: parts}
		for _, part := range parts {
			d.Leaves = append(d.Leaves, part.Leaves...)
		}
		return d
	}
	a := above(leaf("a0", 2), leaf("a1", 2))
	b := above(leaf("b0", 3), leaf("b1", 0))
	all := above(a, b)
	for name, c := range map[string]struct {
		pods int
		mine map[*model.Domain]int
		want string
	}{
		"both rows fit":                               {3, nil, "b0 b1 a0 a1"},
		"only the larger row fits":                    {4, nil, "a0 a1 b0 b1"},
		"no row fits":                                 {6, nil, "a0 a1 b0 b1"},
		"the gang has a pod in the larger row":        {3, map[*model.Domain]int{all: 1, a: 1, a.Children[1]: 1}, "a1 a0 b0 b1"},
		"no pod waits, so the larger rooms are first": {0, nil, "a0 a1 b0 b1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &round{slots: map[*model.Shape][]int{shape: slots}}
			var leaves []*model.Domain
			r.orderLeaves(all, shape, c.pods, c.mine, &leaves)
			var got []string
			for _, d := range leaves {
				got = append(got, names[d.Index])
			}
			if order := strings.Join(got, " "); order != c.want {
				t.Errorf("order %s, want %s", order, c.want)
			}
		})
	}
}
