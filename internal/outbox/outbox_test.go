package outbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func one(pod string) *decision.Decisions {
	return &decision.Decisions{Binds: []decision.Bind{{Pod: object(pod), Node: "n1"}}}
}

func TestSuccessfulBindHasAnEventAndNoReport(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		r.Put(one("p"))
		after(3 * time.Second)
		want := []string{"bind p n1", "event p Scheduled"}
		if diff := cmp.Diff(want, r.api.seen()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if got := r.reports(); len(got) != 0 {
			t.Errorf("reports: %v, want none", got)
		}
	})
}

func TestFailedBinds(t *testing.T) {
	cases := map[string]struct {
		answer func(call string, nth int) error
		bound  map[string]string
		calls  []string
		failed bool
	}{
		"a server that is busy is asked again": {
			answer: func(call string, nth int) error {
				if nth < 3 {
					return busy
				}
				return nil
			},
			calls: []string{"bind p n1", "bind p n1", "bind p n1"},
		},
		"a connection that breaks is tried again": {
			answer: func(call string, nth int) error {
				if nth == 1 {
					return errors.New("connection reset by peer")
				}
				return nil
			},
			calls: []string{"bind p n1", "bind p n1"},
		},
		"a pod that is gone is reported": {
			answer: func(string, int) error { return missing },
			calls:  []string{"bind p n1"}, failed: true,
		},
		"a conflict of our own earlier bind is success": {
			answer: func(call string, _ int) error {
				if strings.HasPrefix(call, "bind") {
					return conflict
				}
				return nil
			},
			bound: map[string]string{"p": "n1"},
			calls: []string{"bind p n1", "get p"},
		},
		"a conflict with somebody else's bind is reported": {
			answer: func(call string, _ int) error {
				if strings.HasPrefix(call, "bind") {
					return conflict
				}
				return nil
			},
			bound: map[string]string{"p": "n2"},
			calls: []string{"bind p n1", "get p"}, failed: true,
		},
		"a server that never answers is given up in the end": {
			answer: func(call string, _ int) error {
				if strings.HasPrefix(call, "bind") {
					return errors.New("connection refused")
				}
				return nil
			},
			calls: slices.Repeat([]string{"bind p n1"}, maxAttempts), failed: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, &fakeAPI{answer: c.answer, bound: c.bound}, func(t *testing.T, r *rig) {
				r.Put(one("p"))
				after(2 * time.Minute)
				calls := slices.DeleteFunc(r.api.seen(), func(c string) bool { return strings.HasPrefix(c, "event") })
				if diff := cmp.Diff(c.calls, calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				reports := r.reports()
				if !c.failed {
					if len(reports) != 0 {
						t.Errorf("reports: %v, want none", reports)
					}
					return
				}
				if len(reports) != 1 || reports[0].(model.BindFailed).UID != "p" {
					t.Errorf("reports: %v, want one BindFailed of p", reports)
				}
			})
		})
	}
}

func TestAForbiddenBindIsReportedOnlyAfterARest(t *testing.T) {
	inBubble(t, &fakeAPI{answer: func(string, int) error { return forbidden }}, func(t *testing.T, r *rig) {
		r.Put(one("p"))
		after(500 * time.Millisecond)
		if got := r.reports(); len(got) != 0 {
			t.Errorf("reported after half a second: %v", got)
		}
		after(3 * time.Second)
		if got := r.reports(); len(got) != 1 {
			t.Errorf("reports: %v, want one", got)
		}
	})
}

