package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/kube"
	"github.com/vc-batch/vc/test/make"
)

// world is an API in memory with an engine that looks at it.
type world struct {
	hypers  map[string]*topologyv1alpha1.HyperNode
	t       *testing.T
	cfg     *config.Config
	engine  *scheduler.Engine
	model   *model.Cluster
	now     time.Time
	nodes   map[string]*corev1.Node
	pods    map[string]*corev1.Pod
	gangs   map[string]*schedulingv1beta1.PodGroup
	figures map[string]decision.QueueFigures
	queues  map[string]*schedulingv1beta1.Queue
	classes map[string]*schedulingk8s.PriorityClass
	budgets map[string]*policyv1.PodDisruptionBudget
	quotas  map[string]*corev1.ResourceQuota
	made    int
	numas   map[string]*nodeinfov1alpha1.Numatopology
	events  []decision.Event         // since they were last told
	objects map[string]metav1.Object // volumes, devices and their kin
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, cfg: config.Default(), now: make.Epoch,
		nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{},
		gangs: map[string]*schedulingv1beta1.PodGroup{}, figures: map[string]decision.QueueFigures{}, queues: map[string]*schedulingv1beta1.Queue{},
		classes: map[string]*schedulingk8s.PriorityClass{}, budgets: map[string]*policyv1.PodDisruptionBudget{}, objects: map[string]metav1.Object{},
		numas: map[string]*nodeinfov1alpha1.Numatopology{}, quotas: map[string]*corev1.ResourceQuota{},
	}
	w.queues["default"] = make.Queue("default").Obj()
	w.restart()
	return w
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format, args...)
}

