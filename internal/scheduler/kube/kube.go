package kube

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Adapter is a session.Attacher that uses kube-scheduler's plugins.
type Adapter struct {
	ctx     context.Context //nolint:containedctx // the plugins only read a silent logger from it; it is never cancelled
	handle  *handle
	plugins plugins
	conf    session.Attaching
	built   bool
	broken  string // the error if the plugins could not be built

	cluster *model.Cluster
	view    *overlay.Overlay
	cases   map[*model.Shape]*shapeCase

	cycle uint64
	kept  int // number of cached verdicts in all cases

	// The changes of this cycle. version increases with each of them.
	version  uint64
	taken    map[*model.Task]*reservation
	placed   map[model.NodeID][]*model.Task
	evicted  map[*model.Task]bool
	claimsOf map[string]int    // number of tasks placed in this cycle, by volume claim
	given    map[string]string // the claim that each volume was bound to in this cycle

	group []byte // scratch

	// focus is the node that the plugins currently check, focusPod the pod.
	focus    *corev1.Node
	focusPod *model.Shape
	later    bool
}

// New returns an adapter for one engine.
func New() *Adapter {
	a := &Adapter{
		ctx:   klog.NewContext(context.Background(), logr.Discard()),
		cases: map[*model.Shape]*shapeCase{}, taken: map[*model.Task]*reservation{}, placed: map[model.NodeID][]*model.Task{},
		evicted: map[*model.Task]bool{}, claimsOf: map[string]int{}, given: map[string]string{},
	}
	a.handle = newHandle(a)
	return a
}

var _ session.Attacher = (*Adapter)(nil)

// Open starts a cycle.
func (a *Adapter) Open(s *session.Session, conf session.Attaching) session.NodeRule {
	a.undoAll()
	if a.cluster != s.Cluster {
		a.cluster = s.Cluster
		clear(a.cases)
	}
	a.view = s.View
	if !a.built || a.conf != conf {
		a.build(conf)
	}
	a.forgetCases()
	return session.NodeRule{
		Name:    "predicates",
		Applies: func(_ *session.Job, t *model.Task) bool { return t.Shape.Attached != nil },
		Allows:  a.allows,
		Dear:    func(_ *session.Job, t *model.Task) bool { return !a.podCase(a.caseOf(t.Shape), false).ranks },
		Could: func(_ *session.Job, t *model.Task, id model.NodeID, later bool) bool {
			p := a.podCase(a.caseOf(t.Shape), later)
			return a.broken == "" && p.verdict.code == "" && a.quick(p, id).code == ""
		},
		Rank:    a.rank,
		Placed:  func(_ *session.Job, t *model.Task, id model.NodeID, sign int) { a.follow(t, id, sign) },
		Evicted: a.followEvicted,
	}
}

func (a *Adapter) build(conf session.Attaching) {
	p, err := build(a.ctx, a.handle, conf)
	a.plugins, a.conf, a.built, a.broken = p, conf, true, ""
	if err != nil {
		a.broken = err.Error()
	}
	clear(a.cases)
}

// forgetCases drops cases that the last cycle did not use: most pods are placed only once.
func (a *Adapter) forgetCases() {
	for shape, c := range a.cases {
		if c.used < a.cycle {
			a.kept -= len(c.reach)
			delete(a.cases, shape)
			continue
		}
		c.pods[0].states, c.pods[1].states = nil, nil
		c.pods[0].known, c.pods[1].known = false, false
	}
	a.cycle++
}

// mostKept bounds the number of cached verdicts, at about 60 bytes each.
const mostKept = 1 << 19

// Decided returns what must be written before a placed task is bound; nil if nothing must be.
func (a *Adapter) Decided(t *model.Task, id model.NodeID) *decision.Attach {
	r := a.taken[t]
	if r == nil || r.node != id {
		return nil
	}
	return a.effects(r)
}

// reachable returns the keys, sorted, of the volumes of a class that the node in focus may reach and the pod in
// focus may claim.
func (a *Adapter) reachable(class string) []string {
	if a.focus == nil {
		return nil
	}
	volumes := &a.cluster.Attachable.Volumes
	lists := [][]string{volumes.In(model.FreeVolumes(class, model.AnyHost))}
	if host := a.focus.Labels[corev1.LabelHostname]; host != "" {
		lists = append(lists, volumes.In(model.FreeVolumes(class, host)))
	}
	for _, claim := range a.focusPod.VolumeClaims() {
		for _, key := range volumes.In(model.ClaimedVolumes(claim)) {
			if pv, ok := volumes.Get(key); ok && storagehelpers.GetPersistentVolumeClass(pv) == class {
				lists = append(lists, []string{key})
			}
		}
	}
	return merge(lists...)
}

func (a *Adapter) focusName() string {
	if a.focus == nil {
		return ""
	}
	return a.focus.Name
}

// claimInUse reports whether a pod on a node uses a volume claim.
func (a *Adapter) claimInUse(claim string) bool {
	if a.claimsOf[claim] > 0 {
		return true
	}
	for _, t := range a.cluster.Attachable.UsersOf(claim) {
		if a.counts(t, a.later) {
			return true
		}
	}
	return false
}

// counts reports whether a task of the model uses what it attaches. If later is true, tasks that are leaving do
// not.
func (a *Adapter) counts(t *model.Task, later bool) bool {
	return t.Status != model.Pipelined && (!later || t.Status != model.Releasing && !a.evicted[t])
}

// eachOn visits the tasks on a node that attach something, the tasks of this cycle last.
func (a *Adapter) eachOn(id model.NodeID, later bool, visit func(*model.Task)) {
	for _, t := range a.view.Nodes.Tasks[id] {
		if t.Shape.Attached != nil && a.counts(t, later) {
			visit(t)
		}
	}
	for _, t := range a.placed[id] {
		visit(t)
	}
}
