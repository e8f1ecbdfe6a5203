package session

import "github.com/vc-batch/vc/internal/model"

// refusals holds, by NodeID, the nodes that rules rejected for a task within one try.
type refusals struct {
	like  *model.Task // a task of the same shape and run time
	stamp uint32
	at    []uint32
}

// resetForTask returns the rejections for a task. Equal tasks use the same rejections.
func (r *refusals) resetForTask(t *model.Task, nodes int) *refusals {
	if len(r.at) < nodes {
		r.at = append(r.at, make([]uint32, nodes-len(r.at))...)
	}
	if r.like == nil || r.like.Shape != t.Shape || r.like.RunTime() != t.RunTime() {
		r.like = t
		r.stamp++
	}
	return r
}

// startTry drops the rejections, because another try starts.
func (r *refusals) startTry() { r.like = nil }

func (r *refusals) isRefusedNode(id model.NodeID) bool { return r != nil && r.at[id] == r.stamp }

func (r *refusals) addRefused(id model.NodeID) {
	if r != nil {
		r.at[id] = r.stamp
	}
}
