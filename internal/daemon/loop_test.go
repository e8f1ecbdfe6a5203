package daemon

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// hand is a source that a test fills.
type hand struct {
	mu     sync.Mutex
	inbox  []model.Delta
	signal chan struct{}
}

func newHand() *hand { return &hand{signal: make(chan struct{}, 1)} }

func (h *hand) put(d model.Delta) {
	h.mu.Lock()
	h.inbox = append(h.inbox, d)
	h.mu.Unlock()
	select {
	case h.signal <- struct{}{}:
	default:
	}
}

func (h *hand) Signal() <-chan struct{} { return h.signal }

func (h *hand) Drain([]model.Delta) []model.Delta {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.inbox
	h.inbox = nil
	return all
}

// script is an engine that records the times of its calls and returns prepared results.
type script struct {
	began  time.Time
	calls  []time.Duration
	answer func(call int) decision.Decisions
	takes  time.Duration
}

func (s *script) Cycle(now time.Time, _ *model.Cluster) decision.Decisions {
	s.calls = append(s.calls, now.Sub(s.began))
	time.Sleep(s.takes)
	if s.answer == nil {
		return decision.Decisions{}
	}
	return s.answer(len(s.calls))
}

type nowhere struct{}

func (nowhere) Put(*decision.Decisions) {}

// looping runs a loop in a synctest bubble while test runs. It returns the times of its cycles.
func looping(t *testing.T, engine *script, test func(h *hand)) (calls []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHand()
		engine.began = time.Now()
		l := &loop{
			Loop: cycleloop.Loop{Source: h, Effects: nowhere{}, Engine: engine, Cluster: model.New(), Period: time.Second},
			beat: func(time.Time) {}, log: logr.Discard(),
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { l.runCyclesUntilDone(ctx) })
		test(h)
		stop()
		running.Wait()
		calls = engine.calls
	})
	return calls
}

const ms = time.Millisecond

// tenths returns times given in tenths of a millisecond.
func tenths(times ...int) []time.Duration {
	out := make([]time.Duration, len(times))
	for i, n := range times {
		out[i] = time.Duration(n) * ms / 10
	}
	return out
}

func TestTheLoopRests(t *testing.T) {
	cases := map[string]struct {
		engine script
		test   func(h *hand)
		want   []time.Duration
	}{
		"without any change it cycles once a period": {
			test: func(*hand) { time.Sleep(2500 * ms) },
			want: []time.Duration{0, time.Second, 2 * time.Second},
		},
		"a change is acted on after the coalescing window": {
			test: func(h *hand) {
				time.Sleep(100 * ms)
				h.put(model.NodeGone{Name: "a"})
				time.Sleep(500 * ms)
			},
			want: []time.Duration{0, 102 * ms},
		},
		"changes within the window share a cycle": {
			test: func(h *hand) {
				time.Sleep(100 * ms)
				for range 4 {
					h.put(model.NodeGone{Name: "a"})
					time.Sleep(ms / 4)
				}
				time.Sleep(500 * ms)
			},
			want: []time.Duration{0, 102 * ms},
		},
		"the window grows with the cost of a cycle": {
			engine: script{takes: 10 * ms},
			test: func(h *hand) {
				time.Sleep(100 * ms)
				h.put(model.NodeGone{Name: "a"})
				time.Sleep(500 * ms)
			},
			want: []time.Duration{0, 130 * ms},
		},
		"the window grows while changes lead to nothing, until the next silence": {
			test: func(h *hand) {
				time.Sleep(100*ms + ms/10)
				for range 60 { // at times when no window ends
					h.put(model.NodeGone{Name: "a"})
					time.Sleep(7 * ms / 10)
				}
				time.Sleep(1900 * ms)
				h.put(model.NodeGone{Name: "a"})
				time.Sleep(5 * ms)
			},
			want: tenths(0, 1021, 1062, 1144, 1308, 1469, 11469, 20441),
		},
		"an engine that wants to go on is called at once": {
			engine: script{answer: func(call int) decision.Decisions { return decision.Decisions{Again: call < 3} }},
			test:   func(*hand) { time.Sleep(500 * ms) },
			want:   []time.Duration{0, 0, 0},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, looping(t, &c.engine, c.test)); diff != "" {
				t.Errorf("cycles (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLoopWakesWhenTheEngineAskedForIt(t *testing.T) {
	engine := &script{}
	engine.answer = func(call int) decision.Decisions {
		if call == 1 {
			return decision.Decisions{WakeAt: engine.began.Add(300 * ms)}
		}
		return decision.Decisions{}
	}
	got := looping(t, engine, func(*hand) { time.Sleep(400 * ms) })
	if diff := cmp.Diff([]time.Duration{0, 300 * ms}, got); diff != "" {
		t.Errorf("cycles (-want +got):\n%s", diff)
	}
}
