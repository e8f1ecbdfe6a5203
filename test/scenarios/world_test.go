package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
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

// world is an in-memory API with a scheduling engine.
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
	parties map[string]*accountv1alpha1.Account // the accounts by name

	services []model.QOSSet           // the QOS
	fails    func(string)             // called if a story cannot continue; nil: the test fails
	opinion  *opinion                 // nil: there is no extender server
	events   []decision.Event         // since the last call of tellEvents
	objects  map[string]metav1.Object // volumes, devices and related objects
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, cfg: config.Default(), now: make.Epoch,
		nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{},
		gangs: map[string]*schedulingv1beta1.PodGroup{}, figures: map[string]decision.QueueFigures{}, queues: map[string]*schedulingv1beta1.Queue{},
		classes: map[string]*schedulingk8s.PriorityClass{}, budgets: map[string]*policyv1.PodDisruptionBudget{}, objects: map[string]metav1.Object{},
		numas: map[string]*nodeinfov1alpha1.Numatopology{}, quotas: map[string]*corev1.ResourceQuota{},
		parties: map[string]*accountv1alpha1.Account{},
	}
	w.queues["default"] = make.Queue("default").Obj()
	w.restart()
	return w
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	if w.fails != nil {
		w.fails(fmt.Sprintf(format, args...))
	}
	w.t.Fatalf(format, args...)
}

// do executes one command.
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
	case "account":
		return w.account(args)
	case "accounts":
		return w.accounts()
	case "consumed":
		return w.consumed()
	case "qos":
		return w.qos(args)
	case "quota":
		return w.quota(args)
	case "class":
		return w.class(args)
	case "submit":
		return w.submit(args)
	case "storageclass", "storage", "volume", "claim", "attachable", "deviceclass", "devices", "deviceclaim", "taintrule":
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
		return w.eachPod(args, func(p *corev1.Pod) { w.ended(p, corev1.PodSucceeded) })
	case "fail":
		return w.eachPod(args, func(p *corev1.Pod) { w.ended(p, corev1.PodFailed) })
	case "delete":
		if args[0] == "lingering" {
			return w.each(args[1:], func(name string) { w.deleteGang(name, w.linger) })
		}
		return w.each(args, func(name string) { w.deleteGang(name, w.dropPod) })
	case "bindfail":
		return w.each(args, func(name string) {
			w.model.Apply(model.BindFailed{UID: w.pods[name].UID, Err: "conflict"})
		})
	case "bound": // bound POD NODE: the API confirms a binding that a cycle decided
		p := w.pods[args[0]]
		p.Spec.NodeName, p.Status.Phase = args[1], corev1.PodRunning
		w.bound(p)
		w.update(p)
		return []string{"done"}
	case "pass":
		return w.pass(args)
	case "explain":
		return w.explain(args)
	case "members":
		return w.members(args)
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
	case "opinion":
		return w.answer(body)
	case "asked":
		return w.asked()
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
	var used []model.UsageEntry // the daemon stores it
	var consumed []model.BudgetUsageEntry
	if w.model != nil {
		used, consumed = model.SortUsage(w.model.Usage), model.SortBudgetUsage(w.model.BudgetUsage)
	}
	w.engine, w.model = engine, model.New()
	for _, c := range w.classes {
		w.model.Apply(model.PriorityClassFrom(c))
	}
	w.model.Apply(model.UsageSet{Entries: used}, model.BudgetUsageSet{Entries: consumed})
	for _, q := range w.quotas {
		w.model.Apply(model.QuotaFrom(q))
	}
	for _, q := range w.services {
		w.model.Apply(q)
	}
	for _, a := range w.parties {
		w.model.Apply(model.AccountFrom(a))
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
	cfg, warnings, err := config.Parse([]byte(w.opinion.address(strings.Join(body, "\n"))))
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

// pair splits key=value. A word without "=" has an empty value.
func pair(word string) (key, value string) {
	key, value, _ = strings.Cut(word, "=")
	return key, value
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
	case "taintrule":
		w.loseObject(find[*resourcev1.DeviceTaintRule](w, args[1]))
	case "hypernode":
		delete(w.hypers, args[1])
		w.model.Apply(model.HyperNodeGone{Name: args[1]})
	case "account":
		delete(w.parties, args[1])
		w.model.Apply(model.AccountGone{Name: args[1]})
	case "queue":
		delete(w.queues, args[1])
		w.model.Apply(model.QueueGone{Name: args[1]})
	default:
		w.fatal("remove %s: no such kind", args[0])
	}
	return []string{"removed " + args[1]}
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
