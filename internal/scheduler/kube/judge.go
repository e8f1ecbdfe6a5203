package kube

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	kubeframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// shapeCase caches the results for a shape that attaches volumes or devices.
type shapeCase struct {
	shape *model.Shape
	about string // the names of the shape's claims, for messages
	// pods holds the results for the current state at index 0, and for the state after all leaving pods have left at
	// index 1.
	pods [2]podCase
	// reach holds verdicts that depend only on the labels of a node. They are valid as long as the generations in
	// deps do not change.
	reach map[model.NodeID]cell
	deps  []uint64
	used  uint64 // the last cycle that used this case
}

// podCase holds the verdict on a pod that applies to all nodes, and the state that the plugins prepared for checking
// single nodes.
type podCase struct {
	known        bool
	gen, version uint64
	verdict      verdict
	state        fwk.CycleState
	// the checks that must run for each node: bound checks the volumes of claims, and unbound searches volumes for claims
	// without one
	restrictions, limits, zone, bound, unbound, device bool

	ranks bool // the plugins score the pod's candidate nodes
	quickCase

	// states holds the plugins' state for each checked node, if the prepared state depends on the node.
	states map[model.NodeID]fwk.CycleState
}

// cell holds the verdict on one node.
type cell struct {
	labeled uint64 // generation of the node's labels for which the verdict is valid
	verdict verdict
}

// checkNode implements framework.NodeRule.Allows. It returns the reason why a node cannot run a task, or an empty code
// if the node can run it.
func (a *Adapter) checkNode(_ *framework.Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
	v := a.judgeNode(t.Shape, id, later)
	return v.code, v.detail
}

func (a *Adapter) judgeNode(shape *model.Shape, id model.NodeID, later bool) verdict {
	if a.broken != "" {
		return verdict{reason.VolumeUnavailable, a.broken}
	}
	c := a.loadCase(shape)
	p := a.preparedCase(c, later)
	if p.verdict.code != "" {
		return p.verdict
	}
	if v := a.quickVerdict(p, id); v.code != "" {
		if v.code != reason.DevicesTaken {
			v.detail = c.about
		}
		return v
	}
	if p.zone || p.bound {
		if v := a.checkReach(c, p, id); v.code != "" {
			return v
		}
	}
	return a.checkUsage(c, p, id, later)
}

func (a *Adapter) loadCase(shape *model.Shape) *shapeCase {
	c := a.cases[shape]
	if c == nil {
		c = &shapeCase{shape: shape, about: claimNames(shape)}
		a.cases[shape] = c
	}
	c.used = a.cycle
	return c
}

// claimNames returns the names of a shape's claims, for messages.
func claimNames(shape *model.Shape) string {
	var names []string
	for _, key := range shape.VolumeClaims() {
		names = append(names, key[strings.IndexByte(key, '/')+1:])
	}
	const most = 3
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ",")
}

// preparedCase returns the verdict and the prepared state for a pod of the shape. It computes them again if they are
// outdated.
func (a *Adapter) preparedCase(c *shapeCase, later bool) *podCase {
	p := &c.pods[0]
	if later {
		p = &c.pods[1]
	}
	if gen := max(a.cluster.Attachable.Gen, a.cluster.Attachable.UsersGen); !p.known || p.gen != gen || p.version != a.version {
		*p = podCase{known: true, gen: gen, version: a.version, state: kubeframework.NewCycleState()}
		a.focusOnNode(c.shape, nil, later)
		a.runPreFilters(c, p)
		a.clearFocus()
	}
	return p
}

// focusOnNode makes the views show the state as seen by one pod on one node.
func (a *Adapter) focusOnNode(shape *model.Shape, node *corev1.Node, later bool) {
	a.focus, a.focusPod, a.later = node, shape, later
}

func (a *Adapter) clearFocus() { a.focus, a.focusPod, a.later = nil, nil, false }

