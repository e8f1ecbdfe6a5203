package overlay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestRollback takes, promises, evicts and withdraws at random and rolls back. Every value must equal its earlier
// value, and a reader of the change log must see every row that changed since it last read.
func TestRollback(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c := model.New()
		for i := range 4 {
			c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU("8").Obj()))
		}
		var tasks []*model.Task
		for i := range 6 {
			name := fmt.Sprintf("p%d", i)
			p := make.Pod(name).CPU(fmt.Sprint(1 + i%3)).On(fmt.Sprintf("n%d", i%4))
			if i%2 == 0 {
				p.HostPort(int32(80 + i))
			}
			c.Apply(model.TaskFrom(p.Obj(), true))
			tasks = append(tasks, c.Task(types.UID("pod-"+name)))
		}
		var o Overlay
		o.Sync(c)
		mirror := append([]int64(nil), o.Idle...)
		position := o.Changes.EndPosition()
		type saved struct {
			mark         int
			idle, future []int64
			ports        int
		}
		var marks []saved
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			id := model.NodeID(rapid.IntRange(0, 3).Draw(t, "node"))
			task := tasks[rapid.IntRange(0, 5).Draw(t, "task")]
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1:
				o.AssignIdle(id, task)
			case 2:
				o.PromiseReleasing(id, task)
			case 3:
				o.EvictTask(task.Node, task)
			case 4:
				o.WithdrawPromise(id, task)
			case 5:
				marks = append(marks, saved{o.Mark(), append([]int64(nil), o.Idle...), append([]int64(nil), o.Future...), len(o.ports)})
			case 6:
				if len(marks) == 0 {
					continue
				}
				m := marks[len(marks)-1]
				marks = marks[:len(marks)-1]
				o.Rollback(m.mark)
				if diff := cmp.Diff(m.idle, o.Idle) + cmp.Diff(m.future, o.Future); diff != "" || len(o.ports) != m.ports {
					t.Fatalf("after rollback (-then +now), %d and %d ports:\n%s", m.ports, len(o.ports), diff)
				}
			case 7:
				if !o.Changes.EachChangedSince(position, func(id model.NodeID) {
					copy(o.Nodes.Row(mirror, id), o.Nodes.Row(o.Idle, id))
				}) {
					copy(mirror, o.Idle)
				}
				position = o.Changes.EndPosition()
				if diff := cmp.Diff(mirror, o.Idle); diff != "" {
					t.Fatalf("the log missed a change:\n%s", diff)
				}
			}
		}
		o.Sync(c)
		var fresh Overlay
		fresh.Sync(c)
		if diff := cmp.Diff(fresh.Idle, o.Idle) + cmp.Diff(fresh.Future, o.Future); diff != "" {
			t.Fatalf("Sync does not bring the model back:\n%s", diff)
		}
	})
}
