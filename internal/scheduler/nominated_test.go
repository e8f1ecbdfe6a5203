package scheduler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestAPromiseThatMovesIsTold checks that a promise that moves is also published in a cycle without evictions,
// because the API contains the nominated node of a pod and a restarted scheduler relies on it. A promise that was
// never published is not.
func TestAPromiseThatMovesIsTold(t *testing.T) {
	for name, published := range map[string]string{"the API names the first node": "a", "nothing was told": ""} {
		e, err := New(config.Default())
		if err != nil {
			t.Fatal(err)
		}
		m := model.New()
		m.Apply(model.QueueFrom(make.Queue("default").Obj()))
		leaving := func(name, node string) {
			g := make.Gang(name).Queue("default").Obj()
			g.UID = types.UID(name)
			p := make.Pod(name + "-0").Gang(name).CPU("2").Obj()
			by := metav1.NewTime(make.Epoch.Add(time.Minute))
			p.Spec.NodeName, p.Status.Phase, p.DeletionTimestamp = node, corev1.PodRunning, &by
			m.Apply(model.NodeFrom(make.Node(node).CPU("2").Obj()), model.GangFrom(g), model.TaskFrom(p, true))
		}
		leaving("first", "a")
		waits := make.Pod("waits-0").Gang("waits").CPU("2").Obj()
		waits.Status.NominatedNodeName = published
		m.Apply(model.GangFrom(make.Gang("waits").Queue("default").Obj()), model.TaskFrom(waits, true))
		d := e.Cycle(make.Epoch, m)
		decision.Assume(m, &d)
		leaving("second", "b")
		m.Apply(model.NodeFrom(make.Node("a").CPU("2").Cordon().Obj()))
		d = e.Cycle(make.Epoch.Add(time.Second), m)
		if len(d.Nominations) != 1 || d.Nominations[0].Node != "b" || d.Nominations[0].Publish != (published != "") {
			t.Errorf("%s: %+v, want one of node b, published: %v", name, d.Nominations, published != "")
		}
	}
}
