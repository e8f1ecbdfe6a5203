package jobid

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

var errDown = errors.New("the API server does not answer")

// cluster is a Store with all possible disturbances.
type cluster struct {
	mu      sync.Mutex
	value   int64
	there   bool
	version int // never the same twice
	garbage bool
	used    int64
	writes  int
	reads   int
	// down makes calls fail; lostReply makes a write fail after it was carried out.
	down, lostReply bool
}

func (c *cluster) Load(context.Context) (Mark, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	switch {
	case c.down:
		return Mark{}, errDown
	case !c.there:
		return Mark{Missing: true}, nil
	case c.garbage:
		return Mark{Missing: true, Version: fmt.Sprint(c.version)}, nil
	}
	return Mark{Value: c.value, Version: fmt.Sprint(c.version)}, nil
}

func (c *cluster) Swap(_ context.Context, old Mark, to int64) (Mark, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return Mark{}, errDown
	}
	if c.there && old.Version != fmt.Sprint(c.version) || !c.there && old.Version != "" {
		return Mark{}, ErrConflict
	}
	c.writes++
	c.version++
	c.value, c.there, c.garbage = to, true, false
	if c.lostReply {
		return Mark{}, errDown
	}
	return Mark{Value: to, Version: fmt.Sprint(c.version)}, nil
}

func (c *cluster) Used(context.Context) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, nil
}

// give records that a job got numbers up to last.
func (c *cluster) give(last int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = max(c.used, last)
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestNoNumberIsGivenTwiceWhateverHappens(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 2000, func(t *rapid.T) {
		c, clock := &cluster{}, &clock{at: time.Unix(0, 0)}
		processes := make([]*Allocator, rapid.IntRange(1, 3).Draw(t, "processes"))
		for i := range processes {
			processes[i] = New(c, clock.now)
		}
		given := map[int64]bool{}
		last := make([]int64, len(processes))
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			clock.at = clock.at.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			i := rapid.IntRange(0, len(processes)-1).Draw(t, "process")
			switch rapid.IntRange(0, 15).Draw(t, "what") {
			case 0: // a crash, or another leader
				processes[i], last[i] = New(c, clock.now), 0
			case 1:
				c.down = !c.down
			case 2:
				c.lostReply = !c.lostReply
			case 3: // the ConfigMap is deleted or overwritten by a user
				if c.garbage = rapid.Bool().Draw(t, "garbage"); !c.garbage {
					c.there = false
					for j := range processes {
						if c.used == 0 { // as in a new cluster: there is no sign of reserved numbers
							processes[j], last[j] = New(c, clock.now), 0
						}
					}
				} else {
					c.there = true
					c.version++
				}
			default:
				n := rapid.SampledFrom([]int{1, 1, 1, 1, 5, 3000}).Draw(t, "n")
				first, err := processes[i].Take(t.Context(), n)
				if err != nil {
					if !c.down && !c.lostReply && !clock.at.Before(processes[i].refused) {
						t.Fatalf("no number, and nothing is wrong: %v", err)
					}
					continue
				}
				if first <= last[i] {
					t.Fatalf("%d after %d", first, last[i])
				}
				for id := first; id < first+int64(n); id++ {
					if given[id] {
						t.Fatalf("%d is given twice", id)
					}
					given[id] = true
				}
				last[i] = first + int64(n) - 1
				c.give(last[i])
			}
		}
	})
}

func TestManyJobsAtOnceCostFewWrites(t *testing.T) {
	t.Parallel()
	c, clock := &cluster{}, &clock{at: time.Unix(0, 0)}
	a := New(c, clock.now)
	var mu sync.Mutex
	var wg sync.WaitGroup
	given := map[int64]bool{}
	for range 50 {
		wg.Go(func() {
			for range 100 {
				id, err := a.Take(context.Background(), 1)
				mu.Lock()
				if err != nil || given[id] {
					t.Errorf("%d, %v", id, err)
				}
				given[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(given) != 5000 || !given[1] || !given[5000] {
		t.Errorf("%d numbers, without a gap they are 1 to 5000", len(given))
	}
	if c.writes > 12 {
		t.Errorf("%d writes for 5000 numbers", c.writes)
	}
}

func TestOneProcessAloneWritesOnceABlockHoweverSlowJobsCome(t *testing.T) {
	t.Parallel()
	c, clock := &cluster{}, &clock{at: time.Unix(0, 0)}
	a := New(c, clock.now)
	for want := int64(1); want <= firstBlock; want++ {
		if id, err := a.Take(t.Context(), 1); err != nil || id != want {
			t.Fatalf("%d, %v; want %d", id, err, want)
		}
		clock.at = clock.at.Add(time.Hour)
	}
	if c.writes != 1 {
		t.Errorf("%d writes", c.writes)
	}
}

func TestANumberGivenLaterElsewhereIsLarger(t *testing.T) {
	t.Parallel()
	c, clock := &cluster{}, &clock{at: time.Unix(0, 0)}
	a, b := New(c, clock.now), New(c, clock.now)
	var last int64
	for i := range 20 {
		for _, p := range []*Allocator{a, b} {
			clock.at = clock.at.Add(fresh)
			id, err := p.Take(t.Context(), 1)
			if err != nil || id <= last {
				t.Fatalf("round %d: %d after %d, %v", i, id, last, err)
			}
			last = id
		}
	}
}

func TestAnOutageDelaysOnlyTheFirst(t *testing.T) {
	t.Parallel()
	c, clock := &cluster{down: true}, &clock{at: time.Unix(0, 0)}
	a := New(c, clock.now)
	for range 100 {
		if _, err := a.Take(t.Context(), 1); !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if c.reads != 1 {
		t.Errorf("the store was asked %d times", c.reads)
	}
	c.down = false
	clock.at = clock.at.Add(retryAfter)
	if id, err := a.Take(t.Context(), 1); err != nil || id != 1 {
		t.Errorf("%d, %v", id, err)
	}
}
