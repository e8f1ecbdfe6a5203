package gang

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// keepMinimums lets gangs lose only pods beyond their minimum, if the configuration explicitly requests it with
// enablePreemptable: true for preempt or enableReclaimable: true for reclaim. By default, whole gangs may be evicted
// too; otherwise nothing could be taken from gangs that run exactly at their minimum, as most gangs do.
func (p *Policy) keepMinimums(r *session.Rules) {
	preempt, reclaim := p.conf.Switches["enablePreemptable"], p.conf.Switches["enableReclaimable"]
	if !preempt && !reclaim {
		return
	}
	r.Guard(func(a *session.Attack) session.Guard {
		if a.Kind == session.Preempt && preempt || a.Kind == session.Reclaim && reclaim {
			return surplusOnly(a)
		}
		return session.Guard{}
	})
}

func surplusOnly(a *session.Attack) session.Guard {
	out := map[*model.Gang]int{}
	return session.Guard{
		Code: reason.AtMinimum, Static: true,
		May: func(victims []*model.Task) (bool, string) {
			g := victims[0].Gang
			return g == nil || g == a.Taker.Gang || g.Ready()-out[g]-len(victims) >= g.MinMember, ""
		},
		Out: func(victims []*model.Task, sign int) {
			for _, t := range victims {
				out[t.Gang] += sign
			}
		},
	}
}
