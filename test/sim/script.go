package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/apiserver"
)

// action is one entry of a script: something that a user, an administrator or a fault does at a certain time.
type action struct {
	at   time.Duration // since the start of the world
	text string        // the action in words, for stories
	do   func(*World)
}

// script is everything that happens to a world from outside. It follows from the seed.
type script struct {
	seed    uint64
	setting setting
	draws   []draw
	actions []action // of the draws that are not omitted
}

// draw determines an action. The action stays the same if kinds of actions are added or their weights change, so a draw can be
// stored in a file. The action changes if the code that draws actions of its kind changes. An omitted draw has no action, but it
// uses up the same names, so that later draws get theirs.
type draw struct {
	at      time.Duration
	kind    string
	seed    uint64
	omitted bool
}

// setting is the cluster at the start.
type setting struct {
	configuration string // name of the scheduler's configuration
	nodes         []int64
	queues        []*schedulingv1beta1.Queue
	quota         corev1.ResourceList // of the small namespace
}

// storyLength is the time during which actions and faults happen.
const storyLength = 6 * time.Minute

// actionKind is a kind of actions that scripts contain. Each kind is registered by the file that implements it.
type actionKind struct {
	name   string
	weight int
	// draw draws an action. It returns nil if the action is not possible in this script.
	draw func(s *drawing) *action
}

var actionKinds []actionKind

// registerAction adds a kind of actions. Kinds with a larger weight are drawn more often. The name identifies the kind in
// files with scripts.
func registerAction(name string, weight int, draw func(s *drawing) *action) {
	actionKinds = append(actionKinds, actionKind{name: name, weight: weight, draw: draw})
}

// findActionKind returns the kind with a name, or nil.
func findActionKind(name string) *actionKind {
	for i := range actionKinds {
		if actionKinds[i].name == name {
			return &actionKinds[i]
		}
	}
	return nil
}

// drawing is the state while a script is drawn.
type drawing struct {
	*rand.Rand
	setting *setting
	at      time.Duration
	jobs    []string // jobs submitted so far
	flows   int      // flows submitted so far
	plain   int      // groups of pods without a job, and CronJobs, that were created so far
	small   int      // jobs submitted to the small namespace so far
}

// queueNames returns the queues that can contain jobs.
func (s *drawing) queueNames() []string {
	names := []string{keys.DefaultQueue}
	for _, q := range s.setting.queues {
		if q.Name != keys.RootQueue && q.Name != keys.DefaultQueue && !hasChildren(s.setting.queues, q.Name) {
			names = append(names, q.Name)
		}
	}
	return names
}

func hasChildren(queues []*schedulingv1beta1.Queue, name string) bool {
	return slices.ContainsFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Spec.Parent == name })
}

// action returns an action at the current time of the drawing.
func (s *drawing) action(do func(*World), format string, args ...any) *action {
	return &action{at: s.at, text: fmt.Sprintf(format, args...), do: do}
}

// drawScript draws the script of a seed.
func drawScript(seed uint64) *script {
	random := newRandom(seed, "script")
	total := 0
	for i := range actionKinds {
		total += actionKinds[i].weight
	}
	draws := make([]draw, 6+random.IntN(24))
	for i := range draws {
		draws[i] = draw{at: between(random, 0, storyLength), kind: pickActionKind(random.IntN(total)).name, seed: random.Uint64()}
	}
	slices.SortStableFunc(draws, func(a, b draw) int { return cmp.Compare(a.at, b.at) })
	return newScript(seed, draws)
}

// pickActionKind returns the kind for a number that is less than the sum of all weights.
func pickActionKind(number int) *actionKind {
	for i := range actionKinds {
		if number -= actionKinds[i].weight; number < 0 {
			return &actionKinds[i]
		}
	}
	panic("the number is not less than the sum of all weights")
}

// newScript returns the script with the given draws. All their kinds must exist.
func newScript(seed uint64, draws []draw) *script {
	out := &script{seed: seed, setting: drawSetting(newRandom(seed, "setting")), draws: draws}
	s := &drawing{setting: &out.setting}
	for i := range draws {
		d := &draws[i]
		s.Rand, s.at = newRandom(d.seed, d.kind), d.at
		if a := findActionKind(d.kind).draw(s); a != nil && !d.omitted {
			out.actions = append(out.actions, *a)
		}
	}
	return out
}

// describe returns the script as a story.
func (s *script) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, scheduler configuration %q, nodes with cpu", s.seed, s.setting.configuration)
	for _, n := range s.setting.nodes {
		fmt.Fprintf(&b, " %d", n/1000)
	}
	b.WriteString("\n")
	for _, q := range s.setting.queues {
		fmt.Fprintf(&b, "queue %s%s\n", q.Name, describeQueue(&q.Spec))
	}
	fmt.Fprintf(&b, "quota of namespace %s: %s\n", smallNamespace, describeQuota(s.setting.quota))
	for i := range s.actions {
		fmt.Fprintf(&b, "%3d  %s  %s\n", i, formatTime(s.actions[i].at), s.actions[i].text)
	}
	return b.String()
}

