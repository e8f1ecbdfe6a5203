package daemon

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/whatif"
)

// longestSimulation is the time after which a simulation is aborted. The time is checked between the slices of a
// simulation.
const longestSimulation = 10 * time.Second

// copies handles the planner's requests for copies of the model in the loop. Each request is a channel with a buffer of
// one. Only the copying delays the loop, because the simulation itself runs in the planner's goroutine, with its own
// engine.
type copies struct {
	requests <-chan chan<- *model.Cluster
	pending  chan<- *model.Cluster // the request to serve after the next cycle, or nil
}

// acceptRequest accepts a waiting request. A cycle runs before the copy is made, so that the copy includes objects
// submitted before the request.
func (c *copies) acceptRequest() {
	if c.pending != nil {
		return
	}
	select {
	case c.pending = <-c.requests:
	default:
	}
}

// fulfillRequest sends a copy of the model for the pending request.
func (c *copies) fulfillRequest(cluster *model.Cluster) {
	if c.pending != nil {
		c.pending <- cluster.Fork()
		c.pending = nil
	}
}

// requestModelCopy requests a copy of the model from the loop and waits for it.
func (p *planner) requestModelCopy(ctx context.Context) (*model.Cluster, error) {
	reply := make(chan *model.Cluster, 1)
	timer := time.NewTimer(plansPatience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, fmt.Errorf("the scheduler is busy")
	case p.copies <- reply:
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case cluster := <-reply:
		return cluster, nil
	}
}

// runSimulation runs the slices of a simulation on a copy of the model. Between two slices, it stops if ctx is done or
// the simulation has taken too long. A panic ends only the simulation.
func (p *planner) runSimulation(ctx context.Context, simulation *whatif.Simulation, cluster *model.Cluster) (status insightv1alpha1.PlanStatus, err error) {
	defer func() {
		if r := recover(); r != nil {
			p.log.Error(fmt.Errorf("panic: %v", r), "Plan cannot be simulated")
			status, err = insightv1alpha1.PlanStatus{Problem: fmt.Sprintf("the scheduler failed to simulate the plan: %v", r)}, nil
		}
	}()
	engine, err := p.engine()
	if err != nil {
		return insightv1alpha1.PlanStatus{Problem: err.Error()}, nil
	}
	began := p.now()
	for {
		status, done := simulation.RunOneSlice(p.now(), engine, cluster)
		took := p.now().Sub(began)
		p.log.V(1).Info("Plan simulated", "took", took, "done", done)
		switch {
		case done:
			return status, nil
		case ctx.Err() != nil:
			return status, ctx.Err()
		case took > longestSimulation:
			return timeoutStatus(p.now(), took), nil
		}
	}
}

// timeoutStatus returns the status of a plan that took too long to simulate.
func timeoutStatus(now time.Time, took time.Duration) insightv1alpha1.PlanStatus {
	at := metav1.NewTime(now)
	return insightv1alpha1.PlanStatus{
		AnsweredAt: &at, Hint: "plan fewer pods at once, or try again when fewer jobs are waiting",
		Problem: fmt.Sprintf("the simulation was stopped: it did not finish within %v", took.Round(time.Millisecond)),
	}
}

// newEngine creates the engine of one simulation.
type newEngine func() (*scheduler.Engine, error)
