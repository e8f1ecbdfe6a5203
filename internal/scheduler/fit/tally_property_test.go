package fit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// counted is the result of checking the nodes one by one for a pod: the number of nodes by first reason, and how
// much the nearest of them lacks.
type counted map[[2]string]struct {
	Nodes int32
	Short int64
}

func (c counted) add(code, detail string, short int64) {
	key := [2]string{code, detail}
	entry, known := c[key]
	if entry.Nodes++; !known || short < entry.Short {
		entry.Short = short
	}
	c[key] = entry
}

// askedOf is a waiting pod.
type askedOf struct {
	cpu, gpu  int64
	zone      string
	tolerates bool
	port      bool
}

// candidate is a node as it was drawn.
type candidate struct {
	cpu, gpu, pods, usedCPU, usedGPU, usedPods int64
	zone                                       string
	tainted, cordoned, port                    bool
}

// judge returns why the node does not take the pod; "" if it does.
func (n *candidate) judge(p *askedOf, into counted) (fits bool) {
	switch {
	case n.cordoned:
		into.add("NodeUnschedulable", "", 0)
	case p.zone != "" && p.zone != n.zone:
		into.add("NodeSelectorMismatch", "zone="+p.zone, 0)
	case n.tainted && !p.tolerates:
		into.add("UntoleratedTaint", "t:NoSchedule", 0)
	case n.usedPods+1 > n.pods:
		into.add("TooManyPods", "", 0)
	case p.port && n.port:
		into.add("PortInUse", "", 0)
	case p.cpu > n.cpu:
		into.add("TooLarge", "cpu", p.cpu-max(n.cpu-n.usedCPU, 0))
	case p.cpu > n.cpu-n.usedCPU:
		into.add("InsufficientResource", "cpu", p.cpu-(n.cpu-n.usedCPU))
	case p.gpu > n.gpu:
		into.add("TooLarge", "nvidia.com/gpu", p.gpu-max(n.gpu-n.usedGPU, 0))
	case p.gpu > n.gpu-n.usedGPU:
		into.add("InsufficientResource", "nvidia.com/gpu", p.gpu-(n.gpu-n.usedGPU))
	default:
		return true
	}
	return false
}

// TestNodesAreCountedAsTheyAre (I12) checks that the explanation of a pod that fits nowhere counts every node once,
// under the first reason that excludes it, and has the amount that the nearest lacks. A pod that fits somewhere has
// no explanation.
func TestNodesAreCountedAsTheyAre(t *testing.T) {
	cfg, _, err := config.Parse([]byte("actions: allocate\ntiers:\n- plugins: [{name: gang}, {name: predicates}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	waited := 0
	propertytest.Check(t, 10000, func(t *rapid.T) {
		e, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		m := model.New()
		m.Apply(model.QueueFrom(make.Queue("default").Obj()))
		p := askedOf{
			cpu: int64(rapid.IntRange(1, 6).Draw(t, "asks")), gpu: int64(rapid.IntRange(0, 2).Draw(t, "cards")),
			zone: rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "zone"), tolerates: rapid.Bool().Draw(t, "tolerates"), port: rapid.Bool().Draw(t, "port"),
		}
		want, fits, nodes := counted{}, false, rapid.IntRange(1, 8).Draw(t, "nodes")
		for i := range nodes {
			n := drawCandidate(t, m, i)
			fits = n.judge(&p, want) || fits
		}
		tellAsked(m, &p)
		d := e.Cycle(make.Epoch.Add(time.Second), m)
		decision.Assume(m, &d)
		told := m.Gangs["default/g"].Status.Explanation
		if fits != (len(d.Binds) == 1) || fits != (told == nil) {
			t.Fatalf("fits %v; bound %v, told %+v", fits, d.Binds, told)
		}
		if fits {
			return
		}
		waited++
		got, all := counted{}, int32(0)
		for _, n := range told.Nodes {
			short := int64(0)
			if n.ShortBy != "" {
				q := resource.MustParse(n.ShortBy)
				short = q.Value()
			}
			got[[2]string{n.Reason, n.Detail}] = struct {
				Nodes int32
				Short int64
			}{n.Count, short}
			all += n.Count
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v (-counted +told):\n%s%+v", p, diff, told)
		}
		if int(all) != nodes || int(told.NodeCount) != nodes {
			t.Fatalf("%d nodes of %d are told of, and that %d were looked at", all, nodes, told.NodeCount)
		}
		checkMembers(t, told)
	})
	t.Logf("%d waited", waited)
}

func checkMembers(t *rapid.T, told *schedulingv1beta1.Explanation) {
	if m := told.Members; m == nil || m.Min != 1 || m.Exist != 1 || m.Fit != 0 || m.Running != 0 {
		t.Fatalf("one pod of which none fits; told %+v", m)
	}
}

func drawCandidate(t *rapid.T, m *model.Cluster, i int) *candidate {
	n := &candidate{
		cpu: int64(rapid.IntRange(0, 6).Draw(t, "cpu")), gpu: int64(rapid.IntRange(0, 2).Draw(t, "gpu")), pods: int64(rapid.IntRange(1, 3).Draw(t, "slots")),
		zone: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "at"), tainted: rapid.IntRange(0, 3).Draw(t, "tainted") == 0, cordoned: rapid.IntRange(0, 5).Draw(t, "cordoned") == 0,
	}
	name := fmt.Sprintf("n%d", i)
	b := make.Node(name).CPU(fmt.Sprint(n.cpu)).GPU(int(n.gpu)).Resource("pods", fmt.Sprint(n.pods)).Label("zone", n.zone)
	if n.tainted {
		b.Taint("t", "", corev1.TaintEffectNoSchedule)
	}
	if n.cordoned {
		b.Cordon()
	}
	m.Apply(model.NodeFrom(b.Obj()))
	if rapid.Bool().Draw(t, "occupied") {
		n.usedPods, n.usedCPU, n.usedGPU = 1, int64(rapid.IntRange(0, int(n.cpu)).Draw(t, "used")), int64(rapid.IntRange(0, int(n.gpu)).Draw(t, "cards used"))
		n.port = rapid.IntRange(0, 2).Draw(t, "listens") == 0
		pod := make.Pod("on-" + name).On(name).Phase(corev1.PodRunning).CPU(fmt.Sprint(n.usedCPU)).GPU(int(n.usedGPU))
		if n.port {
			pod.HostPort(80)
		}
		pod.Obj().Spec.SchedulerName = "default-scheduler"
		m.Apply(model.TaskFrom(pod.Obj(), false))
	}
	return n
}

func tellAsked(m *model.Cluster, p *askedOf) {
	b := make.Pod("g-0").Gang("g").CPU(fmt.Sprint(p.cpu))
	if p.gpu > 0 {
		b.GPU(int(p.gpu))
	}
	if p.zone != "" {
		b.Select("zone", p.zone)
	}
	if p.tolerates {
		b.Tolerate("t")
	}
	if p.port {
		b.HostPort(80)
	}
	m.Apply(model.GangFrom(make.Gang("g").Min(1).Queue("default").Obj()), model.TaskFrom(b.Obj(), true))
}
