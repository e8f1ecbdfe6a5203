package scheduler

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// countedPositions is how many positions in a queue are counted individually before the whole queue is sorted.
const countedPositions = 8

// positions computes the positions of waiting gangs in their queues, for the explanations of a cycle.
type positions struct {
	s       *cycle.Cycle
	byQueue map[*queue.Queue]*queuePositions
	front   map[*framework.Job]bool // the first gangs of their queues, or nil if they have not been computed yet
}

// queuePositions holds the gangs that are waiting in a queue.
type queuePositions struct {
	jobs      []*framework.Job // in no particular order until sorted
	requested int              // number of positions that were requested
	at        map[*framework.Job]int
}

// positionOf returns a gang's position, counted from 1, among the gangs in its queue that are waiting for their
// minimum, and the number of these gangs. Both are 0 if the gang is not waiting for its minimum.
func (p *positions) positionOf(j *framework.Job) (position, waiting int) {
	if p.byQueue == nil {
		p.groupByQueue()
	}
	inQueue := p.byQueue[j.In]
	if inQueue == nil || !j.WaitsToStart() {
		return 0, 0
	}
	inQueue.requested++
	if inQueue.requested <= countedPositions {
		return p.countPosition(j, inQueue.jobs), len(inQueue.jobs)
	}
	if inQueue.at == nil {
		p.s.SortQueue(inQueue.jobs)
		inQueue.at = make(map[*framework.Job]int, len(inQueue.jobs))
		for i, other := range inQueue.jobs {
			inQueue.at[other] = i + 1
		}
	}
	return inQueue.at[j], len(inQueue.jobs)
}

// groupByQueue groups the gangs that are waiting for their minimum by queue.
func (p *positions) groupByQueue() {
	p.byQueue = map[*queue.Queue]*queuePositions{}
	for _, j := range p.s.AllWaiting {
		if j == nil || !j.WaitsToStart() {
			continue
		}
		if p.byQueue[j.In] == nil {
			p.byQueue[j.In] = &queuePositions{}
		}
		p.byQueue[j.In].jobs = append(p.byQueue[j.In].jobs, j)
	}
}

// countPosition returns the position of a gang among the gangs of its queue by comparing it with each of them.
func (p *positions) countPosition(j *framework.Job, jobs []*framework.Job) int {
	position := 1
	for _, other := range jobs {
		if other != j && p.s.Rules.CompareJobs(other, j) < 0 {
			position++
		}
	}
	return position
}

// isInFront reports whether a gang is among the first gangs of its queue that are waiting for their minimum. It agrees
// with positionOf but does not sort the queue.
func (p *positions) isInFront(j *framework.Job) bool {
	if p.front == nil {
		p.front = firstGangsOfQueues(p.s, (*framework.Job).WaitsToStart)
	}
	return p.front[j]
}

// frontGangs returns, for each queue, the first gangs that are waiting for their minimum and the first gangs that are
// waiting for more.
func frontGangs(s *cycle.Cycle) map[*framework.Job]bool {
	first := firstGangsOfQueues(s, (*framework.Job).WaitsToStart)
	maps.Copy(first, firstGangsOfQueues(s, func(j *framework.Job) bool { return !j.WaitsToStart() }))
	return first
}

// firstGangsOfQueues returns, for each queue, the first waiting gangs for which selects returns true, at most front of
// them.
func firstGangsOfQueues(s *cycle.Cycle, selects func(*framework.Job) bool) map[*framework.Job]bool {
	firstByQueue := map[*queue.Queue][]*framework.Job{}
	for _, j := range s.AllWaiting {
		if j == nil || !selects(j) {
			continue
		}
		first := firstByQueue[j.In]
		if len(first) == front && s.Rules.CompareJobs(first[front-1], j) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, j, s.Rules.CompareJobs)
		first = slices.Insert(first, at, j)
		firstByQueue[j.In] = first[:min(front, len(first))]
	}
	selected := map[*framework.Job]bool{}
	for _, first := range firstByQueue {
		for _, j := range first {
			selected[j] = true
		}
	}
	return selected
}

// similarLabels maps a label that no node has to a similar node label. It is a cache for one cycle.
type similarLabels map[string]string

// findSimilar returns a node label that is similar to a label that no node has, or "" if none exists.
func (l similarLabels) findSimilar(s *cycle.Cycle, label string) string {
	if similar, known := l[label]; known {
		return similar
	}
	similar := explain.SuggestLabel(label, func(yield func(map[string]string) bool) {
		for _, id := range s.View.Order {
			if !yield(s.Cluster.Nodes.Info[id].Labels) {
				return
			}
		}
	})
	l[label] = similar
	return similar
}
