package deviceshare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Volcano's names for the orders in which cards are filled.
const (
	binpack = "binpack"
	spread  = "spread"
)

// findCardsOnNode returns the cards of a node that a task would get, or the reason why it cannot get any.
func (p *Policy) findCardsOnNode(n *node, a *ask, t *model.Task, later bool) answer {
	if a.problem != "" {
		return answer{code: reason.DeviceRequestInvalid, detail: a.problem}
	}
	cards := n.requestedCards(a)
	if len(cards) == 0 {
		return answer{code: reason.DeviceMissing, detail: n.problem}
	}
	particular := a.apart || len(p.rules) > 0 // the answer depends on the task, not only on its shape
	for i := range n.answers {
		if k := &n.answers[i]; k.shape == t.Shape && k.later == later && !particular {
			return k.answer
		}
	}
	out := p.chooseCards(cards, a, t, later, p.policy)
	if out.code == reason.DeviceShort && len(a.parts) > 1 {
		// The pod does not fit in the order of its containers. Try again with the largest container first, and put each
		// container on the card with the least free memory.
		if tight := p.chooseCards(cards, a, t, later, ""); tight.code == "" {
			out = tight
		}
	}
	if !particular {
		if len(n.answers) == remembered {
			n.answers = n.answers[:0]
		}
		n.answers = append(n.answers, known{t.Shape, later, out})
	}
	return out
}

// chooseCards assigns cards to each container. For a pod with several containers, the policy "" starts with the largest
// container and puts each on the card with the least free memory.
func (p *Policy) chooseCards(cards []card, a *ask, t *model.Task, later bool, policy string) answer {
	taken := make([]amounts, len(cards))
	for i := range cards {
		taken[i] = cards[i].heldAmounts(later)
	}
	order := make([]int, len(a.parts))
	for i := range order {
		order[i] = i
	}
	tight := policy == "" && len(a.parts) > 1
	if tight {
		slices.SortStableFunc(order, func(x, y int) int {
			return cmp.Or(-cmp.Compare(a.parts[x].cores, a.parts[y].cores), -cmp.Compare(a.parts[x].amountsOnCard(&cards[0]).memory, a.parts[y].amountsOnCard(&cards[0]).memory))
		})
	}
	g := make(grant, len(a.parts))
	points, pieces := 0.0, 0
	for _, i := range order {
		part := &a.parts[i]
		var why refusals
		for _, k := range p.orderCards(cards, taken, policy, tight) {
			if int64(len(g[i])) == part.cards {
				break
			}
			c := &cards[k]
			want := part.amountsOnCard(c)
			if !p.canServeRequest(c, taken[k], want, a, t, later, &why) {
				continue
			}
			points += scoreCard(policy, c, taken[k], want)
			pieces++
			taken[k].add(want, 1)
			g[i] = append(g[i], piece{c.id, c.kind, want})
		}
		if int64(len(g[i])) < part.cards {
			return why.toRefusalAnswer(part, len(cards))
		}
	}
	out := answer{grant: g}
	if pieces > 0 {
		out.points = points / float64(pieces)
	}
	return out
}

// orderCards returns the order in which cards are tried. Without a policy, it starts with the last card, like the
// device plugins, except that it starts with the first card for the GPU share device.
func (p *Policy) orderCards(cards []card, taken []amounts, policy string, tight bool) []int {
	order := make([]int, len(cards))
	for i := range order {
		order[i] = i
	}
	share := len(cards) > 0 && cards[0].slots == resource.MaxAmount
	slices.SortStableFunc(order, func(x, y int) int {
		switch {
		case tight:
			return cmp.Compare(cards[x].memory-taken[x].memory, cards[y].memory-taken[y].memory)
		case policy == binpack:
			return -cmp.Compare(taken[x].memory, taken[y].memory)
		case policy == spread:
			return cmp.Compare(taken[x].slots, taken[y].slots)
		case share:
			return 0
		}
		return cmp.Compare(y, x)
	})
	return order
}

// refusals counts the rejected cards by reason.
type refusals struct{ unfit, short, exclusive, ill int }

// canServeRequest reports whether a card can serve a container's request. If it cannot, the reason is counted in why.
func (p *Policy) canServeRequest(c *card, taken, want amounts, a *ask, t *model.Task, later bool, why *refusals) bool {
	switch {
	case !a.acceptsCard(c):
		why.unfit++
		return false
	case !c.healthy:
		why.ill++
		return false
	case taken.cores >= wholeCard, want.cores == wholeCard && taken.slots > 0, // such cards are exclusive
		taken.slots+1 > c.slots, taken.memory+want.memory > c.memory, taken.cores+want.cores > wholeCard:
		why.short++
		return false
	case p.meetsAvoidedPod(c, a, t, later):
		why.exclusive++
		return false
	}
	return true
}

// meetsAvoidedPod reports whether a card is used by a pod with which the task must not share it. If later is true, pods
// that are leaving are ignored.
func (p *Policy) meetsAvoidedPod(c *card, a *ask, t *model.Task, later bool) bool {
	if !a.apart && len(p.rules) == 0 {
		return false
	}
	for i := range c.holders {
		other := c.holders[i].task
		if other == t || (later && c.holders[i].leaving) {
			continue
		}
		if a.apart && other.Gang != nil && other.Gang == t.Gang {
			return true
		}
		for _, rule := range p.rules {
			if rule.Matches(labelsOfTask(t)) && rule.Matches(labelsOfTask(other)) {
				return true
			}
		}
	}
	return false
}

func (r *refusals) toRefusalAnswer(part *part, cards int) answer {
	switch {
	case r.short > 0:
		return answer{code: reason.DeviceShort, detail: part.String()}
	case r.exclusive > 0:
		return answer{code: reason.DeviceExclusive}
	case r.ill > 0:
		return answer{code: reason.DeviceMismatch, detail: "cards are unhealthy"}
	case r.unfit > 0:
		return answer{code: reason.DeviceMismatch}
	}
	return answer{code: reason.DeviceShort, detail: fmt.Sprintf("%d cards are requested, but the node has %d", part.cards, cards)}
}

// String describes the request for users.
func (p *part) String() string {
	switch {
	case p.whole:
		return fmt.Sprintf("%d whole cards", p.cards)
	case p.memory > 0 && p.cores > 0:
		return fmt.Sprintf("%d × %dMi, %d%% of the cores", p.cards, p.memory, p.cores)
	case p.memory > 0:
		return fmt.Sprintf("%d × %dMi", p.cards, p.memory)
	case p.cores > 0:
		return fmt.Sprintf("%d × %d%% of the memory, %d%% of the cores", p.cards, p.percent, p.cores)
	}
	return fmt.Sprintf("%d × %d%% of the memory", p.cards, p.percent)
}

// scoreCard returns the score of a card, from 0 to 100. For binpack it is the used percentage of its memory; for
// spread, empty cards score 100.
func scoreCard(policy string, c *card, taken, want amounts) float64 {
	switch {
	case policy == binpack && c.memory > 0:
		return 100 * float64(taken.memory+want.memory) / float64(c.memory)
	case policy == spread && taken.slots == 0:
		return 100
	}
	return 0
}
