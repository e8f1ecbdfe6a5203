package evict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

func TestVictimsOfLowPriorityCostLessThanFewPods(t *testing.T) {
	t.Parallel()
	sets := []cost{ // the cheapest first
		{pods: 9, lost: time.Hour},
		{broken: []int32{1}, pods: 4, lost: time.Minute},
		{broken: []int32{1}, pods: 4, lost: time.Hour},
		{broken: []int32{1}, pods: 5},
		{broken: []int32{1, 1}, pods: 2},
		{broken: []int32{2}, pods: 1},
		{broken: []int32{2, 1}, pods: 1},
	}
	for i, a := range sets {
		for k, b := range sets {
			if got, want := a.compare(b) < 0, i < k; got != want {
				t.Errorf("%+v is cheaper than %+v: %t, want %t", a, b, got, want)
			}
		}
	}
}

// planOf returns a plan with a surplus unit, then whole gangs of queue a with priorities 0, 0 and 5, and then two of
// queue b with priority 0. uses are the uses of the whole gangs.
func planOf(uses ...float64) *plan {
	a, b := &queue.Queue{}, &queue.Queue{}
	p := &plan{}
	p.units = append(p.units, unit{gang: &model.Gang{}, from: a})
	for i, of := range []struct {
		from     *queue.Queue
		priority int32
	}{{a, 0}, {a, 0}, {a, 5}, {b, 0}, {b, 0}} {
		p.units = append(p.units, unit{gang: &model.Gang{Priority: of.priority}, from: of.from, whole: true, use: uses[i]})
	}
	return p
}

func TestUsefulGangsComeFirstWithinTheirQueueAndPriority(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]int{0, 2, 1, 3, 5, 4}, planOf(1, 2, 9, 3, 4).orderByUse()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if order := planOf(2, 1, 9, 4, 3).orderByUse(); order != nil {
		t.Errorf("%v, want none other than the default", order)
	}
}

func TestEachGangOfTheLastBrokenClassIsTriedAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chosen []int
		want   [][]int
	}{
		"no gang is broken":  {[]int{0}, nil},
		"one gang is broken": {[]int{0, 1}, [][]int{{0, 1}, {0, 2}}},
		"gangs of two classes are, and one is more useful": {[]int{1, 3}, [][]int{{0, 3}, {0, 2, 1, 3, 4, 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, planOf(1, 2, 0, 0, 0).alternativeOrders(c.chosen)); diff != "" {
				t.Errorf("orders (-want +got):\n%s", diff)
			}
		})
	}
}
