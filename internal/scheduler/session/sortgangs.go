package session

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// SortGangs sorts gangs by the order of their queues and, within a queue, by the order of gangs.
func (s *Session) SortGangs(gangs []*framework.Job) {
	byQueue, queues := map[*queue.Queue][]*framework.Job{}, []*queue.Queue(nil)
	for _, j := range gangs {
		if byQueue[j.In] == nil {
			queues = append(queues, j.In)
		}
		byQueue[j.In] = append(byQueue[j.In], j)
	}
	slices.SortFunc(queues, s.Rules.CompareQueues)
	sorted := gangs[:0]
	for _, q := range queues {
		s.SortQueue(byQueue[q])
		sorted = append(sorted, byQueue[q]...)
	}
}

// SortQueue sorts gangs of one queue. The comparisons by policies are costly, and the order changes little between
// cycles. Therefore, the gangs are first sorted by the ranks that they got when they were last sorted. Gangs that are
// already in order then need only one comparison by policies each.
func (s *Session) SortQueue(gangs []*framework.Job) {
	slices.SortFunc(gangs, func(a, b *framework.Job) int { return cmp.Compare(a.Rank, b.Rank) })
	ranks := make([]uint64, len(gangs))
	for i, j := range gangs {
		ranks[i] = j.Rank
	}
	slices.SortFunc(gangs, s.Rules.CompareJobs)
	for i, j := range gangs {
		j.Rank = ranks[i]
	}
}
