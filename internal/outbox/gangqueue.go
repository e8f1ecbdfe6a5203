package outbox

import "container/heap"

// gangQueue orders writes by gang. The gang with the fewest queued writes comes first, so that gangs are completed
// one after the other. Every fourth write belongs to the gang that has waited longest.
type gangQueue struct {
	byNeed  needHeap
	gangs   map[string]*gangWrites
	oldest  []*gangWrites // gangs in order of arrival; empty entries are skipped lazily
	seq     uint64
	taken   uint64
	waiting int
}

// gangWrites holds the queued writes of one gang.
type gangWrites struct {
	gang   string
	seq    uint64
	index  int // index in the heap; -1 after removal
	writes []*write
}

// agedEvery is the number of writes after which one write belongs to the gang that has waited longest, whatever the
// gang's size.
const agedEvery = 4

func newGangQueue() *gangQueue {
	return &gangQueue{gangs: map[string]*gangWrites{}}
}

func (q *gangQueue) pushGangWrite(w *write) {
	q.waiting++
	if g, ok := q.gangs[w.gang]; ok {
		g.writes = append(g.writes, w)
		heap.Fix(&q.byNeed, g.index)
		return
	}
	q.seq++
	g := &gangWrites{gang: w.gang, seq: q.seq, writes: []*write{w}}
	q.gangs[w.gang] = g
	q.oldest = append(q.oldest, g)
	heap.Push(&q.byNeed, g)
}

// popNextWrite removes and returns the next write, or nil if the queue is empty.
func (q *gangQueue) popNextWrite() *write {
	if q.waiting == 0 {
		return nil
	}
	q.taken++
	g := q.byNeed[0]
	if q.taken%agedEvery == 0 {
		g = q.longestWaiting()
	}
	w := g.writes[0]
	g.writes[0] = nil
	g.writes = g.writes[1:]
	q.waiting--
	if len(g.writes) > 0 {
		heap.Fix(&q.byNeed, g.index)
		return w
	}
	heap.Remove(&q.byNeed, g.index)
	delete(q.gangs, g.gang)
	if len(q.gangs) == 0 {
		q.oldest = q.oldest[:0]
	}
	return w
}

func (q *gangQueue) longestWaiting() *gangWrites {
	for q.oldest[0].index < 0 {
		q.oldest[0] = nil
		q.oldest = q.oldest[1:]
	}
	return q.oldest[0]
}

// needHeap is a heap of gangs, ordered by number of queued writes, then by arrival.
type needHeap []*gangWrites

func (h needHeap) Len() int { return len(h) }

func (h needHeap) Less(i, j int) bool {
	if len(h[i].writes) != len(h[j].writes) {
		return len(h[i].writes) < len(h[j].writes)
	}
	return h[i].seq < h[j].seq
}

func (h needHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface. x is a *gangWrites.
func (h *needHeap) Push(x any) {
	g := x.(*gangWrites)
	g.index = len(*h)
	*h = append(*h, g)
}

// Pop implements heap.Interface. It returns a *gangWrites.
func (h *needHeap) Pop() any {
	last := len(*h) - 1
	g := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	g.index = -1
	return g
}
