package proportion

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// want is a queue of a case: its spec, its request, its deserved amount.
type want struct {
	queue    *make.QueueBuilder
	asks     int // cores
	deserves float64
}

func ledger(cores int, queues []want) *queue.Ledger {
	c := model.New()
	c.Apply(model.NodeFrom(make.Node("n").CPU(fmt.Sprint(cores)).Resource("pods", "1000").Obj()))
	for _, w := range queues {
		q := w.queue.Obj()
		c.Apply(model.QueueFrom(q))
		if w.asks == 0 {
			continue
		}
		c.Apply(model.GangFrom(make.Gang(q.Name).Queue(q.Name).Obj()))
		for i := range w.asks {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", q.Name, i)).Gang(q.Name).CPU("1").Obj(), true))
		}
	}
	l := &queue.Ledger{}
	l.Open(c)
	SetQueueShares(l)
	return l
}

func TestShare(t *testing.T) {
	cases := map[string]struct {
		cores  int
		queues []want
	}{
		"by weight, when all want more than there is": {4, []want{{make.Queue("a"), 9, 1000}, {make.Queue("b").Weight(3), 9, 3000}}},
		"what one does not want goes to the others":   {8, []want{{make.Queue("a"), 1, 1000}, {make.Queue("b"), 9, 3500}, {make.Queue("c"), 9, 3500}}},
		"a queue without gangs takes no part":         {4, []want{{make.Queue("a"), 9, 4000}, {make.Queue("b"), 0, 0}}},
		"a capability bounds, the rest is shared on":  {8, []want{{make.Queue("a").Capability("cpu", "2"), 9, 2000}, {make.Queue("b"), 9, 6000}}},
		"a guarantee of others is out of reach":       {8, []want{{make.Queue("a"), 9, 5000}, {make.Queue("b").Guarantee("cpu", "3"), 0, 3000}}},
		"what is guaranteed is given by those who have most, by weight": {12, []want{
			{make.Queue("a").Weight(10), 9, 4000}, {make.Queue("b").Guarantee("cpu", "4"), 9, 4000}, {make.Queue("c").Weight(10), 9, 4000}}},
		"a guarantee nobody asks for is out of reach of two together": {12, []want{
			{make.Queue("a"), 9, 4000}, {make.Queue("b").Guarantee("cpu", "4"), 0, 4000}, {make.Queue("c"), 9, 4000}}},
		"more asked than there is, thirds": {10, []want{{make.Queue("a"), 9, 10000. / 3}, {make.Queue("b"), 9, 10000. / 3}, {make.Queue("c"), 9, 10000. / 3}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := ledger(c.cores, c.queues)
			for i, w := range c.queues {
				got := l.Queues[i].Deserved[resource.CPU]
				if w.asks == 0 {
					continue
				}
				if got < w.deserves-1 || got > w.deserves+1 {
					t.Errorf("queue %s deserves %v, want %v", l.Queues[i].Name, got, w.deserves)
				}
			}
		})
	}
}

// TestShareOfHugeRequests sums more than an int64 holds. The queue still deserves what exists, and another queue's
// guarantee beyond 1Pi counts fully.
func TestShareOfHugeRequests(t *testing.T) {
	c := model.New()
	for i := range 4 {
		c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU("4").Memory("900Ti").Resource("pods", "110").Obj()))
	}
	c.Apply(model.QueueFrom(make.Queue("greedy").Obj()), model.QueueFrom(make.Queue("other").Guarantee("memory", "2Pi").Obj()))
	c.Apply(model.GangFrom(make.Gang("g").Queue("greedy").Obj()))
	for i := range 9000 {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("p-%d", i)).Gang("g").Memory("1000Ti").Obj(), true))
	}
	l := &queue.Ledger{}
	l.Open(c)
	SetQueueShares(l)
	greedy, other := l.Queues[0], l.Queues[1]
	if want := float64(3600-2048) * (1 << 40); greedy.Deserved[resource.Memory] != want {
		t.Errorf("the greedy queue deserves %v, want %v", greedy.Deserved[resource.Memory], want)
	}
	if want := float64(2 << 50); other.RealCapability[resource.Memory] < want {
		t.Errorf("the guarantee reaches to %v, want at least %v", other.RealCapability[resource.Memory], want)
	}
}

