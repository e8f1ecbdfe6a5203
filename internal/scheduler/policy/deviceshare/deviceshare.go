// Package deviceshare assigns GPU cards to pods: parts of the cards that the vGPU device plugin registers, and memory
// or whole cards of the GPU share device.
//
//	In:   the cards that nodes announce, the annotations of the pods that use parts of them
//	Out:  the nodes that have cards for a pod, and the cards that the pod gets, to be written with its binding
//
// # Invariants
//
//   - The containers, memory and cores allocated on a card never exceed the card's limits, as long as only this
//     scheduler binds pods to the card.
//   - The used amounts are computed from pod annotations alone, so a restarted scheduler computes the same amounts.
//
// Cards in MIG mode get no pods, because the package does not read their geometries.
package deviceshare

import (
	"fmt"
	"strconv"
	"time"

	k8slabels "k8s.io/apimachinery/pkg/labels"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/nodecache"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// lockTime is the maximum time that a pod waits for a node that is allocating devices to another pod.
const lockTime = 5 * time.Minute

// Policy implements the deviceshare policy.
type Policy struct {
	conf                 config.Plugin
	memory, number, vgpu bool
	lock                 bool
	policy               string
	weight               float64
	rules                []k8slabels.Selector

	s       *session.Session
	nodes   nodecache.Drafts[node]
	asks    map[*model.Shape]*ask
	grants  map[*model.Task]grant
	locks   nodecache.Table[time.Time] // for each node, the time until which it counts as allocating devices
	figures nodecache.Table[bool]
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	on := func(key string) bool { return conf.Arguments.Bool("deviceshare."+key, false, warn) }
	p := &Policy{
		conf: conf, memory: on("GPUSharingEnable"), number: on("GPUNumberEnable"), vgpu: on("VGPUEnable"), lock: on("NodeLockEnable"),
		policy: conf.Arguments.String("deviceshare.SchedulePolicy", "", warn),
		weight: float64(max(conf.Arguments.Int("deviceshare.ScheduleWeight", 0, warn), 0)),
		asks:   map[*model.Shape]*ask{}, grants: map[*model.Task]grant{},
	}
	say := func(format string, args ...any) {
		if warn != nil {
			warn(fmt.Sprintf(format, args...))
		}
	}
	if p.policy != "" && p.policy != binpack && p.policy != spread {
		say("argument deviceshare.SchedulePolicy: must be %s or %s, not %q; the default is used", binpack, spread, p.policy)
		p.policy = ""
	}
	for _, key := range []string{"AscendMindClusterVNPUEnable", "AscendHAMiVNPUEnable"} {
		if on(key) {
			say("argument deviceshare.%s: Ascend cards are not supported; they count as plain resources", key)
		}
	}
	for _, key := range []string{"KnownGeometriesCMName", "KnownGeometriesCMNamespace"} {
		if _, given := conf.Arguments["deviceshare."+key]; given {
			say("argument deviceshare.%s has no effect: MIG is not supported, and cards in MIG mode accept no pods", key)
		}
	}
	p.rules = parseExclusiveRules(conf.Arguments["deviceshare.GPUExclusiveRules"], say)
	return p
}

// parseExclusiveRules parses deviceshare.GPUExclusiveRules: a list of label sets.
func parseExclusiveRules(raw any, say func(string, ...any)) []k8slabels.Selector {
	if raw == nil {
		return nil
	}
	list, ok := raw.([]any)
	if !ok {
		say("argument deviceshare.GPUExclusiveRules: must be a list of label sets, not %v; the argument is ignored", raw)
		return nil
	}
	var rules []k8slabels.Selector
	for i, item := range list {
		labels, ok := item.(map[string]any)
		set := k8slabels.Set{}
		for key, value := range labels {
			text, isText := value.(string)
			ok = ok && isText
			set[key] = text
		}
		if !ok || len(set) == 0 {
			say("argument deviceshare.GPUExclusiveRules[%d]: must map label names to string values, not %v; this entry is ignored", i, item)
			continue
		}
		rules = append(rules, k8slabels.SelectorFromSet(set))
	}
	return rules
}

// Name returns "deviceshare".
func (*Policy) Name() string { return "deviceshare" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// accountedResources returns the names of the resources that only this policy accounts for.
func (p *Policy) accountedResources() (names []string) {
	if !p.conf.Enabled("enablePredicate") {
		return nil
	}
	if p.vgpu {
		names = append(names, string(keys.VGPUNumber), string(keys.VGPUMemory), string(keys.VGPUCores))
	}
	if p.memory {
		names = append(names, string(keys.GPUMemory))
	}
	if p.number {
		names = append(names, string(keys.GPUNumber))
	}
	return names
}

// Configure excludes the resources of shared devices from all other scores.
func (p *Policy) Configure(j *equivalence.Judge) {
	for _, name := range p.accountedResources() {
		if j.Weights.Left == nil {
			j.Weights.Left = map[string]bool{}
		}
		j.Weights.Left[name] = true
	}
}

// Open registers the node rule.
func (p *Policy) Open(s *session.Session) {
	names := p.accountedResources()
	if len(names) == 0 {
		return
	}
	p.beginCycle(s)
	var indexes []int
	for _, name := range names {
		if i, ok := s.Cluster.Resources.Find(name); ok {
			indexes = append(indexes, i)
		}
	}
	s.View.ExcludeResources(indexes)
	if p.vgpu {
		p.recordFigures()
	}
	if p.lock {
		p.updateLocks()
	}
	rule := framework.NodeRule{
		Name: p.Name(),
		Applies: func(_ *framework.Job, t *model.Task) bool {
			return len(t.Shape.Containers) > 0 && p.requestOfShape(t.Shape) != nil
		},
		Allows:      p.checkNodeForTask,
		Placed:      p.updatePlaced,
		Evicted:     p.updateEvicted,
		Annotations: p.grantAnnotations,
	}
	if len(p.rules) > 0 {
		rule.Particular = func(*model.Task) bool { return true }
	}
	if p.weight > 0 && p.policy != "" && p.conf.Enabled("enableNodeOrder") {
		rule.Points = p.scoreNodeForTask
	} else { // without a weight, use the first of the best nodes that has suitable cards
		rule.Expensive = func(*framework.Job, *model.Task) bool { return true }
	}
	s.Rules.Nodes = append(s.Rules.Nodes, rule)
}

// beginCycle drops the state of the last cycle.
func (p *Policy) beginCycle(s *session.Session) {
	p.s = s
	clear(p.grants)
	if p.nodes.Open(s.Cluster) || len(p.asks) > 2*len(s.Cluster.Shapes)+64 {
		clear(p.asks)
	}
}

// requestOfShape returns a shape's request for devices. It returns nil if the shape requests no device that this policy
// handles.
func (p *Policy) requestOfShape(s *model.Shape) *ask {
	if len(s.Containers) == 0 {
		return nil
	}
	a, known := p.asks[s]
	if !known {
		a = p.parseShapeRequest(s)
		p.asks[s] = a
	}
	return a
}

// nodeCards returns the current state of a node's cards.
func (p *Policy) nodeCards(id model.NodeID) *node { return p.nodes.GetOrLoad(id, p.loadNodeCards) }

// changedNodeCards is like nodeCards, but for a node whose cards are about to be changed in this cycle.
func (p *Policy) changedNodeCards(id model.NodeID) *node {
	return p.nodes.GetForChange(id, p.loadNodeCards)
}

func (p *Policy) checkNodeForTask(_ *framework.Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
	n := p.nodeCards(id)
	if p.lock && p.isAllocatingNode(id, n) {
		return reason.DeviceLocked, ""
	}
	a := p.findCardsOnNode(n, p.requestOfShape(t.Shape), t, later)
	return a.code, a.detail
}

func (p *Policy) scoreNodeForTask(_ *framework.Job, t *model.Task, id model.NodeID) float64 {
	return p.weight * p.findCardsOnNode(p.nodeCards(id), p.requestOfShape(t.Shape), t, false).points
}

// updatePlaced assigns cards to a task, or releases them if the placement is undone.
func (p *Policy) updatePlaced(_ *framework.Job, t *model.Task, id model.NodeID, sign int) {
	a := p.requestOfShape(t.Shape)
	if a == nil {
		return
	}
	n := p.changedNodeCards(id)
	if sign < 0 {
		delete(p.grants, t)
		n.removeHolder(a, t)
		return
	}
	if g, _ := p.assignCards(n, a, t); g != nil {
		p.grants[t] = g
	}
}

// assignCards assigns free cards to a task. If none exist, it assigns cards that are being released; promised is
// then true.
func (p *Policy) assignCards(n *node, a *ask, t *model.Task) (g grant, promised bool) {
	for _, later := range []bool{false, true} {
		if got := p.findCardsOnNode(n, a, t, later); got.code == "" {
			n.chargeCards(a, t, got.grant, later, false)
			return got.grant, later
		}
	}
	return nil, false
}

// assumeCards assigns cards to a task whose cards are unknown or have not been chosen yet.
func (p *Policy) assumeCards(n *node, t *model.Task) {
	a := p.requestOfShape(t.Shape)
	if t.Status != model.Pipelined {
		if got := p.findCardsOnNode(n, a, t, false); got.code == "" {
			n.chargeCards(a, t, got.grant, false, t.Status == model.Releasing)
		}
		return
	}
	if got := p.findCardsOnNode(n, a, t, true); got.code == "" {
		n.chargeCards(a, t, got.grant, true, false)
	}
}

func (p *Policy) updateEvicted(t *model.Task, sign int) {
	if a := p.requestOfShape(t.Shape); a != nil && t.Node != model.NoNode {
		p.changedNodeCards(t.Node).markLeaving(a, t, sign > 0)
	}
}

// grantAnnotations returns the annotations that pass the cards of each container to the device plugin.
func (p *Policy) grantAnnotations(_ *framework.Job, t *model.Task, id model.NodeID) map[string]string {
	g := p.grants[t]
	if g == nil {
		return nil
	}
	now := strconv.FormatInt(p.s.Now.Unix(), 10)
	if !p.requestOfShape(t.Shape).vgpu {
		return map[string]string{
			keys.GPUIndex:         g.formatIndexes(),
			keys.GPUPredicateTime: strconv.FormatInt(p.s.Now.UnixNano(), 10),
		}
	}
	return map[string]string{
		keys.VGPUNode:        p.s.View.Nodes.Name[id],
		keys.VGPUTime:        now,
		keys.VGPUIDs:         g.String(),
		keys.VGPUToAllocate:  g.String(),
		keys.DeviceBindPhase: allocating,
		keys.DeviceBindTime:  now,
	}
}

func labelsOfTask(t *model.Task) k8slabels.Set { return t.Labels }
