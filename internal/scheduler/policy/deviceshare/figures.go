package deviceshare

import (
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// recordFigures adds the cards of changed nodes to the cycle's metrics. It does not affect decisions.
func (p *Policy) recordFigures() {
	nodes := &p.s.Cluster.Nodes
	p.figures.Update(p.s.Cluster, func(id model.NodeID) bool {
		info := nodes.Info[id]
		return info != nil && info.Annotations[keys.VGPURegister] != ""
	}, func(id model.NodeID, had, has bool) {
		if (!had && !has) || nodes.Name[id] == "" {
			return
		}
		figures := decision.NodeDevices{Node: nodes.Name[id]}
		if has {
			for _, c := range p.nodeCards(id).vgpu {
				figures.Cards = append(figures.Cards, cardFigures(&c))
			}
		}
		p.s.Out.Stats.Devices = append(p.s.Out.Stats.Devices, figures)
	})
}

func cardFigures(c *card) decision.CardFigures {
	f := decision.CardFigures{Card: c.id, Shared: c.used.slots, MemoryMiB: c.used.memory, Cores: c.used.cores, MemoryLimitMiB: c.memory}
	for i := range c.holders {
		if h := &c.holders[i]; !h.promised {
			f.Pods = append(f.Pods, decision.PodOnCard{
				Pod: decision.Object{Namespace: h.task.Namespace, Name: h.task.Name, UID: h.task.UID}, MemoryMiB: h.amounts.memory, Cores: h.amounts.cores,
			})
		}
	}
	return f
}
