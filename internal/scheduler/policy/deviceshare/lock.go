package deviceshare

import (
	"strconv"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
)

// allocating is the bind phase of a pod until the device plugin, which changes the phase, has allocated its devices.
const allocating = "allocating"

// When the kubelet requests devices, the device plugin identifies the pod only by its bind phase. Therefore, if
// deviceshare.NodeLockEnable is set, a node accepts only one such pod at a time. The lock is not stored, because it can
// be derived from the pods.

// updateLocks updates the time until which each node is allocating devices, and wakes the gangs that are waiting for an
// allocation to end.
func (p *Policy) updateLocks() {
	nodes := &p.s.Cluster.Nodes
	p.locks.Update(p.s.Cluster, func(id model.NodeID) (until time.Time) {
		for _, t := range nodes.Tasks[id] {
			at, is := isAllocatingDevices(t)
			if at.After(p.s.Now) { // the clocks differ or the value is invalid; do not block the node for longer
				at = p.s.Now
			}
			if is && at.Add(lockTime).After(until) {
				until = at.Add(lockTime)
			}
		}
		return until
	}, func(id model.NodeID, old, now time.Time) {
		if !old.IsZero() && now.IsZero() {
			p.s.View.MarkChanged(id, true)
		}
	})
	for id, until := range p.locks.Values {
		switch {
		case until.IsZero():
		case p.s.Now.Before(until):
			p.s.WakeAt(until)
		default: // the devices were never allocated
			p.locks.Values[id] = time.Time{}
			p.s.View.MarkChanged(model.NodeID(id), true)
		}
	}
}

// isAllocatingDevices reports whether a task is waiting for its devices, and since when it has been waiting.
func isAllocatingDevices(t *model.Task) (since time.Time, is bool) {
	if t.Annotations[keys.DeviceBindPhase] != allocating || (t.Status != model.Binding && t.Status != model.Bound) {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(t.Annotations[keys.DeviceBindTime], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0), true
}

// isAllocatingNode reports whether a node is allocating devices to another pod, which may have been placed in this
// cycle.
func (p *Policy) isAllocatingNode(id model.NodeID, n *node) bool {
	if int(id) < len(p.locks.Values) && p.s.Now.Before(p.locks.Values[id]) {
		return true
	}
	for i := range n.vgpu {
		for k := range n.vgpu[i].holders {
			if h := &n.vgpu[i].holders[k]; !h.promised && p.grants[h.task] != nil {
				return true
			}
		}
	}
	return false
}
