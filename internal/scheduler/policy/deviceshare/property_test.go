package deviceshare_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

const configuration = `
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: proportion}]
- plugins:
  - name: deviceshare
    arguments: {deviceshare.VGPUEnable: true, deviceshare.GPUSharingEnable: true, deviceshare.GPUNumberEnable: true,
      deviceshare.SchedulePolicy: %q, deviceshare.ScheduleWeight: 1}
`

// world is the content of the API server, and a scheduler that watches it.
type world struct {
	t      *rapid.T
	cfg    *config.Config
	engine *scheduler.Engine
	model  *model.Cluster
	now    time.Time
	nodes  map[string]*corev1.Node
	pods   map[string]*corev1.Pod
	made   int
}

func (w *world) restart() {
	engine, err := scheduler.New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine, w.model = engine, model.New()
	w.model.Apply(model.QueueFrom(make.Queue("default").Obj()))
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		w.model.Apply(model.NodeFrom(w.nodes[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		w.model.Apply(model.TaskFrom(w.pods[name], true), model.GangFrom(make.Gang("g-"+name).Obj()))
	}
}

type cardSize struct{ slots, memory int64 }

// addNode adds a node with registered cards, or with cards of one size.
func (w *world) addNode(name string) {
	b := make.Node(name).CPU("100").Memory("100Gi")
	if rapid.Bool().Draw(w.t, "share device") {
		number := rapid.IntRange(1, 4).Draw(w.t, "number")
		memory := fmt.Sprint(number * rapid.IntRange(1, 20).Draw(w.t, "memory"))
		b.Resource(string(keys.GPUNumber), fmt.Sprint(number)).Resource(string(keys.GPUMemory), memory)
		b.Obj().Status.Capacity = b.Obj().Status.Allocatable
	} else {
		var register strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(w.t, "cards") {
			fmt.Fprintf(&register, "%s-%d,%d,%d,T4,true,hami-core:", name, i, rapid.IntRange(1, 4).Draw(w.t, "slots"), rapid.IntRange(1, 20).Draw(w.t, "memory"))
		}
		b.Annotation(keys.VGPURegister, register.String())
	}
	w.nodes[name] = b.Obj()
	w.model.Apply(model.NodeFrom(b.Obj()))
}

func (w *world) addPod() {
	w.made++
	name := fmt.Sprintf("p%d", w.made)
	b := make.Pod(name).Gang("g-" + name).CPU("1")
	ask := func(key corev1.ResourceName, low, high int) {
		b.Resource(string(key), fmt.Sprint(rapid.IntRange(low, high).Draw(w.t, string(key))))
	}
	switch rapid.IntRange(0, 3).Draw(w.t, "kind") {
	case 0:
		ask(keys.GPUMemory, 1, 12)
	case 1:
		ask(keys.GPUNumber, 1, 3)
	default:
		ask(keys.VGPUNumber, 1, 2)
		if rapid.Bool().Draw(w.t, "percent") {
			ask(keys.VGPUMemoryPercentage, 1, 101)
		} else {
			ask(keys.VGPUMemory, 0, 12)
		}
		ask(keys.VGPUCores, 0, 100)
		if rapid.Bool().Draw(w.t, "two containers") {
			p := b.Obj()
			p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
			p.Spec.Containers[1].Name = "second"
		}
	}
	w.pods[name] = b.Obj()
	w.model.Apply(model.GangFrom(make.Gang("g-"+name).Obj()), model.TaskFrom(b.Obj(), true))
}

// cycle runs a cycle. Its decisions reach the API now, later or never.
func (w *world) cycle() {
	w.now = w.now.Add(time.Second)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	for _, b := range d.Binds {
		p := w.pods[b.Pod.Name]
		if rapid.IntRange(0, 9).Draw(w.t, "bind fails") == 0 {
			w.model.Apply(model.BindFailed{UID: p.UID, Err: "conflict"})
			continue
		}
		p = p.DeepCopy()
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		maps.Copy(p.Annotations, b.Annotations)
		w.pods[b.Pod.Name] = p
		if rapid.Bool().Draw(w.t, "seen at once") {
			w.model.Apply(model.TaskFrom(p, true))
		}
	}
}

func (w *world) drawPod() *corev1.Pod {
	return w.pods[rapid.SampledFrom(slices.Sorted(maps.Keys(w.pods))).Draw(w.t, "pod")]
}

// check sums the annotations of the pods on each card.
func (w *world) check() {
	type use struct{ slots, memory, cores, whole int64 }
	used := map[string]use{}
	for _, p := range w.pods {
		if p.Spec.NodeName == "" || p.Status.Phase != corev1.PodRunning {
			continue
		}
		asked := p.Spec.Containers[0].Resources.Requests
		for _, id := range strings.Split(p.Annotations[keys.GPUIndex], ",") {
			if id == "" {
				continue
			}
			u := used[p.Spec.NodeName+"/"+id]
			memory, number := asked[keys.GPUMemory], asked[keys.GPUNumber]
			u.slots++
			u.memory += memory.Value()
			u.whole += min(number.Value(), 1)
			used[p.Spec.NodeName+"/"+id] = u
		}
		for _, record := range strings.FieldsFunc(p.Annotations[keys.VGPUIDs], func(r rune) bool { return r == ':' || r == ';' }) {
			f := strings.Split(record, ",")
			memory, _ := strconv.ParseInt(f[2], 10, 64)
			cores, _ := strconv.ParseInt(f[3], 10, 64)
			u := used[p.Spec.NodeName+"/"+f[0]]
			u.slots, u.memory, u.cores = u.slots+1, u.memory+memory, u.cores+cores
			used[p.Spec.NodeName+"/"+f[0]] = u
		}
		if n := asked[keys.VGPUNumber]; !n.IsZero() && p.Annotations[keys.VGPUNode] != p.Spec.NodeName {
			w.t.Fatalf("pod %s runs on %s and its cards are of %q", p.Name, p.Spec.NodeName, p.Annotations[keys.VGPUNode])
		}
	}
	for key, u := range used {
		node, id, _ := strings.Cut(key, "/")
		size := w.sizeOf(node, id)
		if u.memory > size.memory || u.slots > size.slots || u.cores > 100 || u.whole > 0 && u.slots > 1 {
			w.t.Fatalf("card %s of %s: %+v of %+v is given away", id, node, u, size)
		}
	}
}

func (w *world) sizeOf(node, id string) cardSize {
	n := w.nodes[node]
	for _, record := range strings.Split(n.Annotations[keys.VGPURegister], ":") {
		if f := strings.Split(record, ","); f[0] == id {
			slots, _ := strconv.ParseInt(f[1], 10, 64)
			memory, _ := strconv.ParseInt(f[2], 10, 64)
			return cardSize{slots, memory}
		}
	}
	memory, number := n.Status.Capacity[keys.GPUMemory], n.Status.Capacity[keys.GPUNumber]
	if number.IsZero() {
		return cardSize{}
	}
	return cardSize{1 << 30, memory.Value() / number.Value()}
}

// TestNoCardIsOvercommitted checks that the annotations of the pods on a card never exceed the card, whatever is
// created, deleted, fails or restarts.
func TestNoCardIsOvercommitted(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		cfg, _, err := config.Parse(fmt.Appendf(nil, configuration, rapid.SampledFrom([]string{"", "binpack", "spread"}).Draw(t, "policy")))
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, cfg: cfg, now: make.Epoch, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}}
		w.restart()
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			w.addNode(fmt.Sprintf("n%d", i))
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"pod", "pod", "pod", "cycle", "cycle", "end", "gone", "restart"}).Draw(t, "step") {
			case "pod":
				w.addPod()
			case "cycle":
				w.cycle()
			case "end":
				if len(w.pods) > 0 {
					p := w.drawPod()
					p.Status.Phase = corev1.PodSucceeded
					w.model.Apply(model.TaskFrom(p, true))
				}
			case "gone":
				if len(w.pods) > 0 {
					p := w.drawPod()
					delete(w.pods, p.Name)
					w.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
				}
			case "restart":
				w.restart()
			}
			w.check()
		}
	})
}
