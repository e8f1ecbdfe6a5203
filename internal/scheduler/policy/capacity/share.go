package capacity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// setQueueShares sets the amounts that queues deserve and the amounts that they can use.
func setQueueShares(l *queue.Ledger, tree bool) {
	guaranteed := computeGuarantees(l, tree)
	top := make([]float64, len(l.Total))
	for _, q := range l.Queues {
		isTop := !tree || (q.Parent == nil && q.Fault == "")
		if q.Known && isTop {
			addAmounts(top, guaranteed[q])
		}
	}
	below := map[*queue.Queue][]float64{}
	if tree {
		below = sumChildren(l, guaranteed)
	}
	for _, q := range l.TopDown {
		for i := range q.RealCapability {
			room, ceiling, all := l.Total[i], l.Total[i], top[i]
			switch {
			case tree && q.Parent != nil:
				room, ceiling, all = q.Parent.RealCapability[i], q.Parent.Ceiling[i], below[q.Parent][i]
			case tree: // only the cluster is above it
				ceiling = q.Capability[i]
			}
			mine := guaranteed[q][i]
			others := max(all-mine, 0)
			if others > 0 { // without this limit, only unusable nodes might remain for the guarantees
				room = min(room, l.Usable[i])
			}
			q.RealCapability[i] = min(q.Capability[i], room, max(room-others-mine, 0)+mine)
			q.Ceiling[i] = min(q.Capability[i], ceiling, max(ceiling-others-mine, 0)+mine)
		}
	}
	setDeserved(l, guaranteed, tree)
	for _, q := range l.Queues {
		q.SetNamedShare(!tree)
	}
}

// sumChildren returns for each parent the sum of its children's guarantees.
func sumChildren(l *queue.Ledger, guaranteed map[*queue.Queue][]float64) map[*queue.Queue][]float64 {
	sums := map[*queue.Queue][]float64{}
	for _, q := range l.TopDown {
		if q.Parent == nil {
			continue
		}
		if sums[q.Parent] == nil {
			sums[q.Parent] = make([]float64, len(l.Total))
		}
		addAmounts(sums[q.Parent], guaranteed[q])
	}
	return sums
}

func addAmounts(sum, v []float64) {
	for i := range sum {
		sum[i] += v[i]
	}
}

// computeGuarantees returns the amount reserved for each queue: at least the sum of its children's guarantees, and at
// most its capability.
func computeGuarantees(l *queue.Ledger, tree bool) map[*queue.Queue][]float64 {
	all := make(map[*queue.Queue][]float64, len(l.Queues))
	n := len(l.Total)
	backing := make([]float64, n*len(l.Queues))
	for k, q := range l.Queues {
		v := backing[k*n : (k+1)*n : (k+1)*n]
		for _, t := range q.Guarantee {
			v[t.Index] = min(float64(t.Value), q.Capability[t.Index])
		}
		all[q] = v
	}
	if !tree {
		return all
	}
	for k := len(l.TopDown) - 1; k >= 0; k-- {
		q := l.TopDown[k]
		if q.IsLeaf() {
			continue
		}
		sum := make([]float64, n)
		for _, child := range q.Children {
			addAmounts(sum, all[child])
		}
		for i, v := range sum {
			all[q][i] = min(max(all[q][i], v), q.Capability[i])
		}
	}
	return all
}

// setDeserved sets each queue's Deserved from its spec, limited to its capability but no less than its guarantee. An
// inner queue without deserved amounts deserves the sum of its children's deserved amounts.
func setDeserved(l *queue.Ledger, guaranteed map[*queue.Queue][]float64, tree bool) {
	for k := len(l.TopDown) - 1; k >= 0; k-- {
		q := l.TopDown[k]
		q.Named = append(q.Named[:0], make([]bool, len(l.Total))...)
		for _, t := range q.Queue.Deserved {
			q.Deserved[t.Index], q.Named[t.Index] = float64(t.Value), true
		}
		if tree && !q.IsLeaf() && len(q.Queue.Deserved) == 0 {
			for _, child := range q.Children {
				addAmounts(q.Deserved, child.Deserved)
				for i, named := range child.Named {
					q.Named[i] = q.Named[i] || named
				}
			}
		}
		for i := range q.Deserved {
			limit := q.Ceiling[i]
			if !tree {
				limit = q.RealCapability[i]
			}
			q.Deserved[i] = max(min(q.Deserved[i], limit), min(guaranteed[q][i], q.Capability[i]))
			q.Named[i] = q.Named[i] || q.Deserved[i] > queue.Epsilon
			q.Entitled[i] = q.Deserved[i]
		}
	}
}

// recordContradictions records contradictions between the specs of queues and their parents. These are not errors,
// because the narrower limit applies.
func recordContradictions(l *queue.Ledger, resources *resource.Names, tree bool) {
	order := make([]int, resources.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(resources.Name(a), resources.Name(b)) })
	for _, q := range l.Queues {
		if !q.Known {
			continue
		}
		w := warner{q: q, resources: resources}
		for _, i := range order {
			if tree {
				w.compareWithParent(i)
			}
		}
	}
}

type warner struct {
	q         *queue.Queue
	resources *resource.Names
}

func (w warner) addWarning(format string, args ...any) {
	w.q.Warnings = append(w.q.Warnings, fmt.Sprintf(format, args...))
}

func (w warner) formatAmount(i int, v float64) string {
	q := resource.Quantity(w.resources.Name(i), int64(min(v, float64(resource.MaxSum))))
	return q.String()
}

// compareWithParent compares the queue with its parent and with its children, and records contradictions.
func (w warner) compareWithParent(i int) {
	q, name := w.q, w.resources.Name(i)
	hasOwnLimit := slices.Contains(q.HasCapability, int32(i))
	if p := q.Parent; p != nil && hasOwnLimit && q.Capability[i] > p.Capability[i]+queue.Epsilon {
		w.addWarning("capability %s %s exceeds the capability of parent queue %s; the parent's capability %s applies", name, w.formatAmount(i, q.Capability[i]), p.Name, w.formatAmount(i, p.Capability[i]))
	}
	if q.IsLeaf() {
		return
	}
	deserved, guarantee := 0.0, 0.0
	for _, child := range q.Children {
		deserved += float64(child.Queue.Deserved.Get(i))
		guarantee += float64(child.Guarantee.Get(i))
	}
	if own := float64(q.Queue.Deserved.Get(i)); own > 0 && deserved > own+queue.Epsilon {
		w.addWarning("the deserved shares of the child queues add up to %s %s, but the deserved share of this queue is %s", name, w.formatAmount(i, deserved), w.formatAmount(i, own))
	}
	if own := float64(q.Guarantee.Get(i)); own > 0 && guarantee > own+queue.Epsilon {
		w.addWarning("the guarantees of the child queues add up to %s %s, but the guarantee of this queue is %s; the larger value applies", name, w.formatAmount(i, guarantee), w.formatAmount(i, own))
	}
	if guarantee > q.Capability[i]+queue.Epsilon {
		w.addWarning("the guarantees of the child queues add up to %s %s, but the capability of this queue is %s; the capability applies", name, w.formatAmount(i, guarantee), w.formatAmount(i, q.Capability[i]))
	}
}
