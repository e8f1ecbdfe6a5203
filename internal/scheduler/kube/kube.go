package kube

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Adapter is a session.Attacher that uses kube-scheduler's plugins.
type Adapter struct {
	ctx     context.Context //nolint:containedctx // the plugins only read a silent logger from it; it is never cancelled
	handle  *handle
	plugins plugins
	conf    framework.Attaching
	built   bool
	broken  string // the error message if the plugins could not be built

	cluster *model.Cluster
	view    *overlay.Overlay
	cases   map[*model.Shape]*shapeCase

	cycle uint64
	kept  int // number of cached verdicts over all cases

	// The changes made in this cycle. version increases with each change.
	version  uint64
	taken    map[*model.Task]*reservation
	placed   map[model.NodeID][]*model.Task
	evicted  map[*model.Task]bool
	claimsOf map[string]int    // for each volume claim, the number of tasks that were placed in this cycle and use it
	given    map[string]string // for each volume that was bound in this cycle, the claim that it was bound to

	group []byte // reusable buffer

	// focus is the node that the plugins are checking, and focusPod is the pod.
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

// Open prepares the adapter for a cycle and returns its node rule.
func (a *Adapter) Open(s *session.Session, conf framework.Attaching) framework.NodeRule {
	a.dropReservations()
	if a.cluster != s.Cluster {
		a.cluster = s.Cluster
		clear(a.cases)
	}
	a.view = s.View
	if !a.built || a.conf != conf {
		a.buildPlugins(conf)
	}
	a.forgetCases()
	return framework.NodeRule{
		Name:      "predicates",
		Applies:   func(_ *framework.Job, t *model.Task) bool { return t.Shape.Attached != nil },
		Allows:    a.checkNode,
		Expensive: func(_ *framework.Job, t *model.Task) bool { return !a.preparedCase(a.loadCase(t.Shape), false).ranks },
		MightAllow: func(_ *framework.Job, t *model.Task, id model.NodeID, later bool) bool {
			p := a.preparedCase(a.loadCase(t.Shape), later)
			return a.broken == "" && p.verdict.code == "" && a.quickVerdict(p, id).code == ""
		},
		Rank:    a.rankNodes,
		Placed:  func(_ *framework.Job, t *model.Task, id model.NodeID, sign int) { a.followPlaced(t, id, sign) },
		Evicted: a.followEvicted,
	}
}

func (a *Adapter) buildPlugins(conf framework.Attaching) {
	p, err := createPlugins(a.ctx, a.handle, conf)
	a.plugins, a.conf, a.built, a.broken = p, conf, true, ""
	if err != nil {
		a.broken = err.Error()
	}
	clear(a.cases)
}

// forgetCases drops the cases that the last cycle did not use, because most pods are placed only once. Of the other
// cases, it keeps only the verdicts that depend on labels.
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

// mostKept limits the number of cached verdicts. Each verdict takes about 60 bytes.
const mostKept = 1 << 19

// Decided returns the writes that must precede the bind of a placed task. It returns nil if none exist.
func (a *Adapter) Decided(t *model.Task, id model.NodeID) *decision.Attach {
	r := a.taken[t]
	if r == nil || r.node != id {
		return nil
	}
	return a.attachDecision(r)
}

// reachableVolumes returns the sorted keys of the volumes of a storage class that the node in focus may be able to
// reach and the pod in focus may claim.
func (a *Adapter) reachableVolumes(class string) []string {
	if a.focus == nil {
		return nil
	}
	volumes := &a.cluster.Attachable.Volumes
	lists := [][]string{volumes.KeysInGroup(model.FreeVolumes(class, model.AnyHost))}
	if host := a.focus.Labels[corev1.LabelHostname]; host != "" {
		lists = append(lists, volumes.KeysInGroup(model.FreeVolumes(class, host)))
	}
	for _, claim := range a.focusPod.VolumeClaims() {
		for _, key := range volumes.KeysInGroup(model.ClaimedVolumes(claim)) {
			if pv, ok := volumes.Get(key); ok && storagehelpers.GetPersistentVolumeClass(pv) == class {
				lists = append(lists, []string{key})
			}
		}
	}
	return mergeSortedKeys(lists...)
}

func (a *Adapter) focusedNodeName() string {
	if a.focus == nil {
		return ""
	}
	return a.focus.Name
}

// isClaimInUse reports whether a pod on any node uses a volume claim.
func (a *Adapter) isClaimInUse(claim string) bool {
	if a.claimsOf[claim] > 0 {
		return true
	}
	for _, t := range a.cluster.Attachable.TasksUsingClaim(claim) {
		if a.countsAsUsed(t, a.later) {
			return true
		}
	}
	return false
}

// countsAsUsed reports whether the volumes and devices of a task in the model count as used. If later is true, they do
// not count for tasks that are leaving.
func (a *Adapter) countsAsUsed(t *model.Task, later bool) bool {
	switch t.Status {
	case model.Pipelined:
		return false
	case model.Releasing:
		return !later
	}
	return !later || !a.evicted[t]
}

// eachAttachedTask calls visit for the tasks on a node that attach volumes or devices, ending with the tasks placed in
// this cycle.
func (a *Adapter) eachAttachedTask(id model.NodeID, later bool, visit func(*model.Task)) {
	for _, t := range a.view.Nodes.Tasks[id] {
		if t.Shape.Attached != nil && a.countsAsUsed(t, later) {
			visit(t)
		}
	}
	for _, t := range a.placed[id] {
		visit(t)
	}
}
