package evict_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/propertytest"
)

var (
	// manyEvicted, oneEvicted and ownEvicted are the forms of the message to the gang that gets the resources.
	manyEvicted = regexp.MustCompile(`^(\d+) pods of (\S+) evicted: (.*)$`)
	oneEvicted  = regexp.MustCompile(`^pod (\S+) evicted: (.*)$`)
	ownEvicted  = regexp.MustCompile(`^(\d+) pods evicted: (.*)$`)
	higher      = regexp.MustCompile(`its priority is higher \((-?\d+) over (-?\d+)\)`)
)

// title returns the name by which users know a gang of the fight: that of its job, if it is of one.
func (w *fight) title(gang string) string {
	if job := w.jobs[gang]; job != "" {
		return "default/" + job
	}
	return "default/" + gang
}

// evictedFor groups the evictions of a cycle by the gangs that get the resources and the gangs that lose them.
func evictedFor(d *decision.Decisions) map[[2]string][]*decision.Evict {
	groups := map[[2]string][]*decision.Evict{}
	for i := range d.Evicts {
		e := &d.Evicts[i]
		pair := [2]string{e.Preemptor.Name, e.Gang.Name}
		groups[pair] = append(groups[pair], e)
	}
	return groups
}

// checkMessages compares the messages about the evictions of a cycle with the evictions: who loses pods, for whom, how
// many and why.
func (w *fight) checkMessages(d *decision.Decisions, nodes map[string]string) {
	for pair, evicts := range evictedFor(d) {
		told := 0
		for _, e := range evicts {
			told += w.countTold(e)
			w.checkReason(e)
			if nodes[e.Pod.Name] != e.Node {
				w.t.Fatalf("%s is evicted from %s, and was on %s", e.Pod.Name, e.Node, nodes[e.Pod.Name])
			}
		}
		if told != len(evicts) {
			w.t.Fatalf("%d pods of %s are evicted for %s, told %d: %+v", len(evicts), pair[1], pair[0], told, evicts[0])
		}
	}
}