// TestShareLimits checks the invariants. No queue deserves more than its request (except for its guarantee) or its
// limit. Without guarantees the sum is at most the total, and nothing is left while some queue could have it.
func TestShareLimits(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		cores := rapid.IntRange(0, 20).Draw(t, "cores")
		var queues []want
		for i := range rapid.IntRange(1, 6).Draw(t, "queues") {
			b := make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 9).Draw(t, "weight")))
			if rapid.Bool().Draw(t, "capped") {
				b.Capability("cpu", fmt.Sprint(rapid.IntRange(1, 10).Draw(t, "cap")))
			}
			queues = append(queues, want{queue: b, asks: rapid.IntRange(0, 12).Draw(t, "asks")})
		}
		l := ledger(cores, queues)
		sum, hungry := 0.0, false
		for _, q := range l.Queues {
			d := q.Deserved[resource.CPU]
			sum += d
			if d > q.Request[resource.CPU]+1 || d > q.RealCapability[resource.CPU]+1 {
				t.Fatalf("queue %s deserves %v of %v asked, limit %v", q.Name, d, q.Request[resource.CPU], q.RealCapability[resource.CPU])
			}
			hungry = hungry || d < min(q.Request[resource.CPU], q.RealCapability[resource.CPU])-1
		}
		if sum > float64(cores*1000)+1 {
			t.Fatalf("%v given of %d", sum, cores*1000)
		}
		if hungry && sum < float64(cores*1000)-1 {
			t.Fatalf("%v given of %d though somebody wants more", sum, cores*1000)
		}
	})
}

// TestGuaranteesAreDeserved checks that, as long as the cluster has the guaranteed resources, every queue deserves
// its guarantee, and all together deserve at most the total minus the guarantees of queues without requests. A
// guarantee can then always be reclaimed.
func TestGuaranteesAreDeserved(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		cores := rapid.IntRange(1, 24).Draw(t, "cores")
		left := cores
		var queues []want
		var guarantees []int
		for i := range rapid.IntRange(1, 6).Draw(t, "queues") {
			b := make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 20).Draw(t, "weight")))
			guarantee := rapid.IntRange(0, left/2).Draw(t, "guarantee")
			if guarantee > 0 {
				b.Guarantee("cpu", fmt.Sprint(guarantee))
			}
			left -= guarantee
			guarantees = append(guarantees, guarantee)
			queues = append(queues, want{queue: b, asks: rapid.IntRange(0, 24).Draw(t, "asks")})
		}
		l := ledger(cores, queues)
		sum, hungry, lost := 0.0, false, 0.0
		for i, q := range l.Queues {
			guaranteed, d := float64(guarantees[i]*1000), q.Deserved[resource.CPU]
			if queues[i].asks == 0 {
				lost += guaranteed
				continue
			}
			sum += d
			if d < guaranteed-1 {
				t.Fatalf("queue %s deserves %v, and is guaranteed %v", q.Name, d, guaranteed)
			}
			lost += max(guaranteed-q.Request[resource.CPU], 0)
			hungry = hungry || d < min(q.Request[resource.CPU], q.RealCapability[resource.CPU])-1
		}
		idle := 0.0
		for i, w := range queues {
			if w.asks == 0 {
				idle += float64(guarantees[i] * 1000)
			}
		}
		if most := float64(cores*1000) - idle; sum > most+1 {
			t.Fatalf("all deserve %v together, and there is %v", sum, most)
		}
		if free := float64(cores*1000) - lost; hungry && sum < free-1 {
			t.Fatalf("%v is given, somebody could have more, and there is %v", sum, free)
		}
	})
}
