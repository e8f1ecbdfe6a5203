package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
)

// TestTheFirstGangsOfAQueueAreFoundInAnyOrder lists the gangs of a queue beginning with the youngest. The oldest ones are
// the first of the queue.
func TestTheFirstGangsOfAQueueAreFoundInAnyOrder(t *testing.T) {
	t.Parallel()
	s := cycle.New(&session.Session{})
	q := &queue.Queue{}
	for age := range front + 3 {
		created := make.Epoch.Add(-time.Duration(age) * time.Minute)
		g := &model.Gang{Namespace: "default", Name: fmt.Sprintf("g%d", age), Created: created}
		s.AllWaiting = append(s.AllWaiting, &framework.Job{Gang: g, In: q})
	}
	first := firstGangsOfQueues(s, func(*framework.Job) bool { return true })
	for age, j := range s.AllWaiting {
		if want := age >= 3; first[j] != want {
			t.Errorf("the gang that is %d minutes old is among the first: %v, want %v", age, first[j], want)
		}
	}
}