func describeQueue(spec *schedulingv1beta1.QueueSpec) string {
	var b strings.Builder
	if spec.Parent != "" {
		fmt.Fprintf(&b, ", parent %s", spec.Parent)
	}
	fmt.Fprintf(&b, ", weight %d", spec.Weight)
	for _, limit := range []struct {
		name string
		list corev1.ResourceList
	}{{"capability", spec.Capability}, {"deserved", spec.Deserved}, {"guarantee", spec.Guarantee.Resource}} {
		if cpu, ok := limit.list[corev1.ResourceCPU]; ok {
			fmt.Fprintf(&b, ", %s cpu %s", limit.name, cpu.String())
		}
	}
	return b.String()
}

// schedulerConfigurations are the configurations of the scheduler in worlds, by name.
var schedulerConfigurations = map[string]string{
	"default": config.DefaultText,
	"capacity": `
actions: "enqueue, allocate, backfill, reclaim, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: nodeorder}, {name: binpack}]
`,
	"gangpreempt": `
actions: "enqueue, allocate, backfill, gangreclaim, gangpreempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: binpack}]
`,
}

var configurationNames = []string{"default", "capacity", "gangpreempt"}

// priorityClasses are the PriorityClasses of every world.
var priorityClasses = []*schedulingv1.PriorityClass{
	{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: 10},
	{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000},
}

func drawSetting(random *rand.Rand) setting {
	s := setting{configuration: configurationNames[random.IntN(len(configurationNames))]}
	for range 2 + random.IntN(4) {
		s.nodes = append(s.nodes, int64(2+random.IntN(7))*1000)
	}
	s.queues = append(s.queues, newQueue(keys.RootQueue, "", 0, 0), newQueue(keys.DefaultQueue, keys.RootQueue, 0, 0))
	isTree := s.configuration != "default" && random.IntN(2) == 0
	for i := range random.IntN(4) {
		var capability, deserved int64
		if random.IntN(2) == 0 {
			capability = int64(2 + random.IntN(8))
		}
		parent := keys.RootQueue
		switch {
		case isTree && i > 0: // q0 is the parent of the others
			parent = "q0"
			if limit := s.queues[2].Spec.Capability.Cpu().Value(); limit > 0 && capability > limit {
				capability = limit
			}
		case s.configuration != "default" && !isTree:
			deserved = int64(1 + random.IntN(6))
			if capability > 0 {
				deserved = min(deserved, capability)
			}
		}
		s.queues = append(s.queues, newQueue(fmt.Sprintf("q%d", i), parent, capability, deserved))
	}
	drawGuarantees(random, &s)
	s.quota = drawQuota(random)
	return s
}

// newQueue returns a queue. A limit of 0 is not set.
func newQueue(name, parent string, capability, deserved int64) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	q.Spec.Weight, q.Spec.Parent, q.Spec.Reclaimable = 1, parent, ptr.To(name != keys.RootQueue)
	if capability > 0 {
		q.Spec.Capability = cpuList(capability)
	}
	if deserved > 0 {
		q.Spec.Deserved = cpuList(deserved)
	}
	return q
}

// newScriptedWorld returns a world in which all programs start and the script is going to happen.
func newScriptedWorld(s *script, options worldOptions) *World {
	w := newWorld(s.seed, options.log)
	parsed, _, err := config.Parse([]byte(schedulerConfigurations[s.setting.configuration]))
	if err != nil {
		panic(err) // the configurations are constants
	}
	w.schedulerConfig = parsed
	w.createSetting(&s.setting)
	for i := range s.actions {
		a := &s.actions[i]
		w.add(epoch.Add(a.at), nil, func() {
			w.trace("ACTION %s", a.text)
			a.do(w)
		})
	}
	for i := range 2 {
		w.addReplica("scheduler", i, "vc-scheduler", startSchedulerTerm)
		w.addReplica("controllers", i, controllersLease, startControllersTerm)
		w.addReplica("admission", i, "", startAdmission)
	}
	return w
}

func (w *World) addReplica(program string, index int, lease string, lead func(p *process, user string, fence func() error)) {
	r := w.newReplica(program, index, lease, lead)
	w.add(epoch.Add(between(w.randomFor("start of "+r.name), 0, 2*time.Second)), nil, r.start)
}

// newReplica adds a replica that has not been started.
func (w *World) newReplica(program string, index int, lease string, lead func(p *process, user string, fence func() error)) *replica {
	name := fmt.Sprintf("%s-%d", program, index)
	r := &replica{world: w, name: name, program: program, lease: lease, lead: lead, lags: map[string]time.Duration{}}
	w.replicas = append(w.replicas, r)
	return r
}

// createSetting creates the objects of a setting.
func (w *World) createSetting(s *setting) {
	create := func(kind schema.GroupVersionKind, o client.Object) {
		if _, err := w.server.Do(&apiserver.Request{User: "administrator", Verb: apiserver.Create, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), Object: o}); err != nil {
			panic(fmt.Sprintf("create %s %s: %v", kind.Kind, o.GetName(), err))
		}
	}
	for _, name := range []string{userNamespace, smallNamespace, leaseNamespace, "default"} {
		create(corev1.SchemeGroupVersion.WithKind("Namespace"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, class := range priorityClasses {
		create(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), class.DeepCopy())
	}
	for _, q := range s.queues {
		create(queueKind, q.DeepCopy())
	}
	create(quotaKind, newQuota(s.quota))
	for _, r := range w.server.QuotaRequests() { // before that, a quota has no effect
		w.manager.do(r)
	}
	for i, milliCPU := range s.nodes {
		w.addNode(nodeName(i), milliCPU)
	}
}