// countTold returns the number of pods that the message to the gang that gets the resources names, after comparing its
// names with the eviction.
func (w *fight) countTold(e *decision.Evict) int {
	text := e.PreemptorMessage
	if text == "" {
		return 0
	}
	number, subject, why := "1", "", ""
	if m := manyEvicted.FindStringSubmatch(text); m != nil {
		number, subject, why = m[1], m[2], m[3]
		if subject != w.title(e.Gang.Name) || e.Gang.Name == e.Preemptor.Name {
			w.t.Fatalf("a pod of %s is evicted, told %s", w.title(e.Gang.Name), text)
		}
	} else if m := oneEvicted.FindStringSubmatch(text); m != nil {
		if subject, why = m[1], m[2]; subject != "default/"+e.Pod.Name {
			w.t.Fatalf("pod %s is evicted, told %s", e.Pod.Name, text)
		}
	} else if m := ownEvicted.FindStringSubmatch(text); m != nil && e.Gang.Name == e.Preemptor.Name {
		number, why = m[1], m[2]
	} else {
		w.t.Fatalf("no such message is known: %s", text)
	}
	if why != e.Message {
		w.t.Fatalf("the two gangs are told %q and %q", why, e.Message)
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// checkReason compares the names and priorities in the message to the gang that loses a pod with the gangs.
func (w *fight) checkReason(e *decision.Evict) {
	taker, loser := w.queueOf[e.Preemptor.Name], w.queueOf[e.Gang.Name]
	start := fmt.Sprintf("%s in the same queue %s needs the resources: ", w.title(e.Preemptor.Name), taker)
	between := strings.HasSuffix(e.Reason, "reclaim")
	switch {
	case between:
		start = fmt.Sprintf("queue %s reclaims resources for %s: ", taker, w.title(e.Preemptor.Name))
	case e.Gang.Name == e.Preemptor.Name:
		start = fmt.Sprintf("%s needs the resources for default/%s-", w.title(e.Preemptor.Name), e.Preemptor.Name)
	}
	if !strings.HasPrefix(e.Message, start) || between == (taker == loser) {
		w.t.Fatalf("%s of queue %s loses a pod to %s of queue %s (%s), told %s", e.Gang.Name, loser, e.Preemptor.Name, taker, e.Reason, e.Message)
	}
	if _, names, about := strings.Cut(e.Message, "queue "+loser+" uses more"); between && !about {
		w.t.Fatalf("queue %s loses a pod, told %s %s", loser, e.Message, names)
	}
	m := higher.FindStringSubmatch(e.Message)
	if m == nil || e.Gang.Name == e.Preemptor.Name {
		return
	}
	if want := [2]string{fmt.Sprint(w.rank[e.Preemptor.Name]), fmt.Sprint(w.rank[e.Gang.Name])}; m[1] != want[0] || m[2] != want[1] || w.rank[e.Preemptor.Name] <= w.rank[e.Gang.Name] {
		w.t.Fatalf("the priorities of %s and %s are %v, told %s", e.Preemptor.Name, e.Gang.Name, want, e.Message)
	}
}

// checkVictims compares the gangs that an explanation names with the gangs that were evicted for it in this cycle, and
// the reason that a gang without its pods gives for that with what its pods were told.
func (w *fight) checkVictims(d *decision.Decisions, told map[string]map[string]bool) (waits int) {
	groups := evictedFor(d)
	for pair, evicts := range groups {
		if told[pair[1]] == nil {
			told[pair[1]] = map[string]bool{}
		}
		for _, e := range evicts {
			told[pair[1]][e.Message] = true
		}
	}
	for i := range d.Gangs {
		g := &d.Gangs[i]
		e := g.Status.Explanation
		if e == nil {
			continue
		}
		if e.EvictedBy != "" && !told[g.Gang.Name][e.EvictedBy] {
			w.t.Fatalf("%s says that it was evicted: %s; its pods were told %v", g.Gang.Name, e.EvictedBy, told[g.Gang.Name])
		}
		if e.Reason != string(reason.WaitingForVictims) {
			continue
		}
		victims := map[string]bool{}
		for pair := range groups {
			if pair[0] == g.Gang.Name {
				victims[w.title(pair[1])] = true
			}
		}
		_, names, _ := strings.Cut(e.Message, " that are terminating: ")
		got := strings.Split(names, ", ")
		slices.Sort(got)
		if want := slices.Sorted(maps.Keys(victims)); len(want) > 0 && !slices.Equal(got, want) {
			w.t.Fatalf("%v lose pods to %s, told %s", want, g.Gang.Name, e.Message)
		}
		waits++
	}
	return waits
}

// TestEvictionMessagesMatchTheEvictions (I12) checks the messages about evictions in fights: the numbers of pods and the gangs,
// queues and priorities that they name are those of the evictions.
func TestEvictionMessagesMatchTheEvictions(t *testing.T) {
	evicted, waits := 0, 0
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		w := drawFight(t, attacks, rapid.SampledFrom([]string{"preempt", "reclaim, preempt", "gangpreempt, gangreclaim", "gangreclaim, reclaim, gangpreempt, preempt"}).Draw(t, "actions"))
		told := map[string]map[string]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "waves") {
			for range rapid.IntRange(1, 4).Draw(t, "gangs") {
				w.submit()
			}
			for range 4 {
				clear(w.took)
				nodes := map[string]string{}
				for name, p := range w.pods {
					nodes[name] = p.Spec.NodeName
				}
				d := w.decide()
				w.checkMessages(&d, nodes)
				waits += w.checkVictims(&d, told)
				evicted += len(d.Evicts)
			}
		}
	})
	t.Logf("%d pods were evicted, %d gangs waited for their ends", evicted, waits)
	if whole && (evicted == 0 || waits == 0) {
		t.Error("no pods were evicted, or no gang waited for it")
	}
}
