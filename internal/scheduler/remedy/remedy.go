// Package remedy finds out what would help a waiting gang: the smallest changes to the gang, its queue or the cluster
// with which the gang would start now.
//
//	In:   a session after its actions have run, and a waiting gang of it
//	Out:  explain.Help, at most eight
//
// It simulates each change on the session and undoes it. The changes are a lower minimum, smaller pods, other nodes,
// another queue, a greater capability, a higher priority, a shorter run time, and the creation of a missing object.
//
// # Invariants
//
//   - A change is returned only if the gang starts with it in a simulated round.
//   - The model is never changed, and the session is restored after each simulation.
package remedy

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

const (
	maxHelps       = 8
	maxOtherQueues = 8
)

// finder tries changes for one gang.
type finder struct {
	s   *cycle.Cycle
	j   *framework.Job
	v   explain.Verdict
	out []explain.Help
	// request is the total request of the gang's waiting pods.
	request resource.Request

	house int                             // where pods that do not exist yet must fit; see equalPartsFit
	ahead map[*queue.Queue]*framework.Job // first blocking gang of each strict queue: see isBlockedInLine
	// lends caches, for each division of the cluster, whether no other gang needs the free resources within its
	// queue's share.
	lends map[uint64]bool
}

func (f *finder) addHint(kind, subject, from, to string) {
	f.out = append(f.out, explain.Help{Kind: kind, Subject: subject, From: from, To: to})
}

// hasPodsToTry reports whether the gang has pods to try in an open queue.
func (f *finder) hasPodsToTry() bool {
	return len(f.j.Pending) > 0 && f.s.IsTryable(f.j)
}

// wouldGetPods reports whether the gang would start, or would get one more pod if it has its minimum. It undoes
// everything it tries.
func (f *finder) wouldGetPods() bool {
	if !f.j.IsAdmitted() && f.s.Rules.CheckAdmissible(f.j).Code != "" {
		return false
	}
	if !f.j.IsAdmitted() && f.j.HasMinResources && f.s.MayEnqueue(f.j).Code != "" {
		return false
	}
	if f.isBlockedInLine() {
		return false
	}
	if f.s.Rules.CheckOverused(f.j.In).Code == "" && f.fitsWithinLimits(placement.Share) {
		return true
	}
	return f.mayBorrow() && f.fitsWithinLimits(placement.Capability)
}

// mayBorrow reports whether the gang may use resources beyond its queue's share. This requires that the gang needs
// more than the share, and that no other gang could start that needs no more than its own queue's share.
func (f *finder) mayBorrow() bool {
	j := f.j
	if j.Need() == 0 || f.s.CompareWithShare(j, framework.SumRequests(j.MinimumTasks())) != cycle.MoreThanShare {
		return false
	}
	division := f.s.Ledger.Division
	lends, known := f.lends[division]
	if !known {
		lends = !slices.ContainsFunc(f.s.AllWaiting, f.mayUseShare)
		f.s.Looked += len(f.s.AllWaiting) / waitingPerTrial
		if f.lends == nil {
			f.lends = map[uint64]bool{}
		}
		f.lends[division] = lends
	}
	return lends
}

// waitingPerTrial is how many waiting gangs can be compared with their shares in the time that it takes to place one
// pod.
const waitingPerTrial = 16

// competesForNodes reports whether another gang is waiting for nodes, either for its minimum or for more.
func (f *finder) competesForNodes(o *framework.Job) bool {
	isOther := o != nil && o != f.j
	return isOther && (o.WaitsToStart() || o.WantsMore())
}

// mayUseShare reports whether another gang may get nodes within its queue's share, now or after a simulated change. A
// gang that is not admitted yet may be admitted after the change.
func (f *finder) mayUseShare(o *framework.Job) bool {
	if !f.competesForNodes(o) || !f.s.IsTryable(o) || o.HasResources() {
		return false
	}
	return f.s.CompareWithShare(o, o.MinimumRequest()) == cycle.WithinShare && (!o.IsAdmitted() || f.s.CouldStart(o))
}