// runPreFilters runs the plugins' pre-filters for the pod and records which checks must run for each node.
func (a *Adapter) runPreFilters(c *shapeCase, p *podCase) {
	pod, plugins := c.shape.Attached, &a.plugins
	ask := func(pl plugin, code reason.Code) (again bool) {
		_, status := pl.PreFilter(a.ctx, p.state, pod, nil)
		if v := podVerdict(code, status, c.about); v.code != "" && p.verdict.code == "" {
			p.verdict = v
		}
		return status.IsSuccess()
	}
	if plugins.binding != nil && ask(plugins.binding, reason.VolumeUnavailable) {
		p.unbound = a.hasUnboundClaim(c.shape)
		p.bound = !p.unbound
	}
	if plugins.zone != nil {
		p.zone = ask(plugins.zone, reason.VolumeUnavailable)
	}
	p.restrictions = ask(plugins.restrictions, reason.VolumeUnavailable)
	if plugins.limits != nil {
		p.limits = ask(plugins.limits, reason.VolumeUnavailable)
	}
	if plugins.devices != nil && len(pod.Spec.ResourceClaims) > 0 {
		p.device = ask(plugins.devices, reason.DevicesUnavailable)
	}
	p.quickCase = a.newQuickCase(c.shape, p)
	p.ranks = a.ranksNodesFor(c.shape, p)
}

// ranksNodesFor reports whether the plugins' scores can make a difference for the pod.
func (a *Adapter) ranksNodesFor(shape *model.Shape, p *podCase) bool {
	switch {
	case a.conf.NoScores:
		return false
	case p.unbound && a.conf.Points > 0:
		return true
	}
	return p.device && a.hasAlternatives(shape)
}

// hasUnboundClaim reports whether the shape uses a claim whose volume must still be found or provisioned.
func (a *Adapter) hasUnboundClaim(shape *model.Shape) bool {
	return slices.ContainsFunc(shape.VolumeClaims(), func(key string) bool {
		claim, ok := a.cluster.Attachable.VolumeClaims.Get(key)
		return ok && claim.Spec.VolumeName == ""
	})
}

// checkReach checks, by the node's labels, whether the node can reach the volumes that are already bound to the shape's
// claims. Verdicts are cached until volumes or labels change.
func (a *Adapter) checkReach(c *shapeCase, p *podCase, id model.NodeID) verdict {
	a.dropStaleReach(c)
	labeled := a.view.Nodes.Labeled[id]
	if at, ok := c.reach[id]; ok && at.labeled == labeled {
		return at.verdict
	}
	node := &nodeInfo{a: a, id: id}
	var v verdict
	if p.bound {
		v = bindingVerdict(a.plugins.binding.Filter(a.ctx, p.state, c.shape.Attached, node), c.about)
	}
	if v.code == "" && p.zone {
		v = nodeVerdict(reason.VolumeZoneMismatch, reason.VolumeUnavailable, a.plugins.zone.Filter(a.ctx, p.state, c.shape.Attached, node), c.about)
	}
	if a.kept++; a.kept > mostKept {
		for _, other := range a.cases {
			clear(other.reach)
		}
		a.kept = 1
	}
	c.reach[id] = cell{labeled, v}
	return v
}

// dropStaleReach drops the cached verdicts if their dependencies have changed.
func (a *Adapter) dropStaleReach(c *shapeCase) {
	at := &a.cluster.Attachable
	same := c.reach != nil && len(c.deps) == 2*len(c.shape.VolumeClaims())+2
	i := 0
	dep := func(gen uint64) {
		if same && c.deps[i] != gen {
			same = false
			c.deps = c.deps[:i]
		}
		if !same {
			c.deps = append(c.deps, gen)
		}
		i++
	}
	if !same {
		c.deps = c.deps[:0]
	}
	dep(at.CSINodes.Gen)
	dep(a.view.Epoch)
	for _, key := range c.shape.VolumeClaims() {
		dep(at.VolumeClaims.GenerationOf(key))
		volume := ""
		if claim, ok := at.VolumeClaims.Get(key); ok {
			volume = claim.Spec.VolumeName
		}
		dep(at.Volumes.GenerationOf(volume))
	}
	if !same {
		a.kept -= len(c.reach)
		c.reach = map[model.NodeID]cell{}
	}
}

