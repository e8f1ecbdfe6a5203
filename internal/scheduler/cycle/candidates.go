package cycle

import (
	"slices"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// AdmitCandidates admits the gangs that would start now and delay no gang with a reservation, however many gangs are
// waiting before them. Their pods do not exist yet, so each pod is assumed to request its part of minResources. The
// resources they would use count as used for the rest of the cycle. AdmitCandidates runs after action allocate has
// placed the gangs that have pods.
//
// The first gang of a queue that would not start is its head. No gang passes a head that has no reservation. A head
// that is not admitted yet is admitted, so that its pods exist in the next cycle.
func (s *Cycle) AdmitCandidates() {
	if !s.Enqueues || !s.UsesReservations() {
		return
	}
	c := &backfillers{s: s, taken: map[model.NodeID]*takenRoom{}, headed: map[*queue.Queue]bool{}, misjudged: map[*queue.Queue]int{}}
	list := c.collectGangs()
	outside := func(j *framework.Job) bool { return !j.IsAdmitted() }
	if !slices.ContainsFunc(list, outside) || len(s.KnownEndings()) == 0 {
		return
	}
	defer c.releaseHeld()
	s.SortGangs(list)
	s.insides = nil // gangs have started since these were counted
	for _, j := range list {
		switch {
		case c.headed[j.In]:
		case c.placeCandidate(j):
			if !j.IsAdmitted() {
				s.admitCandidate(j)
			}
		case !s.hasReservationBefore(j):
			c.headed[j.In] = c.admitHead(j)
		}
	}
}

// hasReservationBefore reports whether resources are reserved for a gang of the same queue that comes before j.
func (s *Cycle) hasReservationBefore(j *framework.Job) bool {
	return slices.ContainsFunc(s.Reservations, func(r *reservation.Reservation) bool { return r.Job.In == j.In && s.Rules.CompareJobs(r.Job, j) < 0 })
}

// admitHead reports whether a gang that does not fit is a head that must not be passed. This is so if its pods are
// being created, or if admitHead admits it so that they will be.
func (c *backfillers) admitHead(j *framework.Job) bool {
	if j.IsAdmitted() {
		return true
	}
	if _, never := c.s.NeverStarts(j); never || c.isVetoed(j) || !c.s.MayAdmitAhead(j, j.Verdict.Code) {
		return false
	}
	c.s.admitCandidate(j)
	return true
}

// admitCandidate admits a gang so that its pods are created.
func (s *Cycle) admitCandidate(j *framework.Job) {
	for _, enqueued := range s.Rules.Enqueued {
		enqueued(j)
	}
	s.Rules.NotifyAdmitted(j)
	j.Phase = schedulingv1beta1.PodGroupInqueue
	s.RecordAdmitted(j)
	s.SetVerdict(j, s.Rules.CheckValid(j))
}

// backfillers holds the gangs without pods that may start now, and the resources they would use.
type backfillers struct {
	s     *Cycle
	idle  resource.Vec // idle on all nodes; nil if not computed yet
	taken map[model.NodeID]*takenRoom
	held  []*framework.Job // gangs whose minResources are counted as held by their queues for now
	// headed holds the queues with a head that has no reservation yet.
	headed map[*queue.Queue]bool
	// misjudged holds, for each queue, the number of pending pods in gangs that were admitted and did not start.
	misjudged map[*queue.Queue]int
	refused   []refusedParts
}

// takenRoom holds the resources that candidates would use on a node: how much of its idle resources, and how much of
// the resources that each reservation leaves free.
type takenRoom struct {
	now    resource.Vec
	beside map[*reservation.Reservation]resource.Vec
}

// refusedParts are pods that did not fit.
type refusedParts struct {
	framework.Template
	binds uint32 // reservations that the pods had to respect, as a bit set
}

// collectGangs returns the gangs to try: the gangs that are not admitted for lack of free capacity and may fit now,
// the first gang of each queue that cannot fit, and the admitted gangs whose pods are being created.
func (c *backfillers) collectGangs() (list []*framework.Job) {
	s := c.s
	pods, large := map[*queue.Queue][]int{}, map[*queue.Queue]*framework.Job{}
	for _, j := range s.AllWaiting {
		switch {
		case !j.HasMinResources || !allowsPassing(j.In):
		case !j.IsAdmitted():
			switch {
			case !waitsForCapacity(j.Verdict.Code) || exceedsCapability(j.MinResources, j.In):
			case c.mayFit(j):
				list = append(list, j)
			case large[j.In] == nil || s.Rules.CompareJobs(j, large[j.In]) < 0:
				large[j.In] = j
			}
		case j.IsSatisfied() || len(j.Promised)+len(j.Reserved) > 0:
		case len(j.Tasks) >= j.MinMember:
			pods[j.In] = append(pods[j.In], len(j.Pending))
		case s.CouldStart(j):
			list = append(list, j)
		}
	}
	for _, j := range large {
		list = append(list, j)
	}
	for q, counts := range pods {
		c.misjudged[q] = sumBeyondLargest(counts)
	}
	return slices.DeleteFunc(list, func(j *framework.Job) bool { return !j.IsAdmitted() && c.misjudged[j.In] > maxMisjudged })
}

// allowsPassing reports whether a queue admits gangs that pass its head.
func allowsPassing(q *queue.Queue) bool { return q.AcceptsGangs() && reservation.AllowsBackfill(q) }

// mayFit reports whether all nodes together have enough idle resources for a gang's request.
func (c *backfillers) mayFit(j *framework.Job) bool {
	if c.idle == nil {
		c.idle = c.s.idleTotal()
	}
	return session.ContainsRequest(c.idle, j.MinResources)
}

// idleTotal returns the idle resources of all nodes.
func (s *Cycle) idleTotal() resource.Vec {
	total := make(resource.Vec, s.View.Nodes.Stride)
	for _, id := range s.View.Order {
		for i, v := range s.View.Nodes.Row(s.View.Idle, id) {
			total[i] = min(total[i]+max(v, 0), resource.MaxSum)
		}
	}
	return total
}

// placeCandidate records what a gang would use now and returns true, if the gang fits on the nodes and in its queue
// in addition to the reservations.
func (c *backfillers) placeCandidate(j *framework.Job) bool {
	s := c.s
	if !j.IsAdmitted() && c.isVetoed(j) {
		return false
	}
	binds := func(r *reservation.Reservation) bool { return s.IsBehind(r, j) && !s.endsByThen(j, r) }
	if s.MayHold(j.In, j.MinResources, j, nil).Code != "" || s.Rules.MustWait(j.In, j.MinResources).Code != "" {
		return false
	}
	if s.CheckReservedLimits(binds, j, j.MinResources).Code != "" {
		return false
	}
	if !c.spreadTemplates(j, binds) {
		return false
	}
	c.holdMinimum(j, 1)
	c.held = append(c.held, j)
	return true
}

// spreadTemplates finds nodes for all pods of a gang's minimum and records them. If there are not enough nodes, it
// records nothing and returns false.
func (c *backfillers) spreadTemplates(j *framework.Job, binds func(*reservation.Reservation) bool) bool {
	var bits uint32
	for i, r := range c.s.Reservations {
		if binds(r) {
			bits |= 1 << i
		}
	}
	templates, _ := j.PodTemplates()
	var noted []func()
	for i := range templates {
		d := &templates[i]
		d.Request = slices.DeleteFunc(slices.Clone(d.Request), func(t resource.Term) bool { return c.s.View.IsExcluded(int(t.Index)) })
		on, ok := []partsOn(nil), !c.isRefused(d, bits)
		if ok {
			on, ok = c.spreadPods(d, binds)
		}
		if !ok {
			if i == 0 { // it did not fail because of other pods of the gang
				c.refused = append(c.refused, refusedParts{*d, bits})
			}
			for _, undo := range noted {
				undo()
			}
			return false
		}
		for _, p := range on {
			c.countPlaced(p, d.Request, binds, 1)
			noted = append(noted, func() { c.countPlaced(p, d.Request, binds, -1) })
		}
	}
	return true
}

// isRefused reports whether equal pods have already found no nodes, although there were no more of them and they had to
// respect no reservations other than those that bind these pods.
func (c *backfillers) isRefused(d *framework.Template, binds uint32) bool {
	return slices.ContainsFunc(c.refused, func(o refusedParts) bool {
		isNoHarder := o.Count <= d.Count && o.binds&^binds == 0
		return isNoHarder && slices.Equal(o.Request, d.Request) && slices.Equal(o.Placements, d.Placements)
	})
}

// isVetoed reports whether a policy rejects the admission of a gang for a reason other than a lack of free capacity.
func (c *backfillers) isVetoed(j *framework.Job) bool {
	if c.s.Rules.CheckAdmissible(j).Code != "" || c.s.Rules.MayCreate(j).Code != "" {
		return true
	}
	return slices.ContainsFunc(c.s.Rules.Enqueueable, func(voter framework.Voter) bool {
		vote, v := voter.Vote(j)
		return vote == framework.Reject && !waitsForCapacity(v.Code)
	})
}

// holdMinimum counts a gang's minimum as held by its queue until the gang ends, which means that it counts as released
// for reservations that begin later; sign -1 reverses this.
func (c *backfillers) holdMinimum(j *framework.Job, sign float64) {
	j.In.AddAllocated(j.MinResources, sign)
	for _, r := range c.s.Reservations {
		if c.s.endsByThen(j, r) {
			r.CountEnded(j.In, j.MinResources, int64(sign))
		}
	}
}

// releaseHeld reverses holdMinimum for all candidates.
func (c *backfillers) releaseHeld() {
	for _, j := range c.held {
		c.holdMinimum(j, -1)
	}
}

// partsOn is a number of pods on a node.
type partsOn struct {
	node  model.NodeID
	count int
}

// spreadPods finds nodes for equal pods. It prefers nodes whose idle resources are reserved but may be used by gangs
// that end before the reservation begins, such as this one.
func (c *backfillers) spreadPods(d *framework.Template, binds func(*reservation.Reservation) bool) (on []partsOn, enough bool) {
	s, count := c.s, d.Count
	used := map[model.NodeID]int{}
	add := func(id model.NodeID, most int) {
		if n := min(c.countFitting(id, d, binds)-used[id], most, count); n > 0 {
			on = append(on, partsOn{id, n})
			used[id] += n
			count -= n
		}
	}
	for _, r := range s.Reservations {
		if binds(r) {
			continue
		}
		for _, id := range r.Idle {
			if count > 0 {
				add(id, count)
			}
		}
	}
	for _, id := range s.View.Order {
		if count == 0 {
			break
		}
		add(id, count)
	}
	return on, count == 0
}

// countFitting returns how many pods fit on a node now, in addition to other candidates and to the reservations that
// the pods must respect.
func (c *backfillers) countFitting(id model.NodeID, d *framework.Template, binds func(*reservation.Reservation) bool) int {
	s, each := c.s, d.Request
	if !s.AllowsTemplate(id, d) {
		return 0
	}
	taken := c.taken[id]
	idle, future := s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id)
	n := int(reservation.SlotsIn(each, idle, future))
	if taken != nil && n > 0 {
		n = slotsBeside(each, idle, future, taken.now)
	}
	for _, r := range s.Reservations {
		if row, mine := r.Room[id]; mine && n > 0 && binds(r) {
			var beside resource.Vec
			if taken != nil {
				beside = taken.beside[r]
			}
			n = min(n, slotsBeside(each, row, row, beside))
		}
	}
	return n
}

