package proportion

import (
	"slices"

	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// SetQueueShares sets RealCapability and Deserved for every queue.
//
// The usable resources of the cluster are divided by weight, in rounds. A queue whose share covers its request or
// reaches its limit drops out, and the remainder is divided in the next round. Queues without gangs get only their
// guarantees. A queue without a Queue object, because the object was never created or was deleted, gets nothing,
// because no gang can start in such a queue and its share would remain unused.
//
// The guarantees of other queues are subtracted from the usable resources. A queue that is not limited by guarantees
// may use everything that the nodes have. In that case the nodes are the limit, and the queue's jobs report the reasons
// why the nodes cannot run them.
func SetQueueShares(l *queue.Ledger) {
	n := len(l.Total)
	guaranteed := make([]float64, n)
	for _, q := range l.Queues {
		for _, t := range guaranteeOf(q) {
			guaranteed[t.Index] += float64(t.Value)
		}
	}
	var open []*queue.Queue
	for _, q := range l.Queues {
		for i := range q.RealCapability {
			own, room := float64(guaranteeOf(q).Get(i)), l.Total[i]
			if guaranteed[i] > own {
				room = l.Usable[i]
			}
			q.RealCapability[i] = min(q.Capability[i], max(room-guaranteed[i], 0)+own)
		}
		if participatesInDivision(q) {
			open = append(open, q)
		}
	}
	divideUsable(l, open)
	setEntitlements(l, open)
	for _, q := range l.Queues {
		q.SetShare()
	}
}

// divideUsable sets the deserved amounts of the participating queues.
func divideUsable(l *queue.Ledger, open []*queue.Queue) {
	divideByWeight(l.Usable, slices.Clone(open))
	for i, total := range l.Usable {
		for _, q := range l.Queues { // reserve the guarantees of queues without requests
			if !participatesInDivision(q) {
				total -= float64(guaranteeOf(q).Get(i))
			}
		}
		capDeserved(open, i, total)
	}
}

// participatesInDivision reports whether a queue takes part in dividing the cluster.
func participatesInDivision(q *queue.Queue) bool { return q.Known && q.Gangs > 0 }

// guaranteeOf returns the guarantee of a queue, or nil if the queue has no Queue object.
func guaranteeOf(q *queue.Queue) resource.Request {
	if !q.Known {
		return nil
	}
	return q.Guarantee
}

// setEntitlements computes what each queue would deserve by its weight if it took part and requested enough.
func setEntitlements(l *queue.Ledger, open []*queue.Queue) {
	weights := 0.0
	for _, q := range open {
		weights += float64(max(q.Weight, 1))
	}
	idle := make([]float64, len(l.Total)) // reserve the guarantees of queues without requests
	for _, q := range l.Queues {
		if !participatesInDivision(q) {
			for i := range idle {
				idle[i] += float64(guaranteeOf(q).Get(i))
			}
		}
	}
	for _, q := range l.Queues {
		weight := float64(max(q.Weight, 1))
		all := weights
		if !participatesInDivision(q) {
			all += weight
		}
		for i := range q.Entitled {
			kept := idle[i]
			if !participatesInDivision(q) {
				kept -= float64(guaranteeOf(q).Get(i))
			}
			part := max(l.Usable[i]-kept, 0) * weight / all
			q.Entitled[i] = max(min(part, q.RealCapability[i]), float64(guaranteeOf(q).Get(i)), q.Deserved[i])
		}
	}
}

// divideByWeight divides the total among the open queues by weight, in rounds.
func divideByWeight(total []float64, open []*queue.Queue) {
	remaining := append([]float64(nil), total...)
	before := make([]float64, len(total))
	for len(open) > 0 {
		weights := 0.0
		for _, q := range open {
			weights += float64(max(q.Weight, 1))
		}
		change := make([]float64, len(total)) // all queues in a round get parts of the same remaining amounts
		unmet := open[:0]
		moved := false
		for _, q := range open {
			copy(before, q.Deserved)
			addQueuePart(q, remaining, float64(max(q.Weight, 1))/weights)
			changed := false
			for i := range change {
				delta := q.Deserved[i] - before[i]
				change[i] += delta
				changed = changed || delta > queue.Epsilon || delta < -queue.Epsilon
			}
			moved = moved || changed
			if changed && !fitsWithin(q.Own.Request, q.Deserved) {
				unmet = append(unmet, q)
			}
		}
		empty := true
		for i := range remaining {
			remaining[i] -= change[i]
			empty = empty && remaining[i] < queue.Epsilon
		}
		if empty || !moved {
			return
		}
		open = unmet
	}
}

// capDeserved reduces the deserved amounts of the queues if they exceed total. This can happen because guarantees are
// added to the divided amounts, so that other queues must give up some of theirs. The reduction follows the weights,
// and no queue falls below its guarantee.
func capDeserved(open []*queue.Queue, i int, total float64) {
	type bound struct{ least, most, weight float64 }
	bounds := make([]bound, 0, len(open))
	sum, least := 0.0, 0.0
	for _, q := range open {
		b := bound{min(float64(guaranteeOf(q).Get(i)), q.Deserved[i]), q.Deserved[i], float64(max(q.Weight, 1))}
		sum, least = sum+b.most, least+b.least
		bounds = append(bounds, b)
	}
	if sum <= total+queue.Epsilon {
		return
	}
	// Between the heights at which queues reach their guarantee or their previous amount, the sum is a linear function
	// of the height.
	at := func(height float64) (sum, slope float64) {
		for _, b := range bounds {
			switch part := height * b.weight; {
			case part <= b.least:
				sum += b.least
			case part >= b.most:
				sum += b.most
			default:
				sum, slope = sum+part, slope+b.weight
			}
		}
		return sum, slope
	}
	heights := make([]float64, 0, 2*len(bounds))
	for _, b := range bounds {
		heights = append(heights, b.least/b.weight, b.most/b.weight)
	}
	slices.Sort(heights)
	height := 0.0
	if total > least {
		height = levelFor(total, heights, at)
	}
	for k, q := range open {
		b := bounds[k]
		q.Deserved[i] = min(max(height*b.weight, b.least), b.most)
	}
}

// levelFor returns the height at which the amounts sum up to total. heights are the sorted heights between which the
// sum grows linearly, and at returns the sum at a height and its slope there.
func levelFor(total float64, heights []float64, at func(height float64) (sum, slope float64)) float64 {
	k, _ := slices.BinarySearchFunc(heights, total, func(h, total float64) int {
		if have, _ := at(h); have < total {
			return -1
		}
		return 1
	})
	if k == 0 || k == len(heights) {
		return 0
	}
	low, high := heights[k-1], heights[k]
	have, _ := at(low)
	if _, slope := at((low + high) / 2); slope > 0 {
		return low + (total-have)/slope
	}
	return low
}

// addQueuePart adds a queue's part of the remaining amounts, within its limits.
func addQueuePart(q *queue.Queue, remaining []float64, part float64) {
	for i := range q.Deserved {
		d := q.Deserved[i] + max(remaining[i], 0)*part
		d = min(d, q.RealCapability[i], q.Own.Request[i])
		q.Deserved[i] = max(d, float64(q.Guarantee.Get(i)))
	}
}

func fitsWithin(a, b []float64) bool {
	for i := range a {
		if a[i] > b[i]+queue.Epsilon {
			return false
		}
	}
	return true
}