// do carries out one command.
func (w *world) do(line string, body []string) []string {
	words := strings.Fields(line)
	args := words[1:]
	switch words[0] {
	case "nodes":
		return w.setNodes(body)
	case "hypernodes":
		return w.setHyperNodes(body)
	case "remove":
		return w.remove(args)
	case "queue":
		return w.queue(args)
	case "accounts":
		return w.accounts()
	case "quota":
		return w.quota(args)
	case "class":
		return w.class(args)
	case "submit":
		return w.submit(args)
	case "storageclass", "volume", "claim", "attachable", "deviceclass", "devices", "deviceclaim":
		return w.storage(words[0], args)
	case "pod":
		return w.foreign(args)
	case "cycle":
		return w.cycles(args)
	case "settle":
		return w.settle(args...)
	case "gone":
		return w.gone()
	case "budget":
		return w.budget(args)
	case "unready":
		return w.each(args, w.unready)
	case "stop":
		return w.each(args, func(name string) { w.dropPod(name) })
	case "linger":
		return w.each(args, w.linger)
	case "finish":
		return w.eachPod(args, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	case "fail":
		return w.eachPod(args, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	case "delete":
		return w.each(args, w.deleteGang)
	case "bindfail":
		return w.each(args, func(name string) {
			w.model.Apply(model.BindFailed{UID: w.pods[name].UID, Err: "conflict"})
		})
	case "pass":
		return w.pass(args)
	case "explain":
		return w.explain(args)
	case "conditions":
		return w.conditions(args)
	case "notes":
		return w.notes(args)
	case "usage":
		return w.usage(args)
	case "clock":
		return w.clock(args)
	case "numa":
		return w.numa(args)
	case "show":
		return w.show(args)
	case "shares":
		return w.shares()
	case "events":
		return w.tellEvents()
	case "config":
		return w.configure(body)
	case "restart":
		w.restart()
		return nil
	}
	w.fatal("%q: no such command", line)
	return nil
}

func (w *world) restart() {
	engine, err := scheduler.New(w.cfg, scheduler.WithAttacher(kube.New()))
	if err != nil {
		w.fatal("%v", err)
	}
	var used []model.UsageEntry // kept by the daemon
	if w.model != nil {
		used = model.SortUsage(w.model.Usage)
	}
	w.engine, w.model = engine, model.New()
	for _, c := range w.classes {
		w.model.Apply(model.PriorityClassFrom(c))
	}
	w.model.Apply(model.UsageSet{Entries: used})
	for _, q := range w.quotas {
		w.model.Apply(model.QuotaFrom(q))
	}
	for _, n := range w.nodes {
		w.model.Apply(model.NodeFrom(n))
	}
	for _, o := range w.numas {
		w.model.Apply(model.NumaFrom(o))
	}
	for _, q := range w.queues {
		w.model.Apply(model.QueueFrom(q))
	}
	w.retell()
	for _, h := range w.hypers {
		w.model.Apply(model.HyperNodeFrom(h))
	}
	for _, b := range w.budgets {
		w.model.Apply(model.BudgetFrom(b))
	}
	for _, p := range w.pods {
		w.model.Apply(model.TaskFrom(p, w.ours(p)))
	}
	for _, g := range w.gangs {
		w.model.Apply(model.GangFrom(g))
	}
}

func (w *world) ours(p *corev1.Pod) bool { return p.Spec.SchedulerName == "volcano" }

func (w *world) configure(body []string) []string {
	cfg, warnings, err := config.Parse([]byte(strings.Join(body, "\n")))
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	w.cfg = cfg
	w.restart()
	out := []string{"actions " + strings.Join(cfg.Actions, ", ")}
	for _, warning := range append(warnings, w.engine.Warnings...) {
		out = append(out, "warning: "+warning)
	}
	return out
}

// pair splits key=value; a word without "=" has the value "".
func pair(word string) (key, value string) {
	key, value, _ = strings.Cut(word, "=")
	return key, value
}

func (w *world) setNodes(lines []string) []string {
	for _, line := range lines {
		words := strings.Fields(line)
		b := make.Node(words[0])
		for _, word := range words[1:] {
			key, value := pair(word)
			kind, name, _ := strings.Cut(key, ":")
			switch kind {
			case "gpu":
				b.Resource("nvidia.com/gpu", value)
			case "image":
				image(b.Obj(), name, value)
			case "label":
				b.Label(name, value)
			case "taint":
				v, effect, _ := strings.Cut(value, ":")
				b.Taint(name, v, corev1.TaintEffect(effect))
			case "cordon":
				b.Cordon()
			case "note":
				b.Annotation(name, value)
			case "capacity":
				if b.Obj().Status.Capacity == nil {
					b.Obj().Status.Capacity = corev1.ResourceList{}
				}
				b.Obj().Status.Capacity[corev1.ResourceName(name)] = resource.MustParse(value)
			default:
				b.Resource(key, value)
			}
		}
		w.nodes[words[0]] = b.Obj()
		w.model.Apply(model.NodeFrom(b.Obj()))
	}
	return []string{fmt.Sprintf("%d nodes", len(w.nodes))}
}

func (w *world) remove(args []string) []string {
	switch args[0] {
	case "node":
		delete(w.nodes, args[1])
		w.model.Apply(model.NodeGone{Name: args[1]})
	case "claim":
		w.loseObject(find[*corev1.PersistentVolumeClaim](w, namespace+"/"+args[1]))
	case "volume":
		w.loseObject(find[*corev1.PersistentVolume](w, args[1]))
	case "hypernode":
		delete(w.hypers, args[1])
		w.model.Apply(model.HyperNodeGone{Name: args[1]})
	case "queue":
		delete(w.queues, args[1])
		w.model.Apply(model.QueueGone{Name: args[1]})
	default:
		w.fatal("remove %s: no such kind", args[0])
	}
	return []string{"removed " + args[1]}
}

func (w *world) queue(args []string) []string {
	b := make.Queue(args[0])
	for _, word := range args[1:] {
		key, value := pair(word)
		kind, name, _ := strings.Cut(key, ":")
		switch kind {
		case "weight":
			b.Weight(int32(number(w, value)))
		case "priority":
			b.Priority(int32(number(w, value)))
		case "cap":
			b.Capability(long(name), value)
		case "guarantee":
			b.Guarantee(long(name), value)
		case "deserved":
			b.Deserved(long(name), value)
		case "parent":
			b.Parent(value)
		case "note":
			b.Annotation(name, value)
		case "require", "prefer", "avoid", "refuse":
			groups(b.Obj(), kind, strings.Split(value, ","))
		case "reclaimable":
			b.Reclaimable(value == "true")
		case "state":
			b.State(schedulingv1beta1.QueueState(value))
		case "backfill":
			b.Annotation("vc-batch.dev/backfill", value)
		case "fifo":
			b.Fifo()
		default:
			w.fatal("queue: %q: no such word", word)
		}
	}
	q := b.Obj()
	w.made++
	q.CreationTimestamp = metav1.NewTime(make.Epoch.Add(time.Duration(w.made) * time.Second))
	w.queues[args[0]] = q
	w.model.Apply(model.QueueFrom(q))
	return []string{"queue " + args[0]}
}

func long(resource string) string {
	if resource == "gpu" {
		return "nvidia.com/gpu"
	}
	return resource
}

func number(w *world, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		w.fatal("%v", err)
	}
	return n
}

func (w *world) class(args []string) []string {
	_, value := pair(args[1])
	c := &schedulingk8s.PriorityClass{Value: int32(number(w, value))}
	c.Name = args[0]
	w.classes[c.Name] = c
	w.model.Apply(model.PriorityClassFrom(c))
	return []string{"class " + args[0]}
}

func (w *world) foreign(args []string) []string {
	b := make.Pod(args[0]).Phase(corev1.PodRunning)
	b.Obj().Spec.SchedulerName = "default-scheduler"
	for _, word := range args[1:] {
		switch key, value := pair(word); key {
		case "node":
			b.On(value)
		case "port":
			b.HostPort(int32(number(w, value)))
		default:
			kind, name, _ := strings.Cut(key, ":")
			if kind == "label" {
				b.Label(name, value)
				continue
			}
			if kind == "note" {
				b.Annotation(name, value)
				continue
			}
			b.Resource(long(key), value)
		}
	}
	w.pods[args[0]] = b.Obj()
	w.model.Apply(model.TaskFrom(b.Obj(), false))
	return []string{"pod " + args[0]}
}

// update tells the model what became of a pod.
func (w *world) update(p *corev1.Pod) { w.model.Apply(model.TaskFrom(p, w.ours(p))) }

func (w *world) dropPod(name string) {
	p, ok := w.pods[name]
	if !ok {
		w.fatal("no pod %s", name)
	}
	delete(w.pods, name)
	w.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
}

func (w *world) each(names []string, f func(string)) []string {
	for _, name := range names {
		f(name)
	}
	return []string{"done"}
}

func (w *world) eachPod(gangs []string, f func(*corev1.Pod)) []string {
	for _, gang := range gangs {
		for _, p := range w.podsOf(gang) {
			f(p)
			w.update(p)
		}
	}
	return []string{"done"}
}

func (w *world) podsOf(gang string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range w.pods {
		if p.Annotations["scheduling.k8s.io/group-name"] == gang {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (w *world) deleteGang(name string) {
	for _, p := range w.podsOf(name) {
		w.dropPod(p.Name)
	}
	g := w.gangs[name]
	delete(w.gangs, name)
	w.model.Apply(model.GangGone{Namespace: g.Namespace, Name: g.Name, UID: g.UID})
}

// cycles runs cycles and says what they decided.
func (w *world) cycles(args []string) []string {
	n := 1
	if len(args) > 0 {
		n = number(w, args[0])
	}
	var out []string
	for range n {
		d := w.cycle()
		out = append(out, w.say(&d)...)
	}
	return out
}

func (w *world) cycle() decision.Decisions {
	w.now = w.now.Add(2 * time.Second)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	for _, q := range d.Stats.Queues {
		w.figures[q.Queue] = q
	}
	for i := range d.Gangs {
		w.gangs[d.Gangs[i].Gang.Name].Status = d.Gangs[i].Status
		w.annotate(&d.Gangs[i])
	}
	for i := range d.Queues {
		if q := w.queues[d.Queues[i].Queue]; q != nil {
			q.Status.Conditions = nil
			if c := d.Queues[i].Invalid; c != nil {
				q.Status.Conditions = append(q.Status.Conditions, *c)
			}
		}
	}
	w.nominate(&d)
	w.events = append(w.events, d.Events...)
	return d
}

// settle lets things happen until nothing more is decided.
func (w *world) settle(how ...string) []string {
	var out []string
	for range 50 {
		d := w.cycle()
		out = append(out, w.say(&d)...)
		if len(d.Binds)+len(d.Evicts)+len(d.Gangs)+len(d.Nominations)+len(d.Ungates)+len(d.Lingering) == 0 {
			return out
		}
		for _, u := range d.Ungates {
			p := w.pods[u.Name]
			p.Spec.SchedulingGates = nil
			w.update(p)
		}
		for _, b := range d.Binds {
			w.attach(&b)
			p := w.pods[b.Pod.Name]
			p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
			annotated(p, &b)
			w.started(p)
			w.bound(p)
			w.update(p)
		}
		for _, e := range d.Evicts {
			if slices.Contains(how, "lingering") {
				w.linger(e.Pod.Name)
				continue
			}
			w.dropPod(e.Pod.Name)
		}
	}
	return append(out, "does not settle")
}

func (w *world) show(names []string) []string {
	var out []string
	for _, name := range names {
		s := &w.gangs[name].Status
		out = append(out, fmt.Sprintf("%s %s running=%d succeeded=%d failed=%d", name, s.Phase, s.Running, s.Succeeded, s.Failed))
		for _, c := range s.Conditions {
			out = append(out, strings.TrimRight(fmt.Sprintf("  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message), ": "))
		}
		e := s.Explanation
		if e == nil {
			continue
		}
		out = append(out, fmt.Sprintf("  %s: %s", e.Reason, e.Message), "  hint: "+e.Hint)
		for _, n := range e.Nodes {
			out = append(out, strings.TrimRight(fmt.Sprintf("  nodes: %d %s %s %s", n.Count, n.Reason, n.Detail, n.ShortBy), " "))
		}
		out = append(out, evictions(e)...)
		for _, n := range e.Short {
			out = append(out, fmt.Sprintf("  short: %s in %s: asked %s, available %s, short by %s", n.Resource, n.Scope, n.Asked, n.Available, n.ShortBy))
		}
	}
	return out
}

func (w *world) shares() []string {
	var names, out []string
	for name := range w.model.Queues {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		q := w.figures[name]
		out = append(out, fmt.Sprintf("%s allocated %s deserved %s", name, list(q.Allocated), list(q.Deserved)))
	}
	return out
}

func list(l corev1.ResourceList) string {
	var parts []string
	for name, q := range l {
		parts = append(parts, string(name)+"="+q.String())
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ",")
}
