package scheduler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestEveryGateHasAReasonWithinASecond shuts each gate in front of a gang: a
// second later its PodGroup, or its pod where there is none, says why.
func TestEveryGateHasAReasonWithinASecond(t *testing.T) {
	node := model.NodeFrom(make.Node("a").CPU("4").Obj())
	pod := func(b *make.PodBuilder) model.Delta { return model.TaskFrom(b.Obj(), true) }
	gang := func(queue string, minimum int) model.Delta {
		return model.GangFrom(make.Gang("g").Min(minimum).Queue(queue).Obj())
	}
	one := pod(make.Pod("g-0").Gang("g").CPU("1"))
	closed := make.Queue("closed").State(schedulingv1beta1.QueueStateClosed).Obj()
	closedByParent := make.Queue("child").Parent("closed").State(schedulingv1beta1.QueueStateClosed).Obj()
	for name, gate := range map[string]struct {
		world []model.Delta
		want  reason.Code
	}{
		"its queue does not exist":             {[]model.Delta{node, gang("nowhere", 1), one}, reason.QueueMissing},
		"its queue is closed":                  {[]model.Delta{node, model.QueueFrom(closed), gang("closed", 1), one}, reason.QueueClosed},
		"its queue is closed by its parent":    {[]model.Delta{node, model.QueueFrom(closed), model.QueueFrom(closedByParent), gang("child", 1), one}, reason.QueueClosed},
		"its queue is closing":                 {[]model.Delta{node, model.QueueFrom(make.Queue("closing").State(schedulingv1beta1.QueueStateClosing).Obj()), gang("closing", 1), one}, reason.QueueClosed},
		"the state of its queue is unknown":    {[]model.Delta{node, model.QueueFrom(make.Queue("odd").State(schedulingv1beta1.QueueStateUnknown).Obj()), gang("odd", 1), one}, reason.QueueClosed},
		"its pods are gated":                   {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("1").Gate("x"))}, reason.SchedulingGated},
		"it has fewer pods than its minimum":   {[]model.Delta{node, gang("default", 2), one}, reason.NotEnoughPods},
		"there are no nodes":                   {[]model.Delta{gang("default", 1), one}, reason.NoNodes},
		"no node is large enough":              {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("5"))}, reason.TooLarge},
		"a pod asks for what nobody ever has":  {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("1").Resource("example.com/x", "1"))}, reason.TooLarge},
		"no node has its labels":               {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("1").Select("a", "b"))}, reason.GangDoesNotFit},
		"its queue may not hold as much":       {[]model.Delta{node, model.QueueFrom(make.Queue("small").Capability("cpu", "500m").Obj()), gang("small", 1), one}, reason.OverCapability},
		"its pod names a PodGroup that is not": {[]model.Delta{node, one}, reason.PodGroupMissing},
		"its pod names a PodGroup elsewhere":   {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Namespace("other").Gang("g").CPU("1"))}, reason.PodGroupMissing},
		"its pod names no PodGroup":            {[]model.Delta{node, pod(make.Pod("g-0").CPU("1"))}, reason.PodGroupMissing},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := New(config.Default())
			if err != nil {
				t.Fatal(err)
			}
			m, now := model.New(), make.Epoch
			m.Apply(model.QueueFrom(make.Queue("default").Obj()))
			m.Apply(gate.world...)
			told := map[string]bool{}
			for end := now.Add(time.Second); !now.After(end); {
				d := e.Cycle(now, m)
				decision.Assume(m, &d)
				for _, g := range d.Gangs {
					if g.Status.Explanation != nil {
						told[g.Status.Explanation.Reason] = true
					}
				}
				for _, c := range d.PodConditions {
					if c.Reason == corev1.PodReasonUnschedulable && c.Message == reason.Get(gate.want).Sentence {
						told[string(gate.want)] = true
					}
				}
				if d.WakeAt.IsZero() || !d.WakeAt.After(now) {
					break
				}
				now = d.WakeAt
			}
			if !told[string(gate.want)] {
				t.Errorf("told within a second: %v, want %s", told, gate.want)
			}
		})
	}
}
