package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// longQueue is a full cluster, and gangs that wait for admission to its only queue.
type longQueue struct {
	engine  *Engine
	cluster *model.Cluster
	now     time.Time
	gangs   int
	running []*corev1.Pod
}

func newLongQueue(t testing.TB, nodes, waiting int) *longQueue {
	t.Helper()
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	l := &longQueue{engine: e, cluster: model.New(), now: make.Epoch}
	l.cluster.Apply(model.QueueFrom(make.Queue("default").Obj()))
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		l.cluster.Apply(model.NodeFrom(make.Node(name).CPU("10").Obj()))
		gang := "runs-" + name
		l.cluster.Apply(model.GangFrom(make.Gang(gang).Min(10).Phase(schedulingv1beta1.PodGroupRunning).Obj()))
		for k := range 10 {
			pod := make.Pod(fmt.Sprintf("%s-%d", gang, k)).Gang(gang).CPU("1").Annotation(keys.RunningEstimate, "10h").On(name).Phase(corev1.PodRunning).Obj()
			l.running = append(l.running, pod)
			l.cluster.Apply(model.TaskFrom(pod, true))
		}
	}
	for range waiting {
		l.submit()
	}
	for range 5 {
		l.cycle()
	}
	return l
}

// submit adds a gang of four pods, which are not created.
func (l *longQueue) submit() {
	l.cluster.Apply(model.GangFrom(make.Gang(fmt.Sprintf("waits-%06d", l.gangs)).Min(4).MinResource("cpu", "4").
		Annotation(keys.RunningEstimate, "1h").Age(time.Duration(l.gangs) * time.Millisecond).Obj()))
	l.gangs++
}

func (l *longQueue) cycle() {
	l.now = l.now.Add(100 * time.Millisecond)
	d := l.engine.Cycle(l.now, l.cluster)
	decision.Assume(l.cluster, &d)
}

// change ends a pod and submits a gang.
func (l *longQueue) change() {
	pod := l.running[0]
	l.running = l.running[1:]
	pod.Status.Phase = corev1.PodSucceeded
	l.cluster.Apply(model.TaskFrom(pod, true))
	l.submit()
}

// TestLongQueueFloor bounds the cost of a cycle in which a pod ends and a gang arrives while thousands wait for
// admission. The cost must depend on the changes, not on the number of waiting gangs.
func TestLongQueueFloor(t *testing.T) {
	measured(t)
	const rounds = 20
	for _, nodes := range sizes {
		l := newLongQueue(t, nodes, 5000)
		best := time.Hour
		for range 3 {
			start := spent()
			for range rounds {
				l.change()
				l.cycle()
			}
			best = min(best, (spent()-start)/rounds)
		}
		told(t, "one pod ends and one gang arrives, 5,000 gangs outside a full queue", nodes, best.Seconds()*1000, "ms")
		if ceiling := 60 * time.Millisecond; best > ceiling {
			t.Errorf("%d nodes: %v a cycle; the ceiling is %v", nodes, best, ceiling)
		}
	}
}

// BenchmarkLongQueue is TestLongQueueFloor for profiles.
func BenchmarkLongQueue(b *testing.B) {
	l := newLongQueue(b, 1000, 5000)
	for b.Loop() {
		l.change()
		l.cycle()
		if len(l.running) == 0 {
			b.Skip("no pod is left to end: take fewer rounds, as with -benchtime 100x")
		}
	}
}
