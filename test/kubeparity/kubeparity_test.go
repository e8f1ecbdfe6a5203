package kubeparity

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/interpod"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/test/propertytest"
)

// world is one cluster, as the model and as objects for kube-scheduler's plugins.
type world struct {
	t          *rapid.T
	dice       *dice
	namespaces map[string]*corev1.Namespace
	nodes      map[string]*corev1.Node
	pods       map[string]*corev1.Pod // on nodes
	waiting    []*corev1.Pod

	cluster *model.Cluster
	view    overlay.Overlay
	judge   equivalence.Judge
	book    interpod.PodCounts
}

// newWorld enables only the scores that depend on other pods. TestPoints and TestPreferences compare the other scores.
func newWorld(t *rapid.T) *world {
	w := &world{
		t: t, dice: newDice(t), cluster: model.New(),
		namespaces: map[string]*corev1.Namespace{}, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{},
	}
	w.judge.Filters = fit.Filters{Cordon: true, Affinity: true, Taints: true, Ports: true, PodRules: true, Spread: true}
	w.judge.Weights = score.Weights{PodAffinity: float64(w.dice.n(3)), Spread: float64(w.dice.n(3))}
	for _, name := range namespaces {
		w.setNamespace(name)
	}
	for i := range 1 + w.dice.n(8) {
		w.setNode(fmt.Sprintf("n%d", i))
	}
	for range w.dice.n(12) {
		w.addPod()
	}
	return w
}

func (w *world) setNamespace(name string) {
	w.namespaces[name] = w.dice.namespace(name)
	w.cluster.Apply(model.NamespaceFrom(w.namespaces[name]))
}

func (w *world) setNode(name string) {
	w.nodes[name] = w.dice.node(name)
	w.cluster.Apply(model.NodeFrom(w.nodes[name]))
}

func (w *world) dropNode(name string) {
	delete(w.nodes, name)
	w.cluster.Apply(model.NodeGone{Name: name})
	for _, pod := range w.pods { // the model gets no other update about these pods
		if pod.Spec.NodeName == name {
			w.dropPod(pod.Name)
		}
	}
}

func (w *world) addPod() {
	names := slices.Sorted(maps.Keys(w.nodes))
	w.setPod(w.dice.pod(names[w.dice.n(len(names))]))
}

func (w *world) setPod(p *corev1.Pod) {
	w.pods[p.Name] = p
	w.cluster.Apply(model.TaskFrom(p, false))
}

func (w *world) dropPod(name string) {
	p := w.pods[name]
	delete(w.pods, name)
	w.cluster.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
}

func (w *world) somePod() string {
	names := slices.Sorted(maps.Keys(w.pods))
	if len(names) == 0 {
		return ""
	}
	return names[w.dice.n(len(names))]
}

// change makes a random change to the cluster between two cycles.
func (w *world) change() {
	switch w.dice.n(8) {
	case 0:
		w.setNode(fmt.Sprintf("n%d", w.dice.n(10)))
	case 1:
		if len(w.nodes) > 1 {
			w.dropNode(slices.Sorted(maps.Keys(w.nodes))[0])
		}
	case 2:
		w.setNamespace(namespaces[w.dice.n(3)])
	case 3, 4:
		if name := w.somePod(); name != "" {
			w.dropPod(name)
		}
	case 5:
		if name := w.somePod(); name != "" {
			p := w.pods[name].DeepCopy()
			p.Labels = w.dice.labels()
			w.setPod(p)
		}
	default:
		w.addPod()
	}
}

func (w *world) open() {
	w.view.Sync(w.cluster)
	w.judge.Open(&w.view, w.cluster.Resources, w.cluster.Shapes)
	w.book.Open(w.cluster, &w.view, &w.judge)
}

func (w *world) kube() *plugins {
	var nodes []*corev1.Node
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		nodes = append(nodes, w.nodes[name])
	}
	var pods []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		pods = append(pods, w.pods[name])
	}
	return newPlugins(w.t, nodes, pods, slices.Collect(maps.Values(w.namespaces)))
}

// verdicts returns our verdict for each node. It is "" if the task may use the node.
func (w *world) verdicts(t *model.Task) map[string]string {
	out := map[string]string{}
	near := w.book.ProfileFor(t)
	for _, id := range w.view.Order {
		code, _ := w.judge.Filters.CheckStatic(t.Shape, w.view.Nodes.Info[id])
		if code == "" {
			code, _, _ = w.judge.Filters.CheckDynamic(&w.view, id, t.Shape)
		}
		if code == "" && near != nil {
			code, _ = near.CheckNode(id, false)
		}
		out[w.view.Nodes.Name[id]] = string(code)
	}
	return out
}

