package gang

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// registerMinimumGuard lets gangs lose only pods beyond their minimum, if the configuration explicitly requests it with
// enablePreemptable: true for preempt or enableReclaimable: true for reclaim. By default, whole gangs may be evicted
// too, because otherwise nothing could be taken from gangs that run exactly at their minimum, as most gangs do.
func (p *Policy) registerMinimumGuard(r *framework.Rules) {
	keepsMinimum := map[framework.AttackKind]bool{
		framework.Preempt: p.conf.Switches["enablePreemptable"],
		framework.Reclaim: p.conf.Switches["enableReclaimable"],
	}
	if !keepsMinimum[framework.Preempt] && !keepsMinimum[framework.Reclaim] {
		return
	}
	r.Guard(func(a *framework.Attack) framework.Guard {
		if keepsMinimum[a.Kind] {
			return protectMinimum(a)
		}
		return framework.Guard{}
	})
}

func protectMinimum(a *framework.Attack) framework.Guard {
	out := map[*model.Gang]int{}
	return framework.Guard{
		Code: reason.AtMinimum, Static: true,
		May: func(victims []*model.Task) (bool, string) {
			g := victims[0].Gang
			return g == nil || g == a.Taker.Gang || g.CountReady()-out[g]-len(victims) >= g.MinMember, ""
		},
		Out: func(victims []*model.Task, sign int) {
			for _, t := range victims {
				out[t.Gang] += sign
			}
		},
	}
}