// fitsWithinLimits reports whether the gang would be placed within some limits of its queue. It undoes the placement.
func (f *finder) fitsWithinLimits(limits placement.Limits) bool {
	restoreMinimum := f.j.SaveMinimum() // the cached minimum may be replaced by that of clones
	defer restoreMinimum()
	fits, placed := f.s.WouldStart(f.j, limits)
	f.s.Looked += placed + 1
	return fits
}

// tryFewerMembers finds the greatest minimum that fits. For a gang whose tasks have minimums of their own, it lowers
// the minimum of one task only, so that the other tasks keep theirs.
func (f *finder) tryFewerMembers() {
	j := f.j
	if !f.hasPodsToTry() || len(j.SubGroups) > 0 {
		return
	}
	if j.HasRoleMinimums() && f.tryFewerOfTask() {
		return
	}
	minimum := j.MinMember
	low := bisectGreatest(max(j.ReadyTasks(), 0), minimum, func(n int) bool {
		j.MinMember = n
		return f.wouldGetPods()
	})
	j.MinMember = minimum
	j.ForgetMinimum()
	if low > max(j.ReadyTasks(), 0) {
		f.addHint(schedulingv1beta1.HelpFewerMembers, "", strconv.Itoa(minimum), strconv.Itoa(low))
	}
}