func (w *world) best(t *model.Task) string {
	best := w.judge.BestNode
	if near := w.book.ProfileFor(t); near != nil {
		best = func(*model.Shape) (model.NodeID, bool) { return near.BestNode(false) }
	}
	id, ok := best(t.Shape)
	if !ok {
		return ""
	}
	return w.view.Nodes.Name[id]
}

// kubeBest returns the node with the highest score in kube-scheduler, the first one by name if there are several.
func (w *world) kubeBest(k *plugins, pod *corev1.Pod, fitting []string) string {
	affinity, spread := k.scores(k.affinity, pod, fitting), k.scores(k.spread, pod, fitting)
	best, most := "", int64(math.MinInt64)
	for _, name := range fitting {
		if points := int64(w.judge.Weights.PodAffinity)*affinity[name] + int64(w.judge.Weights.Spread)*spread[name]; points > most {
			best, most = name, points
		}
	}
	return best
}

// TestPlacing checks that both sides permit the same nodes for every pod and find the same best node, in changing
// clusters and while a cycle places pods.
func TestPlacing(t *testing.T) {
	propertytest.Check(t, 1000, func(t *rapid.T) {
		w := newWorld(t)
		for range 1 + w.dice.n(4) {
			for range w.dice.n(4) {
				w.change()
			}
			w.wait()
			w.open()
			for _, pod := range w.waiting {
				w.compare(pod)
			}
			for _, pod := range w.waiting { // not bound, so the next cycle tries again
				delete(w.pods, pod.Name)
			}
		}
	})
}

// wait adds pending pods, some of them equal.
func (w *world) wait() {
	for range w.dice.n(4) {
		p := w.dice.pod("")
		for range 1 + w.dice.n(3) {
			w.waiting = append(w.waiting, p)
			w.cluster.Apply(model.TaskFrom(p, true))
			p = w.dice.replica(p)
		}
	}
	w.dice.rand.Shuffle(len(w.waiting), func(i, k int) { w.waiting[i], w.waiting[k] = w.waiting[k], w.waiting[i] })
}

// compare evaluates one pod on both sides and places it on the best node.
func (w *world) compare(pod *corev1.Pod) {
	task, k := w.cluster.Task(pod.UID), w.kube()
	theirs, ours := k.verdicts(pod), w.verdicts(task)
	var fitting []string
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if (theirs[name] == "") != (ours[name] == "") {
			w.t.Fatalf("%s on %s: kube-scheduler says %q, we say %q\n%s", pod.Name, name, theirs[name], ours[name], w.dump(pod))
		}
		if theirs[name] == "" {
			fitting = append(fitting, name)
		}
	}
	best := w.best(task)
	if len(fitting) == 0 {
		if best != "" {
			w.t.Fatalf("%s fits nowhere, and we take %s", pod.Name, best)
		}
		return
	}
	if want := w.kubeBest(k, pod, fitting); best != want {
		w.t.Fatalf("best node of %s for %s: kube-scheduler's %s, ours %s\naffinity %v spread %v\n%s", fitting, pod.Name, want, best,
			k.scores(k.affinity, pod, fitting), k.scores(k.spread, pod, fitting), w.dump(pod))
	}
	id, _ := w.cluster.Nodes.Find(best)
	w.view.AssignIdle(id, task)
	w.book.CountPlaced(task, id, 1)
	placed := pod.DeepCopy()
	placed.Spec.NodeName = best
	w.pods[placed.Name] = placed
}

func (w *world) dump(pod *corev1.Pod) string {
	text := fmt.Sprintln(pod.Namespace, pod.Labels, pod.Spec.Tolerations, rulesOf(pod))
	for _, name := range slices.Sorted(maps.Keys(w.namespaces)) {
		text += fmt.Sprintln(name, w.namespaces[name].Labels)
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		text += fmt.Sprintln(name, w.nodes[name].Labels, w.nodes[name].Spec.Taints)
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		text += fmt.Sprintln(name, p.Spec.NodeName, p.Namespace, p.Labels, p.DeletionTimestamp != nil, rulesOf(p))
	}
	return text
}

func rulesOf(p *corev1.Pod) string {
	text, err := json.Marshal([]any{p.Spec.Affinity, p.Spec.TopologySpreadConstraints})
	if err != nil {
		return err.Error()
	}
	return string(text)
}