// checkUsage runs the checks that depend on other pods on the node, or on the volumes and devices that are in use.
func (a *Adapter) checkUsage(c *shapeCase, p *podCase, id model.NodeID, later bool) verdict {
	node, pod := &nodeInfo{a: a, id: id, later: later}, c.shape.Attached
	if p.restrictions {
		if v := nodeVerdict(reason.VolumeInUse, reason.VolumeUnavailable, a.plugins.restrictions.Filter(a.ctx, p.state, pod, node), c.about); v.code != "" {
			return v
		}
	}
	if p.limits {
		if v := nodeVerdict(reason.VolumeLimit, reason.VolumeUnavailable, a.plugins.limits.Filter(a.ctx, p.state, pod, node), ""); v.code != "" {
			return v
		}
	}
	if !p.unbound && !p.device {
		return verdict{}
	}
	state := kubeframework.NewCycleState()
	a.focusOnNode(c.shape, node.Node(), later)
	defer a.clearFocus()
	v := a.findAttachments(c, p, pod, node, state)
	if v.code == "" {
		if p.states == nil {
			p.states = map[model.NodeID]fwk.CycleState{}
		}
		p.states[id] = state
	}
	return v
}

// findAttachments checks whether the pod can get the volumes and devices that it needs on the node in focus.
func (a *Adapter) findAttachments(c *shapeCase, p *podCase, pod *corev1.Pod, node *nodeInfo, state fwk.CycleState) verdict {
	if p.unbound {
		if _, status := a.plugins.binding.PreFilter(a.ctx, state, pod, nil); !status.IsSuccess() {
			return podVerdict(reason.VolumeUnavailable, status, c.about)
		}
		if v := bindingVerdict(a.plugins.binding.Filter(a.ctx, state, pod, node), c.about); v.code != "" {
			return v
		}
	}
	if p.device {
		if _, status := a.plugins.devices.PreFilter(a.ctx, state, pod, nil); !status.IsSuccess() {
			return podVerdict(reason.DevicesUnavailable, status, "")
		}
		return nodeVerdict(reason.DevicesTaken, reason.DevicesUnavailable, a.plugins.devices.Filter(a.ctx, state, pod, node), "")
	}
	return verdict{}
}

// rankNodes adds the plugins' scores to the points of the candidates that were checked.
func (a *Adapter) rankNodes(_ *framework.Job, t *model.Task, nodes []model.NodeID, points []float64) {
	c := a.cases[t.Shape]
	if c == nil {
		return
	}
	p := &c.pods[0]
	if !p.ranks || p.states == nil || p.version != a.version {
		return
	}
	if p.unbound && a.plugins.binding != nil && a.conf.Points > 0 {
		a.addScores(p, nodes, points, a.conf.Weight, a.plugins.binding, t.Shape.Attached)
	}
	if p.device {
		a.addScores(p, nodes, points, 1, a.plugins.devices, t.Shape.Attached)
	}
}

func (a *Adapter) addScores(p *podCase, nodes []model.NodeID, points []float64, weight float64, pl fwk.ScorePlugin, pod *corev1.Pod) {
	scores := make(fwk.NodeScoreList, len(nodes))
	for i, id := range nodes {
		scores[i].Name = a.view.Nodes.Name[id]
		if state := p.states[id]; state != nil {
			if score, status := pl.Score(a.ctx, state, pod, &nodeInfo{a: a, id: id}); status.IsSuccess() {
				scores[i].Score = score
			}
		}
	}
	if e := pl.ScoreExtensions(); e != nil {
		e.NormalizeScore(a.ctx, p.state, pod, scores)
	}
	for i := range scores {
		points[i] += weight * float64(scores[i].Score)
	}
}
