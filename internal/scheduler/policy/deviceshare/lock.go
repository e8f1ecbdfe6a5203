package deviceshare

import (
	"strconv"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
)

// allocating is the bind-phase of a pod whose devices the plugin has not handed
// out yet; the plugin changes it.
const allocating = "allocating"

// A device plugin learns which pod a request of the kubelet is for by looking for
// the one that is allocating. So with deviceshare.NodeLockEnable a node takes one
// such pod at a time. The lock is not written: it follows from the pods.

// followLocks keeps until when nodes hand out devices, and wakes those who wait
// for it.
func (p *Policy) followLocks() {
	nodes := &p.s.Cluster.Nodes
	p.locks.Update(p.s, func(id model.NodeID) (until time.Time) {
		for _, t := range nodes.Tasks[id] {
			at, is := handingOut(t)
			if at.After(p.s.Now) { // by another clock, or by nobody's: a node is not lost for it
				at = p.s.Now
			}
			if is && at.Add(lockTime).After(until) {
				until = at.Add(lockTime)
			}
		}
		return until
	}, func(id model.NodeID, old, now time.Time) {
		if !old.IsZero() && now.IsZero() {
			p.s.View.Stir(id, true)
		}
	})
	for id, until := range p.locks.Values {
		switch {
		case until.IsZero():
		case p.s.Now.Before(until):
			p.s.WakeAt(until)
		default: // it never was handed out
			p.locks.Values[id] = time.Time{}
			p.s.View.Stir(model.NodeID(id), true)
		}
	}
}

// handingOut says whether a task waits for its devices, and since when.
func handingOut(t *model.Task) (since time.Time, is bool) {
	if t.Annotations[keys.DeviceBindPhase] != allocating || t.Status != model.Binding && t.Status != model.Bound {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(t.Annotations[keys.DeviceBindTime], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0), true
}

// locked says whether a node hands out devices to another pod, one of this cycle
// included.
func (p *Policy) locked(id model.NodeID, n *node) bool {
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
