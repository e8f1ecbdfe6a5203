package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestRoomHeldForALostPodIsNoPartOfAGuarantee has a gang lose one of its four pods. Room for one pod is then held for its
// recovery. Another queue must not reclaim the other three pods, because nothing would be left of the guarantee.
func TestRoomHeldForALostPodIsNoPartOfAGuarantee(t *testing.T) {
	for name, policy := range map[string]string{"proportion": "{name: proportion}", "capacity": "{name: capacity}", "capacity's tree": "{name: capacity, enableHierarchy: true}"} {
		t.Run(name, func(t *testing.T) {
			cfg, _, err := config.Parse(fmt.Appendf(nil, promiseTiers, "reclaim", policy))
			if err != nil {
				t.Fatal(err)
			}
			e, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			m := model.New()
			m.Apply(model.NodeFrom(make.Node("n").CPU("4").Resource("pods", "100").Obj()))
			m.Apply(model.QueueFrom(make.Queue("guaranteed").Weight(1).Guarantee("cpu", "1").Deserved("cpu", "1").Obj()))
			m.Apply(model.QueueFrom(make.Queue("other").Weight(3).Deserved("cpu", "3").Obj()))
			m.Apply(model.GangFrom(make.Gang("holder").Min(4).Queue("guaranteed").Obj()))
			pods := map[string]*corev1.Pod{}
			for i := range 4 {
				pod := make.Pod(fmt.Sprintf("holder-%d", i)).Gang("holder").CPU("1").Obj()
				pods[pod.Name] = pod
				m.Apply(model.TaskFrom(pod, true))
			}
			now := make.Epoch
			d := e.Cycle(now, m)
			decision.Assume(m, &d)
			for _, b := range d.Binds {
				pods[b.Pod.Name].Spec.NodeName, pods[b.Pod.Name].Status.Phase = b.Node, corev1.PodRunning
				m.Apply(model.TaskFrom(pods[b.Pod.Name], true))
			}
			if len(d.Binds) != 4 {
				t.Fatalf("%d of 4 pods were placed", len(d.Binds))
			}
			pods["holder-0"].Status.Phase = corev1.PodFailed
			m.Apply(model.TaskFrom(pods["holder-0"], true))
			m.Apply(model.GangFrom(make.Gang("taker").Min(3).Queue("other").Obj()))
			for i := range 3 {
				m.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("taker-%d", i)).Gang("taker").CPU("1").Obj(), true))
			}
			for range 5 {
				now = now.Add(time.Second)
				d := e.Cycle(now, m)
				if len(d.Evicts) > 0 {
					t.Fatalf("%d pods of the queue with a guarantee are evicted", len(d.Evicts))
				}
				decision.Assume(m, &d)
			}
		})
	}
}
