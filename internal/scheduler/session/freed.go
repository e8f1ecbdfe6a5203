package session

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// freedRoom holds resources that are in use now and become free before a later time. What ends last is used first,
// because it is not free until then. Thus the choice stays the same while time passes.
type freedRoom struct {
	endings []Ending
	// next is the number of endings processed, from the last one on.
	next int
	// left is the part of their resources that the round has not used.
	left map[model.NodeID]model.Vec
	// at is, by shape, the first ending whose node may have room for pods of the shape.
	at map[*model.Shape]int
	// took holds the tasks that use these resources.
	took map[*model.Task]bool
}

func newFreedRoom(endings []Ending) *freedRoom {
	return &freedRoom{endings: endings, left: map[model.NodeID]model.Vec{}, at: map[*model.Shape]int{}, took: map[*model.Task]bool{}}
}

// reset drops what a round used.
func (f *freedRoom) reset() {
	if f != nil {
		f.next = 0
		clear(f.left)
		clear(f.at)
		clear(f.took)
	}
}

// nodeOfEnding returns the node of the i-th ending from the last one on, and processes that ending.
func (f *freedRoom) nodeOfEnding(i int) (id model.NodeID, ok bool) {
	if i == len(f.endings) {
		return model.NoNode, false
	}
	e := &f.endings[len(f.endings)-1-i]
	if i == f.next {
		f.next++
		if !e.promised { // otherwise it holds no resources yet
			sum := f.left[e.Node]
			sum.Add(e.Task.Shape.Request)
			f.left[e.Node] = sum
		}
	}
	return e.Node, true
}

// findNode returns a node where a task fits into the resources that become free.
func (f *freedRoom) findNode(r *round, t *model.Task) (model.NodeID, bool) {
	if f == nil || r.s.scope != nil {
		return model.NoNode, false
	}
	for i := f.at[t.Shape]; ; i++ {
		id, ok := f.nodeOfEnding(i)
		f.at[t.Shape] = i
		if !ok {
			return model.NoNode, false
		}
		if containsRequest(f.left[id], t.Shape.Request) && r.s.fitsOn(r.job, t, id) {
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

// maxLendable bounds the nodes of a reservation that are tried for one task.
const maxLendable = 256

// findLentNode returns a node whose idle resources are reserved and can be used only by tasks that end before the
// reservation begins, as this task does. Resources elsewhere then stay available to tasks that run longer.
func (r *round) findLentNode(t *model.Task) (model.NodeID, bool) {
	s := r.s
	if len(s.Reservations) == 0 || r.freed != nil || s.scope != nil || s.isEvicting() || t.Shape.Preferred != nil {
		return model.NoNode, false
	}
	for _, kept := range s.Reservations {
		if !s.isBehind(kept, r.job) || s.restrictsTask(kept, r.job, t) {
			continue
		}
		for _, id := range kept.idle[:min(len(kept.idle), maxLendable)] {
			if !fitsRow(t.Shape.Request, kept.room[id]) && s.fitsOn(r.job, t, id) {
				return id, true
			}
		}
	}
	return model.NoNode, false
}

// fitsOn reports whether a task may start on a node now.
func (s *Session) fitsOn(j *framework.Job, t *model.Task, id model.NodeID) bool {
	if s.View.Rank[id] < 0 || !s.View.FitsNow(id, t.Shape.Request) || !s.Judge.IsAllowed(t.Shape, id) {
		return false
	}
	if len(t.Shape.Ports) > 0 && !s.View.HasFreePorts(id, t.Shape.Ports, false) {
		return false
	}
	if near := s.Neighbours.ProfileFor(t); near != nil {
		if code, _ := near.CheckNode(id, false); code != "" {
			return false
		}
	}
	code, _ := checkRules(s.nodeRules(j, t), j, t, id, false)
	return code == ""
}

// containsRequest reports whether an amount contains a request.
func containsRequest(amount model.Vec, request model.Request) bool {
	for _, t := range request {
		if amount.Get(int(t.Index)) < t.Value {
			return false
		}
	}
	return true
}
