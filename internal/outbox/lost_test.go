package outbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// These tests verify that no decision is lost without a report.

func eviction(pod string) *decision.Decisions {
	return &decision.Decisions{Evicts: []decision.Evict{{Pod: object(pod), Message: "m"}}}
}

func withoutEvents(calls []string) []string {
	return slices.DeleteFunc(calls, func(c string) bool { return strings.HasPrefix(c, "event") })
}

func TestRefusedConditionsOfAnEviction(t *testing.T) {
	cases := map[string]struct {
		condition, deletion error
		calls               []string
		failed              bool
	}{
		"a conflict does not keep the victim":             {conflict, nil, []string{"condition v", "delete v v"}, false},
		"a successor of the same name is left alone":      {conflict, conflict, []string{"condition v", "delete v v"}, false},
		"a pod that is gone needs no deletion":            {missing, nil, []string{"condition v"}, false},
		"another refusal is reported":                     {forbidden, nil, []string{"condition v"}, true},
		"a refused deletion is reported after a conflict": {conflict, forbidden, []string{"condition v", "delete v v"}, true},
		"a pod that vanished before its deletion is done": {nil, missing, []string{"condition v", "delete v v"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer := func(call string, _ int) error {
				switch {
				case strings.HasPrefix(call, "condition"):
					return c.condition
				case strings.HasPrefix(call, "delete"):
					return c.deletion
				}
				return nil
			}
			inBubble(t, &fakeAPI{answer: answer}, func(t *testing.T, r *rig) {
				r.Put(eviction("v"))
				after(3 * time.Second)
				if diff := cmp.Diff(c.calls, withoutEvents(r.api.seen())); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				var want []model.Delta
				if c.failed {
					want = []model.Delta{model.EvictFailed{UID: "v", Err: forbidden.Error()}}
				}
				if diff := cmp.Diff(want, r.reports()); diff != "" {
					t.Errorf("reports (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestConflictOnPodConditionIsReportedAndRetried(t *testing.T) {
	inBubble(t, &fakeAPI{answer: func(string, int) error { return conflict }}, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{PodConditions: []decision.PodCondition{{Pod: object("p"), Reason: "Unschedulable"}}})
		after(3 * time.Second)
		if diff := cmp.Diff([]model.Delta{model.PodConditionFailed{UID: "p"}}, r.reports()); diff != "" {
			t.Errorf("reports (-want +got):\n%s", diff)
		}
	})
}

func TestEventsOfOnePutAboutOneObjectAllReachTheServer(t *testing.T) {
	inBubble(t, &fakeAPI{}, func(t *testing.T, r *rig) {
		d := &decision.Decisions{}
		want := []string{"a makes room", "b makes room", "c makes room"}
		for _, message := range want {
			d.Events = append(d.Events, decision.Event{Gang: object("winner"), Type: "Normal", Reason: "Evict", Message: message})
		}
		r.Put(d)
		after(3 * time.Second)
		var got []string
		for _, message := range r.api.events {
			got = append(got, message)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events kept (-want +got):\n%s", diff)
		}
	})
}

// busyFirst rejects the first call that begins with prefix with "too many requests".
func busyFirst(prefix string) func(string, int) error {
	return func(call string, nth int) error {
		if strings.HasPrefix(call, prefix) && nth == 1 {
			return busy
		}
		return nil
	}
}

func TestWritesOfAPodWhoseBindOrEvictionRests(t *testing.T) {
	successor := object("p")
	successor.UID = "p-again"
	bindTo := func(pod decision.Object, node string) *decision.Decisions {
		return &decision.Decisions{Binds: []decision.Bind{{Pod: pod, Node: node}}}
	}
	remark := &decision.Decisions{PodConditions: []decision.PodCondition{{Pod: object("p"), Reason: "Unschedulable"}}}
	evictAgain := &decision.Decisions{Evicts: []decision.Evict{{Pod: successor, Message: "m"}}}
	cases := map[string]struct {
		refused string
		put     []*decision.Decisions
		calls   []string
		failed  []types.UID // in order
	}{
		"a bind is not given up for a remark": {
			refused: "bind", put: []*decision.Decisions{one("p"), remark},
			calls: []string{"bind p n1", "bind p n1", "condition p"},
		},
		"a bind that a newer bind replaces is reported": {
			refused: "bind p n1", put: []*decision.Decisions{one("p"), bindTo(successor, "n2")},
			calls: []string{"bind p n1", "bind p n2"}, failed: []types.UID{"p"},
		},
		"a bind that an eviction replaces is reported": {
			refused: "bind", put: []*decision.Decisions{one("p"), eviction("p")},
			calls: []string{"bind p n1", "condition p", "delete p p"}, failed: []types.UID{"p"},
		},
		"an eviction goes before a newer bind": {
			refused: "condition", put: []*decision.Decisions{eviction("p"), bindTo(successor, "n2")},
			calls: []string{"condition p", "condition p", "delete p p", "bind p n2"},
		},
		"an eviction that a newer one replaces is reported": {
			refused: "condition", put: []*decision.Decisions{eviction("p"), evictAgain},
			calls: []string{"condition p", "condition p", "delete p p-again"}, failed: []types.UID{"p"},
		},
		"of two binds that come meanwhile the older is reported too": {
			refused: "bind p n1", put: []*decision.Decisions{one("p"), bindTo(successor, "n2"), bindTo(object("p"), "n3")},
			calls: []string{"bind p n1", "bind p n3"}, failed: []types.UID{"p-again", "p"},
		},
		"a bind that comes behind a waiting eviction is reported": {
			refused: "bind p n1", put: []*decision.Decisions{one("p"), eviction("p"), bindTo(successor, "n2")},
			calls: []string{"bind p n1", "condition p", "delete p p"}, failed: []types.UID{"p-again", "p"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, &fakeAPI{answer: busyFirst(c.refused), takes: time.Millisecond}, func(t *testing.T, r *rig) {
				for _, d := range c.put {
					r.Put(d)
					after(5 * time.Millisecond) // the first write was rejected once and waits for its retry
				}
				after(20 * time.Second)
				if diff := cmp.Diff(c.calls, withoutEvents(r.api.seen())); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.failed, failedPods(r.reports())); diff != "" {
					t.Errorf("pods reported (-want +got):\n%s", diff)
				}
				if !r.HasSettledAll() {
					t.Error("something still waits")
				}
			})
		})
	}
}

func failedPods(deltas []model.Delta) (pods []types.UID) {
	for _, d := range deltas {
		switch d := d.(type) {
		case model.BindFailed:
			pods = append(pods, d.UID)
		case model.EvictFailed:
			pods = append(pods, d.UID)
		}
	}
	return pods
}
