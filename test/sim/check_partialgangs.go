package sim

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

const (
	// bindWindow is the documented time for which a gang may be bound in part: the default of gang.bind-window.
	bindWindow = 30 * time.Second
	// releaseTime is the time for the eviction at the end of the bind window: cycles, requests and watches.
	releaseTime = 5 * time.Second
	// recoveryTime is how long after a fault the scheduler has caught up and repeats what has failed.
	recoveryTime = 5 * time.Second
	// gangInterval is the interval between checks of partial gangs.
	gangInterval = time.Second
	// gangGrace is how long a gang may be bound in part after faults have stopped, whatever the reason.
	gangGrace = 2 * time.Minute
)

// partialGang is a gang of which a part is bound and that has never been complete.
type partialGang struct {
	calm time.Time // since when this is so and faults have stopped; zero before that
	// worked is for how long the scheduler has worked without faults while the gang had to release its nodes unless it became
	// complete. It starts again when the number of bound pods changes.
	worked time.Duration
	bound  int32
}

// memberCount counts the pods of a PodGroup that have not failed.
type memberCount struct {
	bound     int32 // are or were on a node
	alive     int32 // are on a node, have not ended, and are not being deleted
	kept      int32 // are not being deleted
	succeeded int32
}

// countMembers counts the pods of all PodGroups.
func (w *World) countMembers() map[types.NamespacedName]memberCount {
	counts := map[types.NamespacedName]memberCount{}
	for _, pod := range w.state.pods {
		if pod.Status.Phase == corev1.PodFailed {
			continue
		}
		name := types.NamespacedName{Namespace: pod.Namespace, Name: keys.PodGroupOf(pod.Annotations)}
		n := counts[name]
		isKept, isBound := pod.DeletionTimestamp == nil, pod.Spec.NodeName != ""
		if isKept {
			n.kept++
		}
		if isBound {
			n.bound++
		}
		if isBound && isKept && !isFinished(pod) {
			n.alive++
		}
		if pod.Status.Phase == corev1.PodSucceeded {
			n.succeeded++
		}
		counts[name] = n
	}
	return counts
}

// runAndCheckGangs runs all events up to a time, and checks partial gangs meanwhile.
func (w *World) runAndCheckGangs(end time.Time) {
	for w.violation == nil && w.now.Before(end) {
		next := w.now.Add(gangInterval)
		if next.After(end) {
			next = end
		}
		w.runUntil(next)
		w.checkPartialGangs()
	}
}

// checkPartialGangs records gangs that are bound in part, and fails if one stays so for longer than documented while the
// scheduler works, or for a long time after faults have stopped.
func (w *World) checkPartialGangs() {
	c := &w.checks
	c.recordLeader()
	if changes := len(w.changes[podKind]) + len(w.changes[groupKind]); changes != c.countedChanges {
		c.countedChanges, c.members = changes, w.countMembers()
	}
	for _, name := range slices.SortedFunc(maps.Keys(c.members), compareNames) {
		group := w.state.groups[name]
		if group == nil {
			continue
		}
		n := c.members[name]
		switch {
		case n.bound >= group.Spec.MinMember:
			c.whole[group.UID] = true
			delete(c.partial, group.UID)
		case n.alive == 0 || c.whole[group.UID]:
			delete(c.partial, group.UID)
		default:
			c.checkPartialGang(group, n)
		}
	}
}

// checkPartialGang fails if a gang that is bound in part has been so for too long.
func (c *checks) checkPartialGang(group *schedulingv1beta1.PodGroup, n memberCount) {
	w, p := c.world, c.partial[group.UID]
	if p == nil {
		p = &partialGang{}
		c.partial[group.UID] = p
	}
	if p.bound != n.bound {
		p.bound, p.worked = n.bound, 0
	}
	mayKeepNodes := n.succeeded > 0 // it would lose work
	waitsForPods := n.kept < group.Spec.MinMember
	mustRelease := !waitsForPods && !mayKeepNodes
	if mustRelease && w.now.Sub(c.disturbed) >= recoveryTime {
		p.worked += gangInterval
	}
	if w.calm && p.calm.IsZero() {
		p.calm = w.now
	}
	if p.worked > bindWindow+releaseTime {
		w.fail("%d of the %d pods that PodGroup %s needs have been bound while the scheduler has worked for %s", n.bound, group.Spec.MinMember, group.Name, p.worked)
	}
	isCalmForLong := !p.calm.IsZero() && w.now.Sub(p.calm) > gangGrace
	if isCalmForLong && !mayKeepNodes {
		w.fail("%d of the %d pods that PodGroup %s needs have been bound for %s", n.bound, group.Spec.MinMember, group.Name, gangGrace)
	}
}

// recordLeader records that a fault affects the scheduler now, or that another scheduler leads.
func (c *checks) recordLeader() {
	leader := ""
	for _, r := range c.world.replicas {
		if r.program == "scheduler" && r.leads() && r.worksNormally() {
			leader = r.process.name
		}
	}
	if leader == "" || leader != c.leader {
		c.disturbed = c.world.now
	}
	c.leader = leader
}

// worksNormally reports whether no fault affects a running replica now.
func (r *replica) worksNormally() bool {
	w, p := r.world, r.process
	switch {
	case w.serverDown, w.storageFull, r.weather != weather{}:
		return false // its requests may fail
	case len(r.lags) > 0, r.expireWatches > 0, r.lists.parts > 0, r.lists.lag > 0:
		return false // its data may be old
	case p.isPaused(), p.offset != 0:
		return false
	}
	return true
}

// recordFailedRequest records that a request of the scheduler has failed, so that it must try again.
func (c *checks) recordFailedRequest(l *link, r *apiserver.Request, err error) {
	replica := l.replica()
	isOfScheduler := replica != nil && replica.program == "scheduler"
	if err != nil && isOfScheduler && r.IsWrite() {
		c.disturbed = c.world.now
	}
}