// slotsBeside is like SlotsIn, but excludes the resources that are already taken.
func slotsBeside(each resource.Request, idle, future []int64, taken resource.Vec) int {
	most := int64(reservation.SlotsIn(each, idle, future))
	for _, t := range each {
		if t.Value > 0 {
			most = min(most, (min(idle[t.Index], future[t.Index])-taken.Get(int(t.Index)))/t.Value)
		}
	}
	return int(max(most, 0))
}

// countPlaced counts pods on a node as placed; sign -1 reverses this.
func (c *backfillers) countPlaced(p partsOn, each resource.Request, binds func(*reservation.Reservation) bool, sign int64) {
	taken := c.taken[p.node]
	if taken == nil {
		taken = &takenRoom{beside: map[*reservation.Reservation]resource.Vec{}}
		c.taken[p.node] = taken
	}
	all := multiplyRequest(each, sign*int64(p.count))
	taken.now.Add(all)
	for _, r := range c.s.Reservations {
		if _, mine := r.Room[p.node]; mine && binds(r) {
			sum := taken.beside[r]
			sum.Add(all)
			taken.beside[r] = sum
		}
	}
}

// multiplyRequest returns a request multiplied by n.
func multiplyRequest(each resource.Request, n int64) resource.Request {
	all := slices.Clone(each)
	for i := range all {
		all[i].Value *= n
	}
	return all
}

// endsByThen reports whether a gang that starts now will have ended when a reservation begins.
func (s *Cycle) endsByThen(j *framework.Job, r *reservation.Reservation) bool {
	return j.Estimate > 0 && !s.Now.Add(j.Estimate).After(r.At)
}