// bisectGreatest returns the greatest number between low and high for which fits is true, by bisection. It assumes that
// low fits and high does not.
func bisectGreatest(low, high int, fits func(int) bool) int {
	for low+1 < high {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// tryFewerOfTask looks for a task whose minimum could be lowered so that the gang would start. It adds a hint and
// returns true if it finds one. It tries the task with the greatest minimum first.
func (f *finder) tryFewerOfTask() bool {
	j := f.j
	minimum, minimums, needs := j.MinMember, j.MinTaskMember, j.RoleNeeds()
	tasks := slices.SortedFunc(maps.Keys(needs), func(a, b string) int { return cmp.Or(minimums[b]-minimums[a], strings.Compare(a, b)) })
	for _, task := range tasks {
		asked := minimums[task]
		held := asked - needs[task]
		low := bisectGreatest(held, asked, func(n int) bool {
			j.MinTaskMember = maps.Clone(minimums)
			j.MinTaskMember[task], j.MinMember = n, minimum-asked+n
			return f.wouldGetPods()
		})
		j.MinTaskMember, j.MinMember = minimums, minimum
		j.ForgetMinimum()
		if low > max(held, 0) {
			f.addHint(schedulingv1beta1.HelpFewerMembers, task, strconv.Itoa(asked), strconv.Itoa(low))
			return true
		}
	}
	return false
}

// startsWithChange reports whether the gang would start if its pods' shapes were changed. It reports false if the
// change affects a pod whose placement depends on other pods or on volumes, because such a change cannot be simulated.
func (f *finder) startsWithChange(change func(*podshape.Spec, resource.Request) resource.Request) bool {
	return f.startsWithShapes(func(shape *model.Shape) *model.Shape {
		v, ok := shape.ChangedCopy(change)
		switch {
		case ok:
			return v
		case shape.Impossible || !shape.IsChangedBy(change):
			return shape
		}
		return nil
	})
}

// startsWithShapes reports whether the gang would start if its tasks had the shapes that change returns. It reports
// false if change returns nil, which means that there is no such shape.
func (f *finder) startsWithShapes(change func(*model.Shape) *model.Shape) bool {
	pending := f.j.Pending
	variants := map[*model.Shape]*model.Shape{}
	clones := make([]*model.Task, len(pending))
	for i, t := range pending {
		v, known := variants[t.Shape]
		if !known {
			v = f.sharedShape(change(t.Shape), variants)
			variants[t.Shape] = v
		}
		if v == nil {
			return false
		}
		clone := *t
		clone.Shape = v
		clones[i] = &clone
	}
	return f.startsWithTasks(clones)
}

// startsWithTasks reports whether the gang would start if clones replaced its pending tasks. Each clone takes the place
// of the task with the same index, also in the gang's sub-groups.
func (f *finder) startsWithTasks(clones []*model.Task) bool {
	restore := f.j.ReplacePending(clones)
	defer restore()
	return f.wouldGetPods()
}

// sharedShape returns an existing shape that equals v, or v itself if none exists. Pods that become equal therefore
// have the same shape and are placed together, as they would be in a real cycle. It returns nil if v is nil.
func (f *finder) sharedShape(v *model.Shape, variants map[*model.Shape]*model.Shape) *model.Shape {
	if v == nil {
		return nil
	}
	same := func(o *model.Shape) bool { return o != nil && o.Key == v.Key && slices.Equal(o.Request, v.Request) }
	if known := f.s.Cluster.ShapeWithKey(v.Key); same(known) {
		return known
	}
	for _, t := range f.j.Pending {
		if o := variants[t.Shape]; same(o) {
			return o
		}
	}
	return v
}

// trySmallerPods finds the greatest request for a scarce resource with which the gang would start. It changes only the
// pods whose request is too large.
func (f *finder) trySmallerPods() {
	if !f.hasPodsToTry() {
		return
	}
	for _, index := range f.scarceResources() {
		for _, asked := range f.requestedAmounts(index) {
			if f.trySmallerRequest(index, asked) {
				return
			}
		}
	}
}

// requestedAmounts returns the different amounts of a resource that the gang's pods request. The amount of the pod
// that the verdict is about comes first, followed by the others in descending order.
func (f *finder) requestedAmounts(index int) []int64 {
	var all []int64
	for _, shape := range f.j.PendingShapes() {
		if asked := shape.Request.Get(index); asked > 0 {
			all = append(all, asked)
		}
	}
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	all = slices.Compact(all)
	if f.v.Task == nil {
		return all
	}
	judged := f.v.Task.Shape.Request.Get(index)
	slices.SortStableFunc(all, func(a, b int64) int { return cmp.Compare(boolToInt(b == judged), boolToInt(a == judged)) })
	return all
}

func boolToInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// trySmallerRequest looks for a smaller request for a resource. It changes only the pods that currently request the
// given amount. It adds a hint and returns true if it finds one.
func (f *finder) trySmallerRequest(index int, asked int64) bool {
	shapes := f.j.PendingShapes()
	if slices.ContainsFunc(shapes, func(other *model.Shape) bool {
		isFixed := other.Slow || other.Attached != nil || other.Impossible
		return isFixed && other.Request.Get(index) == asked
	}) {
		return false
	}
	if !f.startsWithRequest(index, asked, 1) { // even a request of 1 does not help
		return false
	}
	to := explain.RoundForUser(index, f.findGreatestRequest(shapes, index, asked))
	if to <= 0 {
		return false
	}
	name := f.s.Cluster.Resources.Name(index)
	f.addHint(schedulingv1beta1.HelpSmallerPods, name, explain.FormatAmount(name, asked), explain.FormatAmount(name, to))
	f.out[len(f.out)-1].Tasks = f.tasksRequesting(index, asked)
	return true
}

// tasksRequesting returns the names of the tasks whose pods request the given amount of a resource. It returns nil if
// all pods of the gang do.
func (f *finder) tasksRequesting(index int, asked int64) []string {
	named := map[string]bool{}
	others := false
	for _, t := range f.j.Pending {
		if t.Shape.Request.Get(index) == asked {
			named[t.Role] = true
		} else {
			others = true
		}
	}
	if !others || named[""] {
		return nil
	}
	return slices.Sorted(maps.Keys(named))
}

// mostSteps limits how often a gang is placed to find an amount by bisection. Twelve steps find the amount with a
// precision of one part in four thousand.
const mostSteps = 12

// findGreatestRequest returns the greatest request for a resource with which the gang would start; 0 if there is
// none. If all pods have one shape and only nodes lack resources, it counts the pods that fit. Otherwise, it
// simulates the placement.
func (f *finder) findGreatestRequest(shapes []*model.Shape, index int, asked int64) int64 {
	need := max(f.j.Need(), 1)
	if len(shapes) == 1 && (f.v.Limit == nil || f.v.Limit.Node) {
		most := bisectUpTo(asked, 64, func(value int64) bool { return f.countFitting(shapes[0], index, value, need) >= need })
		if to := explain.RoundForUser(index, most); to > 0 && f.startsWithRequest(index, asked, to) {
			return to
		}
	}
	most := bisectUpTo(asked, mostSteps, func(value int64) bool { return f.startsWithRequest(index, asked, value) })
	if to := explain.RoundForUser(index, most); to > 0 && f.startsWithRequest(index, asked, to) {
		return to
	}
	return 0
}

// bisectUpTo returns the greatest value below high for which fits is true, found by bisection with a limited number of
// steps. It returns 0 if it finds none.
func bisectUpTo(high int64, steps int, fits func(int64) bool) int64 {
	low := int64(0)
	for step := 0; low+1 < high && step < steps; step++ {
		if middle := low + (high-low)/2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// startsWithRequest reports whether the gang would start if some of its pods requested less of a resource: the amount
// to instead of the amount asked.
func (f *finder) startsWithRequest(index int, asked, to int64) bool {
	name := corev1.ResourceName(f.s.Cluster.Resources.Name(index))
	return f.startsWithChange(func(spec *podshape.Spec, request resource.Request) resource.Request {
		if request.Get(index) != asked {
			return request
		}
		for i := range request {
			if int(request[i].Index) == index {
				request[i].Value = to
			}
		}
		spec.Requests = slices.Clone(spec.Requests)
		for i := range spec.Requests {
			if spec.Requests[i].Name == name {
				spec.Requests[i].Value = to
			}
		}
		return request
	})
}

// scarceResources lists the resources that the gang may lack: first the resources of the limits that block it, then
// the resources that nodes lack, in the order of the verdict's counts, then all others that the pods request.
func (f *finder) scarceResources() []int {
	var names []string
	if f.v.Limit != nil {
		names = append(names, f.v.Limit.Resource)
	}
	for _, l := range f.v.More {
		names = append(names, l.Resource)
	}
	for _, c := range f.v.Tally.Counts {
		if c.Reason == reason.InsufficientResource || c.Reason == reason.TooLarge {
			names = append(names, c.Detail)
		}
	}
	for _, shape := range f.j.PendingShapes() {
		for _, term := range shape.Request {
			names = append(names, f.s.Cluster.Resources.Name(int(term.Index)))
		}
	}
	var out []int
	for _, name := range names {
		if index, ok := f.s.Cluster.Resources.Find(name); ok && index != resource.Pods && !slices.Contains(out, index) {
			out = append(out, index)
		}
	}
	return out
}

// countFitting returns how many pods of a shape fit on the nodes if each of them requests the given value of a
// resource. It stops counting at need.
func (f *finder) countFitting(shape *model.Shape, index int, value int64, need int) int {
	s := f.s
	pods := 0
	for _, id := range s.View.Order {
		if !s.Judge.IsAllowed(shape, id) {
			continue
		}
		idle, future := s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id)
		most := int64(need - pods)
		for _, t := range shape.Request {
			each := t.Value
			if int(t.Index) == index {
				each = value
			}
			most = min(most, min(idle[t.Index], future[t.Index])/max(each, 1))
		}
		if pods += int(max(most, 0)); pods >= need {
			break
		}
	}
	return pods
}
