package daemon

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/prospect"
	"github.com/vc-batch/vc/internal/scheduler"
)

// question is put to the loop by the planner; the answer channel has room for one.
type question struct {
	thought *prospect.Thought
	answer  chan<- insightv1alpha1.PlanStatus
}

const (
	// forgetThinker is after how long without a question the second engine is given up: it holds as much as the first.
	forgetThinker = 10 * time.Minute
	// longestSlice is how long one slice of an answer may take; after a longer one the plan is given up.
	longestSlice = 5 * time.Second
)

// muse is what the loop needs to answer questions: a second engine, created for the first of them.
type muse struct {
	questions <-chan question
	make      func() (*scheduler.Engine, error)

	engine *scheduler.Engine
	used   time.Time
	asked  *question // to be answered, or continued, after the next cycle
}

// next returns the question to work on now, if there is one.
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

// think runs at most one slice of the answer to one question, from the model as the last cycle left it. It reports whether more slices
// follow: a cycle comes before each of them, so that a plan delays every decision by one slice at most.
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

// tookTooLong is the answer to a plan that is given up.
func tookTooLong(now time.Time, took time.Duration) insightv1alpha1.PlanStatus {
	at := metav1.NewTime(now)
	return insightv1alpha1.PlanStatus{
		AnsweredAt: &at, Hint: "plan fewer pods at once, or try again when fewer jobs wait",
		Problem: fmt.Sprintf("the simulation was stopped: a part of it took %v, and no job can be scheduled meanwhile", took.Round(time.Millisecond)),
	}
}

// ponder lets the second engine run a slice. A failure of it must not end the term. The undo of what was put into the model runs in any case.
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
