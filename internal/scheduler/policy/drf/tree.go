package drf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// tree is the hierarchy described by the queues' annotations. Its leaves are gangs.
type tree struct {
	s      *session.Session
	shares *shares
	root   *node
	paths  map[*queue.Queue][]*node // for each queue, the nodes from just below the root to the queue
	leaves map[*model.Gang]*node
	held   []float64 // total amounts held by all gangs
	seen   int       // number of entries of s.Kept that have been processed
}

// node is a group of queues, a queue or a gang.
type node struct {
	name     string
	weight   float64
	parent   *node
	children []*node
	// amounts and request are a gang's allocation and its total request. For an inner node, amounts is the sum of its
	// children's amounts, each scaled to the same share.
	amounts, request []float64
	share            float64
	saturated        bool
}

// update builds the tree on the first call and then updates it with the placements of the cycle.
func (t *tree) update() {
	if t.root == nil {
		t.buildWholeTree()
	}
	for ; t.seen < len(t.s.Kept); t.seen++ {
		j := t.s.Kept[t.seen]
		if leaf := t.leaves[j.Gang]; leaf != nil {
			t.countHeldAmounts(leaf.amounts, -1)
			copy(leaf.amounts, t.shares.holdingOfGang(j).amounts)
			t.countHeldAmounts(leaf.amounts, 1)
			t.recomputeAncestors(leaf)
		}
	}
}

