package numaaware_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/numa"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

const configuration = `
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: proportion}, {name: numa-aware}]
`

// world is the content of the API server, and a scheduler that watches it.
type world struct {
	t      *rapid.T
	cfg    *config.Config
	engine *scheduler.Engine
	model  *model.Cluster
	now    time.Time
	node   *corev1.Node
	numa   *nodeinfov1alpha1.Numatopology
	pods   map[string]*corev1.Pod
	size   int
	made   int
}

func (w *world) restart() {
	engine, err := scheduler.New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine, w.model = engine, model.New()
	w.model.Apply(model.QueueFrom(make.Queue("default").Obj()), model.NodeFrom(w.node), model.NumaFrom(w.numa))
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		w.model.Apply(model.TaskFrom(w.pods[name], true), model.GangFrom(make.Gang("g-"+name).Obj()))
	}
}

func (w *world) addPod() {
	w.made++
	name := fmt.Sprintf("p%d", w.made)
	b := make.Pod(name).Gang("g-" + name).CPU(strconv.Itoa(rapid.IntRange(1, 5).Draw(w.t, "cpu"))).Memory("1Mi")
	p := b.Obj()
	if rapid.Bool().Draw(w.t, "two") {
		p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
		p.Spec.Containers[1].Name = "second"
	}
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].Resources.Limits = p.Spec.Containers[i].Resources.Requests
	}
	w.pods[name] = p
	w.model.Apply(model.GangFrom(make.Gang("g-"+name).Obj()), model.TaskFrom(p, true))
}

func (w *world) cycle() {
	w.now = w.now.Add(time.Second)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	for _, b := range d.Binds {
		p := w.pods[b.Pod.Name].DeepCopy()
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		maps.Copy(p.Annotations, b.Annotations)
		w.pods[b.Pod.Name] = p
		if rapid.Bool().Draw(w.t, "seen at once") {
			w.model.Apply(model.TaskFrom(p, true))
		}
	}
}

func (w *world) cpusOf(p *corev1.Pod) (all numa.CPUSet) {
	for _, part := range strings.Split(p.Annotations[keys.NumaCPUs], ";") {
		_, list, _ := strings.Cut(part, "=")
		set, err := numa.ParseCPUs(list)
		if err != nil {
			w.t.Fatal(err)
		}
		if !set.And(all).IsEmpty() {
			w.t.Fatalf("containers of %s share %s", p.Name, set.And(all))
		}
		all = all.Union(set)
	}
	return all
}

// show makes the agent report the kubelet's allocation, which follows the annotations.
func (w *world) show() {
	free := cpusUpTo(w.size)
	held := []string{}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		if p.Spec.NodeName != "" && p.Status.Phase == corev1.PodRunning && rapid.Bool().Draw(w.t, "shown") {
			free = free.Minus(w.cpusOf(p))
			held = append(held, strconv.Quote(string(p.UID))+":{}")
		}
	}
	w.numa = w.numa.DeepCopy()
	w.numa.Spec.NumaResMap = map[string]nodeinfov1alpha1.ResourceInfo{"cpu": {Allocatable: free.String()}}
	w.numa.Spec.PodAllocations.Raw = []byte("{" + strings.Join(held, ",") + "}")
	w.model.Apply(model.NumaFrom(w.numa))
}

func cpusUpTo(n int) numa.CPUSet {
	all := []int{}
	for i := range n {
		all = append(all, i)
	}
	return numa.CPUs(all...)
}

func (w *world) check() {
	var all numa.CPUSet
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		if p.Spec.NodeName == "" || p.Status.Phase != corev1.PodRunning {
			continue
		}
		mine := w.cpusOf(p)
		asked := int64(0)
		for _, c := range p.Spec.Containers {
			asked += c.Resources.Requests.Cpu().Value()
		}
		if int64(mine.Len()) != asked {
			w.t.Fatalf("pod %s asks for %d cpus and has %s", name, asked, mine)
		}
		if both := mine.And(all); !both.IsEmpty() {
			w.t.Fatalf("pod %s and another both have %s", name, both)
		}
		all = all.Union(mine)
	}
}

// TestCPUsAreGivenOnce checks that no CPU belongs to two pods, whatever is created, deleted or restarted, and
// whenever the agent catches up.
func TestCPUsAreGivenOnce(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		cfg, _, err := config.Parse([]byte(configuration))
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, cfg: cfg, now: make.Epoch, pods: map[string]*corev1.Pod{}, size: rapid.SampledFrom([]int{4, 8, 12}).Draw(t, "cpus")}
		w.node = make.Node("n").Memory("1Gi").Obj()
		w.node.Status.Allocatable["cpu"] = *resource.NewQuantity(int64(w.size), resource.DecimalSI)
		w.numa = &nodeinfov1alpha1.Numatopology{}
		w.numa.Name = "n"
		policy := rapid.SampledFrom([]string{"best-effort", "restricted", "single-numa-node"}).Draw(t, "policy")
		w.numa.Spec.Policies = map[nodeinfov1alpha1.PolicyName]string{nodeinfov1alpha1.CPUManagerPolicy: "static", nodeinfov1alpha1.TopologyManagerPolicy: policy}
		w.numa.Spec.NumaResMap = map[string]nodeinfov1alpha1.ResourceInfo{"cpu": {Allocatable: cpusUpTo(w.size).String()}}
		w.numa.Spec.CPUDetail = map[string]nodeinfov1alpha1.CPUInfo{}
		for i := range w.size {
			w.numa.Spec.CPUDetail[strconv.Itoa(i)] = nodeinfov1alpha1.CPUInfo{NUMANodeID: i / 4, SocketID: i / 4, CoreID: i % 4 / 2}
		}
		w.numa.Spec.PodAllocations = &apiextensionsv1.JSON{Raw: []byte("{}")}
		w.restart()
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"pod", "pod", "cycle", "cycle", "gone", "show", "restart"}).Draw(t, "step") {
			case "pod":
				w.addPod()
			case "cycle":
				w.cycle()
			case "show":
				w.show()
			case "restart":
				w.restart()
			case "gone":
				if len(w.pods) == 0 {
					continue
				}
				p := w.pods[rapid.SampledFrom(slices.Sorted(maps.Keys(w.pods))).Draw(t, "pod")]
				delete(w.pods, p.Name)
				w.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
			}
			w.check()
		}
	})
}