func TestOnlyTheLatestStatusOfAGangIsWritten(t *testing.T) {
	status := func(running int32) *decision.Decisions {
		return &decision.Decisions{Gangs: []decision.GangStatus{{Gang: object("g"), Status: schedulingv1beta1.PodGroupStatus{Running: running}}}}
	}
	inBubble(t, &fakeAPI{takes: 100 * time.Millisecond}, func(t *testing.T, r *rig) {
		for i := range int32(5) {
			r.Put(status(i + 1))
			if i == 0 {
				after(time.Millisecond) // the first write is now in flight
			}
		}
		after(3 * time.Second)
		want := []string{`podgroup g {"running":1}`, `podgroup g {"running":5}`}
		if diff := cmp.Diff(want, r.api.seen()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if r.api.most != 1 {
			t.Errorf("%d writes of one object in flight together", r.api.most)
		}
	})
}

func TestANewerStatusTakesThePlaceOfOneThatFailed(t *testing.T) {
	failFirst := func(call string, _ int) error {
		if strings.Contains(call, `"running":1`) {
			return busy
		}
		return nil
	}
	inBubble(t, &fakeAPI{answer: failFirst, takes: 10 * time.Millisecond}, func(t *testing.T, r *rig) {
		gang := func(running int32) *decision.Decisions {
			return &decision.Decisions{Gangs: []decision.GangStatus{{Gang: object("g"), Status: schedulingv1beta1.PodGroupStatus{Running: running}}}}
		}
		r.Put(gang(1))
		after(20 * time.Millisecond) // rejected once, waiting for its retry
		r.Put(gang(2))
		after(10 * time.Second)
		want := []string{`podgroup g {"running":1}`, `podgroup g {"running":2}`}
		if diff := cmp.Diff(want, r.api.seen()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestNothingIsWrittenBehindTheFence(t *testing.T) {
	inBubble(t, &fakeAPI{takes: 10 * time.Millisecond}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{Binds: binds("g", 500)})
		after(15 * time.Millisecond)
		r.closeFence(errors.New("lost"))
		before := len(r.api.seen())
		after(10 * time.Second)
		if now := len(r.api.seen()); now != before {
			t.Errorf("%d calls after the fence was closed", now-before)
		}
		if got := len(r.reports()); got != 500-before {
			t.Errorf("%d binds reported, want the %d that were not written", got, 500-before)
		}
	})
}

func TestAStopEndsCallsInFlightAndStartsNoMore(t *testing.T) {
	inBubble(t, &fakeAPI{takes: time.Second}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{Binds: binds("g", 500)})
		after(time.Millisecond)
		before := len(r.api.seen())
		r.stop()
		after(time.Minute)
		if now := len(r.api.seen()); now != before {
			t.Errorf("%d calls after the stop", now-before)
		}
		if got := r.reports(); len(got) != 0 {
			t.Errorf("%d reports after the stop: the next leader sees for itself", len(got))
		}
	})
}

func TestManyRefusalsForLackOfCapacityLowerTheNumberInFlight(t *testing.T) {
	inBubble(t, &fakeAPI{takes: 10 * time.Millisecond}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{Binds: binds("g", 20000)})
		after(3 * time.Second)
		allowed := func() int {
			r.engine.mu.Lock()
			defer r.engine.mu.Unlock()
			return r.engine.limiter.allowedWrites()
		}
		high := allowed()
		r.api.mu.Lock()
		r.api.answer = func(string, int) error { return busy }
		r.api.mu.Unlock()
		after(3 * time.Second)
		if low := allowed(); high <= startWrites || low != writesMin {
			t.Errorf("in flight: %d while all went well (want more than %d), %d when refused (want %d)", high, startWrites, low, writesMin)
		}
	})
}

func TestEventsWaitForAPauseBetweenBinds(t *testing.T) {
	inBubble(t, &fakeAPI{takes: 10 * time.Millisecond}, func(t *testing.T, r *rig) {
		for range 20 { // a stream of binds for two seconds
			r.Put(&decision.Decisions{Binds: binds(fmt.Sprint("g", time.Now().UnixNano()), 200)})
			after(100 * time.Millisecond)
		}
		count := func() (n int) {
			for _, c := range r.api.seen() {
				if strings.HasPrefix(c, "event") {
					n++
				}
			}
			return n
		}
		if n := count(); n != 0 {
			t.Errorf("%d events were written in the middle of a stream of binds", n)
		}
		after(30 * time.Second)
		if n := count(); n != 20*200 {
			t.Errorf("%d events in the end, want one a pod: %d", n, 20*200)
		}
	})
}

func TestWhyAPodWaitsIsNotWrittenOnceItIsBound(t *testing.T) {
	inBubble(t, &fakeAPI{takes: 10 * time.Millisecond}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{PodConditions: []decision.PodCondition{{Pod: object("p"), Reason: "Unschedulable"}}})
		r.Put(one("p"))
		after(10 * time.Second)
		want := []string{"bind p n1", "event p Scheduled"}
		if diff := cmp.Diff(want, r.api.seen()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestAnEvictionTellsBothSidesAndDeletesThatVeryPod(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{Evicts: []decision.Evict{{
			Pod: object("v"), Gang: object("victims"), Reason: "reclaim", Message: "queue b takes back its share",
			Preemptor: object("taker"), PreemptorMessage: "room is made",
		}}})
		after(3 * time.Second)
		got := r.api.seen()
		slices.Sort(got)
		want := []string{"condition v", "delete v v", "event taker Evict", "event v Evict", "event victims Evict"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestTheSameEventAgainIsCounted(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		for range 3 {
			r.Put(&decision.Decisions{Events: []decision.Event{{Gang: object("g"), Type: corev1.EventTypeWarning, Reason: "Unschedulable", Message: "m"}}})
			after(3 * time.Second)
		}
		want := []string{"event g Unschedulable", "event again 2", "event again 3"}
		if diff := cmp.Diff(want, r.api.seen()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestAQueueStatusNamesOnlyWhatIsOurs(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{Queues: []decision.QueueStatus{{Queue: "q"}}})
		after(3 * time.Second)
		want := []string{`queue q {"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"status":{"allocated":{},"deserved":{},"sharePercent":0,"waiting":0}}`}
		if diff := cmp.Diff(want, r.api.seen()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}
