package scheduler

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Hypothesis is a change of the cluster that is only thought of: Make makes it, Undo takes it back.
type Hypothesis struct {
	Make, Undo []model.Delta
}

// Prospect is what would become of one gang.
type Prospect struct {
	// Binds are its pods that would get a node at once.
	Binds []decision.Bind
	// Evicts are the pods that would have to go for it first.
	Evicts []decision.Evict
	// Status is that of its PodGroup then; nil: it would not change. Its explanation says why the gang would wait.
	Status *schedulingv1beta1.PodGroupStatus
}

// Starts says whether pods of the gang would get a node at once.
func (p *Prospect) Starts() bool { return len(p.Binds) > 0 }

// WhatIf decides what would happen now if the hypothesis held, by the same cycle that decides in earnest, and leaves the cluster as it was. The
// engine has to be another one than that which decides about the cluster: it remembers what only was thought of.
func (e *Engine) WhatIf(now time.Time, c *model.Cluster, h Hypothesis) decision.Decisions {
	c.Apply(h.Make...)
	defer c.Apply(h.Undo...)
	e.book.forecastAt = time.Time{} // a thought is thought to its end, whatever the one before it cost
	return e.Cycle(now, c)
}

// ProspectOf picks from decisions what they say about one gang.
func ProspectOf(d *decision.Decisions, gang types.UID) Prospect {
	var p Prospect
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
