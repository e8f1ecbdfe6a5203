package cycle_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// deepQueue is a node of 10 cpus of which 8 are in use for an hour, a head that needs all of them, and behind it
// gangs of pods with 100m cpu that run for ten minutes. selects gives the pods a node selector that matches no
// node.
type deepQueue struct {
	engine  *scheduler.Engine
	cluster *model.Cluster
	now     time.Time
	created int
	selects bool
}

const deepPods = 20

func newDeepQueue(t *testing.T, gangs int, selects bool) *deepQueue {
	t.Helper()
	e, err := scheduler.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	d := &deepQueue{engine: e, cluster: model.New(), now: make.Epoch, selects: selects}
	d.cluster.Apply(model.QueueFrom(make.Queue("default").Obj()))
	d.cluster.Apply(model.NodeFrom(make.Node("a").CPU("10").Resource("pods", "10000").Obj()))
	d.cluster.Apply(model.GangFrom(make.Gang("runs").Min(1).Phase(schedulingv1beta1.PodGroupRunning).Obj()))
	d.cluster.Apply(model.TaskFrom(make.Pod("runs-0").Gang("runs").CPU("8").Annotation(keys.RunningEstimate, "1h").On("a").Phase(corev1.PodRunning).Obj(), true))
	d.cluster.Apply(model.GangFrom(make.Gang("head").Min(1).MinResource("cpu", "10").Annotation(keys.RunningEstimate, "1h").Obj()))
	for i := range gangs {
		d.cluster.Apply(model.GangFrom(make.Gang(fmt.Sprintf("small-%03d", i)).Min(deepPods).MinResource("cpu", "2").
			Annotation(keys.RunningEstimate, "10m").Age(time.Duration(i+1) * time.Millisecond).Obj()))
	}
	return d
}

// settle runs cycles until nothing changes, and creates the pods of admitted gangs.
func (d *deepQueue) settle() {
	for range 500 {
		made := d.engine.Cycle(d.now, d.cluster)
		decision.Assume(d.cluster, &made)
		changed := len(made.Binds) > 0
		for _, g := range made.Gangs {
			if g.Status.Phase != schedulingv1beta1.PodGroupInqueue || len(d.cluster.Gangs["default/"+g.Gang.Name].Tasks) > 0 {
				continue
			}
			changed = true
			d.create(g.Gang.Name)
		}
		if !changed {
			return
		}
	}
}

func (d *deepQueue) create(gang string) {
	pods, cpu := deepPods, "100m"
	if gang == "head" {
		pods, cpu = 1, "10"
	}
	for i := range pods {
		pod := make.Pod(fmt.Sprintf("%s-%d", gang, i)).Gang(gang).CPU(cpu).Annotation(keys.RunningEstimate, "10m")
		if d.selects && gang != "head" {
			pod.Select("disk", "none")
		}
		d.cluster.Apply(model.TaskFrom(pod.Obj(), true))
		d.created++
	}
}

// TestOnlyGangsThatWouldStartAreAdmittedBehindTheFirst checks that in a long queue only the first sixteen gangs and
// the ones that start have pods.
func TestOnlyGangsThatWouldStartAreAdmittedBehindTheFirst(t *testing.T) {
	d := newDeepQueue(t, 100, false)
	d.settle()
	if started := d.cluster.Gangs["default/small-000"].AllocatedTasks(); started != deepPods {
		t.Errorf("%d pods of the first behind the head run, want %d", started, deepPods)
	}
	if most := 1 + 16*deepPods; d.created > most {
		t.Errorf("%d pods exist, want at most %d", d.created, most)
	}
}

// TestPodsOfMisjudgedGangsAreBounded has gangs that seem to fit by their requests, but whose pods match no node.
// The number of pods must be bounded.
func TestPodsOfMisjudgedGangsAreBounded(t *testing.T) {
	d := newDeepQueue(t, 150, true)
	d.settle()
	if least := 1 + 16*deepPods; d.created <= least {
		t.Errorf("%d pods exist, want more than those of the first gangs (%d)", d.created, least)
	}
	if most := 1 + 2*16*deepPods + 1000 + 2*deepPods; d.created > most { // twice sixteen, because the next gangs are admitted before the first are known not to fit
		t.Errorf("%d pods exist, want at most %d", d.created, most)
	}
}
