package outbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func queued(sizes map[string]int, order ...string) *gangQueue {
	q := newGangQueue()
	for _, gang := range order {
		for i := range sizes[gang] {
			q.pushGangWrite(&write{lane: bindLane, gang: gang, key: fmt.Sprint(gang, i)})
		}
	}
	return q
}

func drained(q *gangQueue) string {
	var order []string
	for w := q.popNextWrite(); w != nil; w = q.popNextWrite() {
		order = append(order, w.key)
	}
	return strings.Join(order, " ")
}

func TestGangsWithTheFewestWritesLeftGoFirstButTheOldestIsNotForgotten(t *testing.T) {
	q := queued(map[string]int{"big": 6, "small": 2, "tiny": 1}, "big", "small", "tiny")
	// The fourth write belongs to big, the gang that has waited longest.
	want := "tiny0 small0 small1 big0 big1 big2 big3 big4 big5"
	if diff := cmp.Diff(want, drained(q)); diff != "" {
		t.Error(diff)
	}
	q = queued(map[string]int{"big": 6, "a": 3, "b": 3}, "big", "a", "b")
	want = "a0 a1 a2 big0 b0 b1 b2 big1 big2 big3 big4 big5"
	if diff := cmp.Diff(want, drained(q)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryWriteLeavesTheGangQueueOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newGangQueue()
		inside := map[string]bool{}
		last := map[string]int{}
		for step := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "push") {
				w := &write{gang: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "gang"), key: fmt.Sprint(step)}
				q.pushGangWrite(w)
				inside[w.key] = true
			} else if w := q.popNextWrite(); w != nil {
				if !inside[w.key] {
					t.Fatalf("write %s came out twice", w.key)
				}
				delete(inside, w.key)
				var n int
				fmt.Sscan(w.key, &n)
				if before, ok := last[w.gang]; ok && before > n {
					t.Fatalf("gang %s: write %d after %d", w.gang, n, before)
				}
				last[w.gang] = n
			}
			if q.waiting != len(inside) {
				t.Fatalf("queue says %d wait, in truth %d", q.waiting, len(inside))
			}
		}
		for w := q.popNextWrite(); w != nil; w = q.popNextWrite() {
			delete(inside, w.key)
		}
		if len(inside) != 0 {
			t.Fatalf("never came out: %v", inside)
		}
	})
}
