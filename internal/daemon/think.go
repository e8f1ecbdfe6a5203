package daemon

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/prospect"
	"github.com/vc-batch/vc/internal/scheduler"
)

// question is a simulation that the planner sends to the loop. The answer channel has a buffer of one.
type question struct {
	thought *prospect.Thought
	answer  chan<- insightv1alpha1.PlanStatus
}

const (
	// forgetThinker is the time without a question after which the second engine is dropped. It uses as much memory as
	// the first.
	forgetThinker = 10 * time.Minute
	// longestSlice is the longest time for one slice of a simulation. After a longer one, the plan is given up.
	longestSlice = 5 * time.Second
)

// muse holds the state for simulations in the loop: the second engine, which is created for the first question.
type muse struct {
	questions <-chan question
	make      func() (*scheduler.Engine, error)

	engine *scheduler.Engine
	used   time.Time
	asked  *question // the question to answer, or to continue, after the next cycle
}

// next returns the question to work on now, or nil.
func (m *muse) next(now time.Time) *question {
	if m.engine != nil && now.Sub(m.used) > forgetThinker {
		m.engine = nil
	}
	if m.asked == nil {
		select {
		case q := <-m.questions:
			m.asked = &q
		default:
		}
	}
	return m.asked
}

// think runs at most one slice of a simulation, on the model after the last cycle. It reports whether more slices
// follow. A cycle runs before each of them, so a plan delays every decision by one slice at most.
func (l *loop) think(now time.Time) (more bool) {
	m := &l.muse
	q := m.next(now)
	if q == nil {
		return false
	}
	began := time.Now()
	status, done := l.ponder(now, q.thought)
	m.used = now
	took := time.Since(began)
	if !done && took > longestSlice {
		status, done = tookTooLong(now, took), true
	}
	if done {
		m.asked = nil
		q.answer <- status
	}
	l.log.V(1).Info("Plan simulated", "took", took, "done", done)
	return !done
}

// tookTooLong returns the status of a plan that took too long to simulate.
func tookTooLong(now time.Time, took time.Duration) insightv1alpha1.PlanStatus {
	at := metav1.NewTime(now)
	return insightv1alpha1.PlanStatus{
		AnsweredAt: &at, Hint: "plan fewer pods at once, or try again when fewer jobs wait",
		Problem: fmt.Sprintf("the simulation was stopped: a part of it took %v, and no job can be scheduled meanwhile", took.Round(time.Millisecond)),
	}
}

// ponder runs one slice of a simulation on the second engine. A panic in it does not end the term, and its changes to
// the model are undone in any case.
func (l *loop) ponder(now time.Time, thought *prospect.Thought) (status insightv1alpha1.PlanStatus, done bool) {
	m := &l.muse
	defer func() {
		if r := recover(); r != nil {
			m.engine = nil
			l.log.Error(fmt.Errorf("panic: %v", r), "Plan cannot be simulated")
			status, done = insightv1alpha1.PlanStatus{Problem: fmt.Sprintf("the scheduler failed at it: %v", r)}, true
		}
	}()
	if m.engine == nil {
		engine, err := m.make()
		if err != nil {
			return insightv1alpha1.PlanStatus{Problem: err.Error()}, true
		}
		m.engine = engine
	}
	return thought.Step(now, m.engine, l.cluster)
}
