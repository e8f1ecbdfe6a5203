package session

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// shuffled returns gangs of two queues in random order, and a session that orders them by priority and counts the
// comparisons.
func shuffled(n int, random *rand.Rand, compared *int) (*Session, []*framework.Job) {
	queues := []*queue.Queue{{Queue: &model.Queue{Name: "a"}}, {Queue: &model.Queue{Name: "b"}}}
	s := &Session{}
	s.Rules.JobOrder = append(s.Rules.JobOrder, func(a, b *framework.Job) int {
		*compared++
		return cmp.Compare(b.Priority, a.Priority)
	})
	gangs := make([]*framework.Job, n)
	for i := range gangs {
		gangs[i] = &framework.Job{Gang: &model.Gang{Name: fmt.Sprint(i)}, Priority: int32(random.Intn(20)), In: queues[random.Intn(2)], Rank: uint64(i + 1)}
	}
	random.Shuffle(n, func(i, k int) { gangs[i], gangs[k] = gangs[k], gangs[i] })
	return s, gangs
}

func TestSortedGangsAreInTheOrderOfQueuesAndPolicies(t *testing.T) {
	random, compared := rand.New(rand.NewSource(1)), 0
	s, gangs := shuffled(500, random, &compared)
	inOrder := func(a, b *framework.Job) int {
		if a.In != b.In {
			return s.Rules.CompareQueues(a.In, b.In)
		}
		return s.Rules.CompareJobs(a, b)
	}
	for round := range 20 {
		some := slices.Clone(gangs[:1+random.Intn(len(gangs))])
		want := slices.SortedFunc(slices.Values(some), inOrder)
		s.SortGangs(some)
		if !slices.Equal(some, want) {
			t.Fatalf("round %d: %d gangs are not in order", round, len(some))
		}
		gangs[random.Intn(len(gangs))].Priority = int32(random.Intn(20))
		random.Shuffle(len(gangs), func(i, k int) { gangs[i], gangs[k] = gangs[k], gangs[i] })
	}
}

func TestGangsInTheirLastOrderAreSortedWithOneComparisonEach(t *testing.T) {
	random, compared := rand.New(rand.NewSource(1)), 0
	s, gangs := shuffled(5000, random, &compared)
	s.SortGangs(gangs)
	random.Shuffle(len(gangs), func(i, k int) { gangs[i], gangs[k] = gangs[k], gangs[i] })
	part := gangs[:4000]
	s.SortGangs(slices.Clone(part)) // other lists in between do not change the order
	compared = 0
	s.SortGangs(gangs)
	if most := 2 * len(gangs); compared > most {
		t.Errorf("%d comparisons for %d gangs in their last order; at most %d expected", compared, len(gangs), most)
	}
}
