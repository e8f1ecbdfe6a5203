package scheduler

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// countedPositions is how many positions in a queue are counted individually before the whole queue is sorted.
const countedPositions = 8

// positions computes the positions of waiting gangs in their queues, for the report of a cycle.
type positions struct {
	s       *session.Session
	byQueue map[*queue.Queue]*queuePositions
	front   map[*framework.Job]bool // the first gangs of their queues; nil if not computed yet
}

// queuePositions holds the gangs that wait in a queue.
type queuePositions struct {
	jobs      []*framework.Job // in no order until sorted
	requested int              // number of positions that were requested
	at        map[*framework.Job]int
}

// of returns the gang's position, from 1, among the gangs of its queue that wait for their minimum, and their number.
// A position of 0 means that the gang does not wait for its minimum.
func (p *positions) of(j *framework.Job) (position, waiting int) {
	if p.byQueue == nil {
		p.group()
	}
	inQueue := p.byQueue[j.In]
	if inQueue == nil || !j.Lacks() {
		return 0, 0
	}
	inQueue.requested++
	if inQueue.requested <= countedPositions {
		return p.count(j, inQueue.jobs), len(inQueue.jobs)
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

// group sorts the gangs that wait for their minimum by queue.
func (p *positions) group() {
	p.byQueue = map[*queue.Queue]*queuePositions{}
	for _, j := range p.s.AllWaiting {
		if j == nil || !j.Lacks() {
			continue
		}
		if p.byQueue[j.In] == nil {
			p.byQueue[j.In] = &queuePositions{}
		}
		p.byQueue[j.In].jobs = append(p.byQueue[j.In].jobs, j)
	}
}

// count returns the position of a gang among the gangs of its queue by comparing it with each.
func (p *positions) count(j *framework.Job, jobs []*framework.Job) int {
	position := 1
	for _, other := range jobs {
		if other != j && p.s.Rules.CompareJobs(other, j) < 0 {
			position++
		}
	}
	return position
}

// inFront reports whether a gang is among the first gangs of its queue that wait for their minimum. It gives the same
// result as of without sorting the queue.
func (p *positions) inFront(j *framework.Job) bool {
	if p.front == nil {
		p.front = firstOfQueues(p.s, (*framework.Job).Lacks)
	}
	return p.front[j]
}

// frontOf returns the first gangs of each queue that wait for their minimum, and the first ones that wait for more.
func frontOf(s *session.Session) map[*framework.Job]bool {
	first := firstOfQueues(s, (*framework.Job).Lacks)
	maps.Copy(first, firstOfQueues(s, func(j *framework.Job) bool { return !j.Lacks() }))
	return first
}

// firstOfQueues returns the first waiting gangs of each queue that selects accepts.
func firstOfQueues(s *session.Session, selects func(*framework.Job) bool) map[*framework.Job]bool {
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

// similarLabels caches, for one cycle, the node labels that are similar to labels that no node has.
type similarLabels map[string]string

// of returns a node label that is similar to a label that no node has; "" if there is no similar one.
func (l similarLabels) of(s *session.Session, label string) string {
	if similar, known := l[label]; known {
		return similar
	}
	similar := explain.NearLabel(label, func(yield func(map[string]string) bool) {
		for _, id := range s.View.Order {
			if !yield(s.Cluster.Nodes.Info[id].Labels) {
				return
			}
		}
	})
	l[label] = similar
	return similar
}
