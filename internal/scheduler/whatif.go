package scheduler

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Hypothesis is a simulated change to the cluster: Make applies it, Undo reverts it.
type Hypothesis struct {
	Make, Undo []model.Delta
}

// Outcome is the simulated outcome for one gang.
type Outcome struct {
	// Binds lists the gang's pods that would get a node at once.
	Binds []decision.Bind
	// Evicts lists the pods that would be evicted for it first.
	Evicts []decision.Evict
	// Status is the resulting status of the gang's PodGroup, or nil if the status would not change. Its explanation
	// contains the reason why the gang would have to wait.
	Status *schedulingv1beta1.PodGroupStatus
}

// Starts reports whether pods of the gang would get a node at once.
func (p *Outcome) Starts() bool { return len(p.Binds) > 0 }

// WhatIf runs a cycle on the cluster with the hypothesis applied, and then restores the cluster. Use a separate
// engine, because the engine caches the simulated state.
func (e *Engine) WhatIf(now time.Time, c *model.Cluster, h Hypothesis) decision.Decisions {
	c.Apply(h.Make...)
	defer c.Apply(h.Undo...)
	e.gangs.forecastAt = time.Time{} // make a complete forecast, regardless of the cost of the last one
	return e.Cycle(now, c)
}

// OutcomeOf returns the decisions about one gang.
func OutcomeOf(d *decision.Decisions, gang types.UID) Outcome {
	var p Outcome
	for i := range d.Binds {
		if d.Binds[i].Gang.UID == gang {
			p.Binds = append(p.Binds, d.Binds[i])
		}
	}
	for i := range d.Evicts {
		if d.Evicts[i].Preemptor.UID == gang {
			p.Evicts = append(p.Evicts, d.Evicts[i])
		}
	}
	for i := range d.Gangs {
		if d.Gangs[i].Gang.UID == gang {
			p.Status = &d.Gangs[i].Status
		}
	}
	return p
}
