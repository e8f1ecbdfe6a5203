package deviceshare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// node holds the cards of a node and their usage, computed from the annotations of the pods on the node and from the
// placements of this cycle.
type node struct {
	vgpu, share []card
	problem     string // describes invalid values in the node's annotations about its cards

	answers []known
}

// known is a cached answer. Pods of the same gang often have the same request.
type known struct {
	shape  *model.Shape
	later  bool
	answer answer
}

// remembered is the maximum number of cached answers per node. For so few entries, a linear search is faster than a
// map.
const remembered = 8

// answer is the result of checking a node for a pod.
type answer struct {
	grant  grant
	code   reason.Code
	detail string
	points float64
}

// requestedCards returns the cards of the kind that is requested.
func (n *node) requestedCards(a *ask) []card {
	if a.vgpu {
		return n.vgpu
	}
	return n.share
}

// loadNodeCards computes a node's cards and their usage from the model.
func (p *Policy) loadNodeCards(id model.NodeID) *node {
	nodes := &p.s.Cluster.Nodes
	info := nodes.Info[id]
	n := &node{}
	if info == nil {
		return n
	}
	if p.vgpu {
		n.vgpu, n.problem = parseRegister(info.Annotations[keys.VGPURegister])
	}
	if p.memory || p.number {
		share, problem := cardsForShare(info)
		n.share = share
		n.problem = cmp.Or(n.problem, problem)
	}
	if len(n.vgpu)+len(n.share) == 0 {
		return n
	}
	var unknown []*model.Task
	for _, t := range nodes.Tasks[id] {
		a := p.requestOfShape(t.Shape)
		if a == nil {
			continue
		}
		g := p.grantFromAnnotations(a, t, nodes.Name[id])
		if t.Status == model.Pipelined || len(g) == 0 || !n.chargeCards(a, t, g, false, t.Status == model.Releasing) {
			unknown = append(unknown, t)
		}
	}
	// Tasks with promised resources have no cards yet, and annotations written by other components may be invalid.
	// Assign cards to these tasks as if they were placed now, in a fixed order.
	slices.SortFunc(unknown, func(x, y *model.Task) int {
		return cmp.Or(placementRank(x)-placementRank(y), strings.Compare(x.Key(), y.Key()))
	})
	for _, t := range unknown {
		p.assumeCards(n, t)
	}
	return n
}

// placementRank orders placed tasks before promised ones.
func placementRank(t *model.Task) int {
	if t.Status == model.Pipelined {
		return 1
	}
	return 0
}

// grantFromAnnotations returns the cards that a task got on this node, according to its annotations.
func (p *Policy) grantFromAnnotations(a *ask, t *model.Task, node string) grant {
	if len(a.parts) == 0 {
		return nil
	}
	if !a.vgpu {
		text, ok := t.Annotations[keys.GPUIndex]
		if !ok {
			return nil
		}
		g, err := grantFromIndexes(text, amounts{1, a.parts[0].memory, 0})
		if err != nil {
			return nil
		}
		return g
	}
	if on, isGiven := t.Annotations[keys.VGPUNode]; isGiven && on != node {
		return nil // the task is bound to a node other than the one in its annotation
	}
	g, err := parseGrant(t.Annotations[keys.VGPUIDs])
	if err != nil {
		return nil
	}
	return g
}

// chargeCards charges a task's usage to the cards that it occupies. It reports whether any of these cards are on the
// node.
func (n *node) chargeCards(a *ask, t *model.Task, g grant, promised, leaving bool) (charged bool) {
	cards := n.requestedCards(a)
	for _, pieces := range g {
		for _, p := range pieces {
			i := slices.IndexFunc(cards, func(c card) bool { return c.id == p.card })
			if i < 0 {
				continue
			}
			charged = true
			c := &cards[i]
			h := holder{task: t, amounts: p.amounts, promised: promised, leaving: leaving}
			if !a.vgpu && a.parts[0].whole {
				h.amounts = amounts{1, c.memory, wholeCard}
			}
			c.addCardHolder(h)
		}
	}
	n.answers = n.answers[:0]
	return charged
}

func (c *card) addCardHolder(h holder) {
	c.holders = append(c.holders, h)
	c.countHolder(&h, 1)
}

func (c *card) countHolder(h *holder, sign int64) {
	if h.promised {
		c.promised.add(h.amounts, sign)
		return
	}
	c.used.add(h.amounts, sign)
	if h.leaving {
		c.leaving.add(h.amounts, sign)
	}
}

// removeHolder removes a task from the cards that it uses.
func (n *node) removeHolder(a *ask, t *model.Task) {
	cards := n.requestedCards(a)
	for i := range cards {
		c := &cards[i]
		c.holders = slices.DeleteFunc(c.holders, func(h holder) bool {
			if h.task == t {
				c.countHolder(&h, -1)
			}
			return h.task == t
		})
	}
	n.answers = n.answers[:0]
}

// markLeaving marks a task's use of the cards as leaving, or as staying again.
func (n *node) markLeaving(a *ask, t *model.Task, leaving bool) {
	cards := n.requestedCards(a)
	for i := range cards {
		c := &cards[i]
		for k := range c.holders {
			h := &c.holders[k]
			if h.task != t || h.promised || h.leaving == leaving {
				continue
			}
			c.countHolder(h, -1)
			h.leaving = leaving
			c.countHolder(h, 1)
		}
	}
	n.answers = n.answers[:0]
}
