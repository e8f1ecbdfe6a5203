package evict_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// TestPreemptorNamesEachVictimGangOnce evicts a gang of four pods and a gang of one pod: each evicted pod has
// the reason, and the preemptor gets two events.
func TestPreemptorNamesEachVictimGangOnce(t *testing.T) {
	e, err := scheduler.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	m := model.New()
	m.Apply(model.QueueFrom(make.Queue("default").Obj()))
	m.Apply(model.NodeFrom(make.Node("n").CPU("5").Obj()))
	m.Apply(model.PriorityClassSet{Name: "urgent", Value: 10})
	add := func(name string, pods int, class, node string) {
		g := make.Gang(name).Min(pods).Queue("default").PriorityClass(class).Obj()
		g.UID = types.UID(name)
		m.Apply(model.GangFrom(g))
		for i := range pods {
			p := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU("1").Obj()
			if node != "" {
				p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning
			}
			m.Apply(model.TaskFrom(p, true))
		}
	}
	add("four", 4, "", "n")
	add("one", 1, "", "n")
	add("urgent", 5, "urgent", "")

	var evicted, told []string
	d := e.Cycle(make.Epoch, m)
	for _, evict := range d.Evicts {
		evicted = append(evicted, evict.Pod.Name)
		if evict.Message == "" {
			t.Errorf("pod %s is not told why it goes", evict.Pod.Name)
		}
		if evict.PreemptorMessage != "" {
			told = append(told, evict.PreemptorMessage)
		}
	}
	if len(evicted) != 5 {
		t.Fatalf("evicted are %v, want all five", evicted)
	}
	const why = "default/urgent in the same queue default needs the resources: the waiting gang has a higher priority (10, compared with 0)"
	want := []string{"pod default/one-0 evicted: " + why, "4 pods of default/four evicted: " + why}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("what the preemptor is told (-want +got):\n%s", diff)
	}
}
