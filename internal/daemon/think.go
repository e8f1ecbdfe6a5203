package daemon

import (
	"fmt"
	"time"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/prospect"
	"github.com/vc-batch/vc/internal/scheduler"
)

// question is put to the loop by the planner; the answer channel has room for one.
type question struct {
	thought *prospect.Thought
	answer  chan<- insightv1alpha1.PlanStatus
}

// forgetThinker is after how long without a question the second engine is given up: it holds as much as the first.
const forgetThinker = 10 * time.Minute

// muse is what the loop needs to answer questions: a second engine, made when it is first asked.
type muse struct {
	questions <-chan question
	make      func() (*scheduler.Engine, error)

	engine *scheduler.Engine
	used   time.Time
	asked  *question // taken while resting, to be answered after the next cycle
}

// next is the question to be answered now, if there is one.
func (m *muse) next(now time.Time) *question {
	if m.engine != nil && now.Sub(m.used) > forgetThinker {
		m.engine = nil
	}
	if q := m.asked; q != nil {
		m.asked = nil
		return q
	}
	select {
	case q := <-m.questions:
		return &q
	default:
		return nil
	}
}

// think answers at most one question, from the model as the last cycle left it.
func (l *loop) think(now time.Time) {
	m := &l.muse
	q := m.next(now)
	if q == nil {
		return
	}
	began := time.Now()
	q.answer <- l.ponder(now, q.thought)
	m.used = now
	l.log.V(1).Info("Plan thought through", "took", time.Since(began))
}

// ponder lets the second engine think. What goes wrong in a thought must not end the term; the model, however, is as good as its undo, which
// runs in any case.
func (l *loop) ponder(now time.Time, thought *prospect.Thought) (status insightv1alpha1.PlanStatus) {
	m := &l.muse
	defer func() {
		if r := recover(); r != nil {
			m.engine = nil
			l.log.Error(fmt.Errorf("panic: %v", r), "Plan cannot be thought through")
			status = insightv1alpha1.PlanStatus{Problem: fmt.Sprintf("the scheduler failed at it: %v", r)}
		}
	}()
	if m.engine == nil {
		engine, err := m.make()
		if err != nil {
			return insightv1alpha1.PlanStatus{Problem: err.Error()}
		}
		m.engine = engine
	}
	return thought.Answer(now, m.engine, l.cluster)
}
