package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	"github.com/vc-batch/vc/internal/backpressure"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func status(gang string, phase schedulingv1beta1.PodGroupPhase) *decision.Decisions {
	return &decision.Decisions{Gangs: []decision.GangStatus{{
		Gang: object(gang), Status: schedulingv1beta1.PodGroupStatus{Phase: phase},
	}}}
}

// pressed returns a throttle of a slow API server with one write every gap.
func pressed(gap time.Duration) *backpressure.Throttle {
	g := &backpressure.Throttle{}
	now := time.Now()
	g.RecordWrite(now.Add(-1000*gap), time.Millisecond)
	for i := range 1000 {
		g.RecordWrite(now.Add(time.Duration(i-999)*gap), 200*time.Millisecond)
	}
	return g
}

func TestTheGateOfAQueueIsTakenFromAPodAndAFailureIsReported(t *testing.T) {
	api := &fakeAPI{takes: time.Millisecond, answer: func(call string, _ int) error {
		if strings.Contains(call, "refused") {
			return apierrors.NewForbidden(pods, "refused", nil)
		}
		return nil
	}}
	inBubble(t, api, func(t *testing.T, r *rig) {
		r.Put(&decision.Decisions{Ungates: []decision.Object{object("opened"), object("refused")}})
		after(time.Minute)
		want := `patch opened {"metadata":{"uid":"opened"},"spec":{"schedulingGates":[{"$patch":"delete","name":"scheduling.volcano.sh/queue-allocation-gate"}]}}`
		if count(api.seen(), want) != 1 {
			t.Errorf("calls %q, want %q once", api.seen(), want)
		}
		if diff := cmp.Diff([]model.Delta{model.UngateFailed{UID: "refused"}}, r.reports()); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
	})
}

func count(calls []string, word string) int {
	n := 0
	for _, call := range calls {
		if strings.Contains(call, word) {
			n++
		}
	}
	return n
}

func TestUnderPressureRunningGangsAreReportedSlowlyAndAdmissionsAtOnce(t *testing.T) {
	api := &fakeAPI{takes: time.Millisecond}
	inBubble(t, api, func(t *testing.T, r *rig) {
		r.engine.pressure = pressed(10 * time.Millisecond) // one informational write in 80 ms
		for i := range 100 {
			r.Put(status(fmt.Sprintf("runs-%d", i), schedulingv1beta1.PodGroupRunning))
			r.Put(status(fmt.Sprintf("in-%d", i), schedulingv1beta1.PodGroupInqueue))
		}
		after(400 * time.Millisecond)
		if n := count(api.seen(), "Inqueue"); n != 100 {
			t.Errorf("%d of 100 gangs that were let in are written", n)
		}
		if n := count(api.seen(), "Running"); n < 2 || n > 10 {
			t.Errorf("%d gangs that run are written in 0.4 s, want about 5", n)
		}
		after(10 * time.Second) // no write for a second, so the pressure is over
		if n := count(api.seen(), "Running"); n != 100 {
			t.Errorf("%d of 100 gangs that run are written in the end", n)
		}
	})
}

func TestInformationalStatusReplacesAnOlderUrgentOneAndStaysUrgent(t *testing.T) {
	q := newQueues()
	never := func() bool { return false }
	q.queueWrite(&write{lane: statusLane, key: "podgroup/a"})
	newer := &write{lane: infoLane, key: "podgroup/a"}
	q.queueWrite(newer)
	if got := q.takeNextWrite(never, false); got != newer {
		t.Fatalf("left: %+v, want the newer status", got)
	}
	newest := &write{lane: infoLane, key: "podgroup/a"}
	q.queueWrite(&write{lane: statusLane, key: "podgroup/a"}) // both wait for the write in flight
	q.queueWrite(newest)
	q.finishWrite(newer)
	if got := q.takeNextWrite(never, false); got != newest {
		t.Fatalf("left after it: %+v, want the newest status", got)
	}
}

func TestUrgentStatusReplacesAnInformationalOne(t *testing.T) {
	q := newQueues()
	q.queueWrite(&write{lane: infoLane, key: "podgroup/a"})
	urgent := &write{lane: statusLane, key: "podgroup/a"}
	q.queueWrite(urgent)
	if got := q.takeNextWrite(func() bool { return true }, false); got != urgent {
		t.Fatalf("left: %+v, want the urgent one", got)
	}
	q.finishWrite(urgent)
	if got := q.takeNextWrite(func() bool { return true }, false); got != nil {
		t.Errorf("left after it: %+v, want nothing", got)
	}
}
