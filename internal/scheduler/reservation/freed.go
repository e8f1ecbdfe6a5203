package reservation

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// freedRoom holds resources that are in use now and become free before a later time. The resources of the task that
// ends last are used first, because they are not free until then. Therefore, the choice stays the same as time
// passes.
type freedRoom struct {
	s       *Planner
	endings []Ending
	// next is the number of endings processed, from the last one on.
	next int
	// left is the part of the freed resources that the round has not used.
	left map[model.NodeID]resource.Vec
	// at holds, for each shape, the first ending whose node may have free resources for pods of the shape.
	at map[*model.Shape]int
	// took holds the tasks that use these resources.
	took map[*model.Task]bool
}

func (s *Planner) newFreedRoom(endings []Ending) *freedRoom {
	return &freedRoom{s: s, endings: endings, left: map[model.NodeID]resource.Vec{}, at: map[*model.Shape]int{}, took: map[*model.Task]bool{}}
}

// Reset drops the record of what a round used.
func (f *freedRoom) Reset() {
	f.next = 0
	clear(f.left)
	clear(f.at)
	clear(f.took)
}

// nodeOfEnding returns the node of the i-th ending from the last one on, and processes that ending.
func (f *freedRoom) nodeOfEnding(i int) (id model.NodeID, ok bool) {
	if i == len(f.endings) {
		return model.NoNode, false
	}
	e := &f.endings[len(f.endings)-1-i]
	if i == f.next {
		f.next++
		if !e.Promised { // otherwise the task holds no resources yet
			sum := f.left[e.Node]
			sum.Add(e.Task.Shape.Request)
			f.left[e.Node] = sum
		}
	}
	return e.Node, true
}

// FindNode returns a node where a task fits into the resources that become free.
func (f *freedRoom) FindNode(j *framework.Job, t *model.Task) (model.NodeID, bool) {
	for i := f.at[t.Shape]; ; i++ {
		id, ok := f.nodeOfEnding(i)
		f.at[t.Shape] = i
		if !ok {
			return model.NoNode, false
		}
		if session.ContainsRequest(f.left[id], t.Shape.Request) && f.s.FitsOn(j, t, id) {
			f.left[id].Sub(t.Shape.Request)
			f.took[t] = true
			return id, true
		}
	}
}

// firstEndingTime returns the time of the first ending whose resources are used.
func (f *freedRoom) firstEndingTime() time.Time {
	if f.next == 0 {
		return time.Time{}
	}
	return f.endings[len(f.endings)-f.next].At
}

// otherNodes returns the nodes of the tasks that use other resources.
func (f *freedRoom) otherNodes(placed []framework.Placed) (nodes []model.NodeID) {
	for _, p := range placed {
		if !f.took[p.Task] && !slices.Contains(nodes[max(len(nodes)-1, 0):], p.Node) {
			nodes = append(nodes, p.Node)
		}
	}
	return nodes
}