func (t *tree) buildWholeTree() {
	n := len(t.s.Ledger.Total)
	t.root = t.addTreeNode(nil, keys.RootQueue, 1)
	t.paths, t.leaves = map[*queue.Queue][]*node{}, map[*model.Gang]*node{}
	t.held = make([]float64, n)
	for _, q := range t.s.Ledger.Queues {
		t.paths[q] = t.ensurePath(q)
	}
	gangs := make([]*model.Gang, 0, len(t.s.Cluster.Gangs))
	for _, g := range t.s.Cluster.Gangs {
		if g.Known && len(g.Tasks) > 0 {
			gangs = append(gangs, g)
		}
	}
	slices.SortFunc(gangs, func(a, b *model.Gang) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for _, g := range gangs {
		t.addGangLeaf(g)
	}
	t.recomputeSubtree(t.root)
	t.seen = len(t.s.Kept)
}

func (t *tree) addTreeNode(parent *node, name string, weight float64) *node {
	n := &node{name: name, weight: weight, parent: parent, amounts: make([]float64, len(t.s.Ledger.Total))}
	if parent != nil {
		parent.children = append(parent.children, n)
	}
	return n
}

// ensurePath returns the nodes on the path to a queue, and creates missing nodes. The weight of a group is the one
// given by the first queue, by name, that mentions the group.
func (t *tree) ensurePath(q *queue.Queue) []*node {
	var path []*node
	at := t.root
	for _, step := range annotatedPath(q) {
		k := slices.IndexFunc(at.children, func(c *node) bool { return c.name == step.name })
		if k < 0 {
			t.addTreeNode(at, step.name, step.weight)
			k = len(at.children) - 1
		}
		at = at.children[k]
		path = append(path, at)
	}
	return path
}

func (t *tree) addGangLeaf(g *model.Gang) {
	path := t.paths[t.s.Ledger.Of(g.Queue)]
	if len(path) == 0 {
		return
	}
	leaf := t.addTreeNode(path[len(path)-1], g.Key(), 1)
	leaf.request = make([]float64, len(leaf.amounts))
	if j := t.s.Job(g); j != nil {
		copy(leaf.amounts, t.shares.holdingOfGang(j).amounts)
	} else {
		for i, v := range g.Sums.Allocated {
			leaf.amounts[i] = float64(v)
		}
	}
	for i := range leaf.request {
		leaf.request[i] = float64(g.Sums.Allocated.Get(i)) + float64(g.Sums.Pending.Get(i))
	}
	t.leaves[g] = leaf
	t.countHeldAmounts(leaf.amounts, 1)
}

func (t *tree) countHeldAmounts(amounts []float64, sign float64) {
	for i, v := range amounts {
		t.held[i] += sign * v
	}
}

// hasFreeAmount reports whether some amount of a resource is still free.
func (t *tree) hasFreeAmount(i int) bool { return t.held[i] < t.shares.total[i]-queue.Epsilon }

// recomputeSubtree updates a node and all nodes below it.
func (t *tree) recomputeSubtree(n *node) {
	for _, child := range n.children {
		t.recomputeSubtree(child)
	}
	t.recomputeNode(n)
}

// recomputeAncestors updates a node and all nodes above it.
func (t *tree) recomputeAncestors(n *node) {
	for ; n != nil; n = n.parent {
		t.recomputeNode(n)
	}
}

// recomputeNode updates an inner node from its children, or a leaf from its gang's resources.
func (t *tree) recomputeNode(n *node) {
	if n.request != nil {
		n.share = t.shares.computeDominantShare(n.amounts)
		n.saturated = t.isSaturated(n)
		return
	}
	least, all := 1.0, true
	for _, c := range n.children {
		if !c.saturated {
			all = false
			if c.share > 0 {
				least = min(least, c.share)
			}
		}
	}
	clear(n.amounts)
	for _, c := range n.children {
		scale := 1.0
		if !c.saturated && c.share > 0 {
			scale = least / c.share
		}
		for i, v := range c.amounts {
			n.amounts[i] += v * scale
		}
	}
	n.share = t.shares.computeDominantShare(n.amounts)
	n.saturated = all
}

// isSaturated reports whether a gang cannot get more resources, because it already has all that it requests of some
// resource, or because it requests a resource that is used up.
func (t *tree) isSaturated(n *node) bool {
	for i, asked := range n.request {
		if i == resource.Pods || asked <= 0 {
			continue
		}
		if (n.amounts[i] > 0 && n.amounts[i] >= asked-queue.Epsilon) || !t.hasFreeAmount(i) {
			return true
		}
	}
	return false
}

// compareQueues orders queues. At each level, a queue that can get more resources comes first, then the queue with the
// smaller weighted share.
func (t *tree) compareQueues(a, b *queue.Queue) int {
	x, y := t.paths[a], t.paths[b]
	for i := range min(len(x), len(y)) {
		l, r := x[i], y[i]
		if l == r {
			continue
		}
		if l.saturated != r.saturated {
			if r.saturated {
				return -1
			}
			return 1
		}
		if d := l.share/l.weight - r.share/r.weight; d < -tiny || d > tiny {
			return cmp.Compare(d, 0)
		}
	}
	return 0
}

// changeAmounts adds amounts to a gang, or subtracts them if sign is -1.
func (t *tree) changeAmounts(g *model.Gang, amounts []float64, sign float64) {
	leaf := t.leaves[g]
	if leaf == nil {
		return
	}
	for i, v := range amounts {
		leaf.amounts[i] += sign * v
	}
	t.countHeldAmounts(amounts, sign)
	t.recomputeAncestors(leaf)
}

// changeAllAmounts changes the amounts of several gangs.
func (t *tree) changeAllAmounts(amountsOf map[*model.Gang][]float64, sign float64) {
	for g, amounts := range amountsOf {
		t.changeAmounts(g, amounts, sign)
	}
}

// grantEviction grants the eviction of tasks in queues that would still come after the taker's queue once the taker is
// placed and the victims are evicted.
func (t *tree) grantEviction(a *framework.Attack) framework.Guard {
	t.update()
	lost := map[*model.Gang][]float64{}
	sum := func(r resource.Request, into []float64) []float64 {
		for _, term := range r {
			into[term.Index] += float64(term.Value)
		}
		return into
	}
	n := len(t.held)
	asked := sum(a.Asked, make([]float64, n))
	return framework.Guard{
		Moves: true,
		Because: func(victims []*model.Task) string {
			return fmt.Sprintf("the share of queue %s in its group is larger than the share that queue %s would have", victims[0].Gang.Queue.Name, a.Taker.In.Name)
		},
		May: func(victims []*model.Task) (bool, string) {
			g := victims[0].Gang
			gone := make([]float64, n)
			for _, v := range victims {
				sum(v.Shape.Request, gone)
			}
			t.changeAmounts(a.Taker.Gang, asked, 1)
			t.changeAllAmounts(lost, -1)
			t.changeAmounts(g, gone, -1)
			ok := t.compareQueues(a.Taker.In, t.s.Ledger.Of(g.Queue)) < 0
			t.changeAmounts(g, gone, 1)
			t.changeAllAmounts(lost, 1)
			t.changeAmounts(a.Taker.Gang, asked, -1)
			if !ok {
				return false, fmt.Sprintf("the share of queue %s is not larger than the share that queue %s would have", g.Queue.Name, a.Taker.In.Name)
			}
			return true, ""
		},
		Out: func(victims []*model.Task, sign int) {
			g := victims[0].Gang
			if lost[g] == nil {
				lost[g] = make([]float64, n)
			}
			for _, v := range victims {
				for _, term := range v.Shape.Request {
					lost[g][term.Index] += float64(sign) * float64(term.Value)
				}
			}
		},
	}
}
