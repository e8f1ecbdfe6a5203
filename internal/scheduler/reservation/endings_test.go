package reservation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestFreshEndingsReplaceThoseOfChangedNodes compares the merge of the log with a sort of all endings.
func TestFreshEndingsReplaceThoseOfChangedNodes(t *testing.T) {
	const nodes = 4
	propertytest.Check(t, 2000, func(t *rapid.T) {
		made := 0
		draw := func(node int, what string) (list []Ending) {
			for range rapid.IntRange(0, 3).Draw(t, what) {
				made++
				at := make.Epoch.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "at")) * time.Minute)
				list = append(list, Ending{At: at, Node: model.NodeID(node), Task: &model.Task{Name: fmt.Sprintf("p%03d", made)}})
			}
			return list
		}
		l := &EndingLog{changed: []bool{}}
		var want []Ending
		for node := range nodes {
			old := draw(node, "old")
			l.list = append(l.list, old...)
			l.changed = append(l.changed, rapid.Bool().Draw(t, "changed"))
			if l.changed[node] {
				fresh := draw(node, "fresh")
				l.fresh, want = append(l.fresh, fresh...), append(want, fresh...)
			} else {
				want = append(want, old...)
			}
		}
		for _, list := range [][]Ending{l.list, l.fresh, want} {
			slices.SortFunc(list, compareEndings)
		}
		l.mergeFresh()
		if !slices.Equal(l.list, want) {
			t.Fatalf("merged %v, want %v", l.list, want)
		}
	})
}
