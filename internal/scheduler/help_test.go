package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// anew rebuilds the world from its objects, with a new engine whose configuration evicts nothing.
func (r *random) anew() (*Engine, *model.Cluster) {
	cfg := *r.cfg
	cfg.Actions = []string{"enqueue", "allocate", "backfill"}
	e, err := New(&cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	m := model.New()
	for _, name := range slices.Sorted(maps.Keys(r.classes)) {
		class := &schedulingk8s.PriorityClass{Value: r.classes[name]}
		class.Name = name
		m.Apply(model.PriorityClassFrom(class))
	}
	for _, q := range r.queues {
		m.Apply(model.QueueFrom(q))
	}
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		m.Apply(model.NodeFrom(r.nodes[name]))
	}
	m.Apply(r.hyper...)
	for _, name := range r.names() {
		m.Apply(model.TaskFrom(r.pods[name], true))
	}
	for _, name := range slices.Sorted(maps.Keys(r.foreign)) {
		m.Apply(model.TaskFrom(r.foreign[name], false))
	}
	for _, name := range slices.Sorted(maps.Keys(r.gangs)) {
		g := r.gangs[name].DeepCopy()
		g.Status = *r.model.Gangs["default/"+name].Status.DeepCopy()
		g.Status.Explanation = nil
		m.Apply(model.GangFrom(g))
	}
	return e, m
}

// apply applies a help and returns how to revert it. In the PodGroups of jobs minResources follows the minimum.
func (r *random) apply(gang string, h schedulingv1beta1.Help) (undo func()) {
	g := r.gangs[gang]
	var pods []*corev1.Pod
	for _, name := range r.names() {
		if p := r.pods[name]; strings.HasPrefix(name, gang+"-") && p.Spec.NodeName == "" {
			pods = append(pods, p)
		}
	}
	old := map[string]*corev1.Pod{}
	for _, p := range pods {
		old[p.Name] = p.DeepCopy()
	}
	oldGang := g.DeepCopy()
	var oldQueues []*schedulingv1beta1.Queue
	for _, q := range r.queues {
		oldQueues = append(oldQueues, q.DeepCopy())
	}
	switch h.Kind {
	case schedulingv1beta1.HelpFewerMembers:
		q := resource.MustParse(h.To)
		if h.Subject == "" {
			if len(g.OwnerReferences) > 0 || strings.Contains(h.Text, "minResources") {
				scaleMinResources(g, q.Value())
			}
			g.Spec.MinMember = int32(q.Value())
			break
		}
		g.Spec.MinMember -= g.Spec.MinTaskMember[h.Subject] - int32(q.Value())
		g.Spec.MinTaskMember[h.Subject] = int32(q.Value())
	case schedulingv1beta1.HelpSmallerPods:
		if len(pods) == 0 && g.Spec.MinResources != nil {
			to := resource.MustParse(h.To)
			(*g.Spec.MinResources)[corev1.ResourceName(h.Subject)] = *resource.NewMilliQuantity(to.MilliValue()*int64(g.Spec.MinMember), to.Format)
		}
		for _, p := range pods {
			asked := p.Spec.Containers[0].Resources.Requests
			if amount := asked[corev1.ResourceName(h.Subject)]; amount.Cmp(resource.MustParse(h.From)) == 0 {
				asked[corev1.ResourceName(h.Subject)] = resource.MustParse(h.To)
			}
		}
	case schedulingv1beta1.HelpDropSelector:
		for _, p := range pods {
			delete(p.Spec.NodeSelector, h.Subject)
		}
	case schedulingv1beta1.HelpAddToleration:
		rest, effect, _ := strings.Cut(h.Subject, ":")
		key, _, _ := strings.Cut(rest, "=")
		for _, p := range pods {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)})
		}
	case schedulingv1beta1.HelpRaiseCapability:
		name, amount, _ := strings.Cut(h.To, "=")
		for _, q := range r.queues {
			if q.Name == h.Subject {
				q.Spec.Capability[corev1.ResourceName(name)] = resource.MustParse(amount)
			}
		}
	case schedulingv1beta1.HelpOtherQueue:
		g.Spec.Queue = h.To
	case schedulingv1beta1.HelpCreateQueue:
		r.queues = append(slices.Clone(r.queues), make.Queue(h.Subject).Obj())
	case schedulingv1beta1.HelpOpenQueue:
		for _, q := range r.queues {
			if q.Name == h.Subject {
				q.Status.State = schedulingv1beta1.QueueStateOpen
			}
		}
	case schedulingv1beta1.HelpHigherPriority:
		value, err := strconv.ParseInt(h.To, 10, 32)
		if err != nil {
			r.t.Fatal(err)
		}
		r.classes["helpful"], g.Spec.PriorityClassName = int32(value), "helpful"
	case schedulingv1beta1.HelpShorterRun:
		for _, p := range pods {
			if p.Spec.ActiveDeadlineSeconds != nil {
				p.Spec.ActiveDeadlineSeconds = clustertest.RunTimeSeconds(r.t, h)
				continue
			}
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, keys.RunningEstimate, h.To)
		}
	default:
		r.t.Fatalf("no such help: %+v", h)
	}
	return func() {
		r.gangs[gang] = oldGang
		for name, p := range old {
			r.pods[name] = p
		}
		r.queues = oldQueues
	}
}

// scaleMinResources makes a gang request its part of minResources for another minimum.
func scaleMinResources(g *schedulingv1beta1.PodGroup, members int64) {
	if g.Spec.MinResources == nil || g.Spec.MinMember == 0 {
		return
	}
	for name, amount := range *g.Spec.MinResources {
		(*g.Spec.MinResources)[name] = *resource.NewMilliQuantity(amount.MilliValue()*members/int64(g.Spec.MinMember), amount.Format)
	}
}

// enrich adds objects that matter only to explanations: strict queues, queues that are closed or missing, and run
// times.
func (r *random) enrich() {
	r.rich = true
	r.hyper = []model.Delta{
		clustertest.HyperNode("left", 1, topologyv1alpha1.MemberTypeNode, "n0", "n1", "n2"), clustertest.HyperNode("right", 1, topologyv1alpha1.MemberTypeNode, "n3", "n4", "n5"),
		clustertest.HyperNode("both", 2, topologyv1alpha1.MemberTypeHyperNode, "left", "right"),
	}
	r.model.Apply(r.hyper...)
	for _, q := range r.queues {
		if rapid.IntRange(0, 2).Draw(r.t, "strict") == 0 {
			q.Spec.DequeueStrategy = schedulingv1beta1.DequeueStrategyFIFO
		}
		if rapid.IntRange(0, 5).Draw(r.t, "closed") == 0 {
			q.Status.State = schedulingv1beta1.QueueStateClosed
		}
		r.model.Apply(model.QueueFrom(q))
	}
}

// TestExplanationsAreTrue (I12) checks that applying a help of an explanation makes the gang start.
func TestExplanationsAreTrue(t *testing.T) {
	kinds := map[string]int{}
	waits, letIn, unsettled := 0, 0, 0
	whole := propertytest.Check(t, 10000, func(t *rapid.T) {
		r := newRandom(t)
		r.enrich()
		for range rapid.IntRange(2, 12).Draw(t, "steps") {
			r.happen()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.decide()
			}
		}
		r.now = r.now.Add(time.Hour)
		m, settled := r.startAll()
		if !settled {
			unsettled++
			return
		}
		now := r.now
		for _, name := range slices.Sorted(maps.Keys(r.gangs)) {
			explanation := m.Gangs["default/"+name].Status.Explanation
			if explanation == nil {
				continue
			}
			for _, h := range explanation.Helps {
				if h.Kind == schedulingv1beta1.HelpWait {
					waits++
					if !r.waits(name, now, h) {
						t.Fatalf("%s waits: %s\nhelp %+v; it has not started then\n%s", name, explanation.Message, h, clustertest.Describe(m))
					}
					continue
				}
				kinds[h.Kind]++
				undo := r.apply(name, h)
				helps := r.starts
				if strings.HasSuffix(h.Text, "the job would be admitted to its queue now") || strings.HasSuffix(h.Text, "the job would be admitted now") {
					helps = r.letIn
					letIn++
				}
				if !helps(name, now) {
					t.Fatalf("%s waits: %s\nhelp %+v does not help\n%s", name, explanation.Message, h, clustertest.Describe(m)+"after:\n"+r.after(now))
				}
				undo()
			}
		}
	})
	t.Logf("tried: %v, %d of them to be let in only; %d waited; %d worlds did not settle", kinds, letIn, waits, unsettled)
	if !whole {
		return
	}
	if waits == 0 {
		t.Error("nobody waited for what would help by itself")
	}
	for _, kind := range []string{schedulingv1beta1.HelpFewerMembers, schedulingv1beta1.HelpSmallerPods, schedulingv1beta1.HelpDropSelector,
		schedulingv1beta1.HelpAddToleration, schedulingv1beta1.HelpRaiseCapability, schedulingv1beta1.HelpOtherQueue, schedulingv1beta1.HelpCreateQueue,
		schedulingv1beta1.HelpOpenQueue} { // HigherPriority and ShorterRun are rare here; story backfill_does_not_delay_the_head has them
		if kinds[kind] == 0 {
			t.Errorf("%s was never advised", kind)
		}
	}
}

// startAll starts what can start without help, and returns the rebuilt world in which nothing more starts; false if it
// takes too long. A cycle may find pods that should have ended, and the engine then asks for another one at once.
func (r *random) startAll() (*model.Cluster, bool) {
	for range 8 {
		e, m := r.anew()
		again := true
		for tries := 0; again && tries < 4; tries++ {
			d := e.Cycle(r.now, m)
			decision.Assume(m, &d)
			if len(d.Binds)+len(d.Ungates) > 0 {
				r.carry(&d)
				for key, g := range m.Gangs {
					r.model.Gangs[key].Status = *g.Status.DeepCopy()
				}
				break
			}
			again = d.Again
		}
		if !again {
			return m, true
		}
		r.now = r.now.Add(time.Second)
	}
	return nil, false
}

func (r *random) uid(pod string) types.UID {
	if p := r.pods[pod]; p != nil {
		return p.UID
	}
	return r.foreign[pod].UID
}

// waits advances time with all pods ending as expected, and reports whether a gang has started by its latest start
// time.
func (r *random) waits(name string, now time.Time, h schedulingv1beta1.Help) bool {
	until, err := time.Parse(time.RFC3339, h.To)
	if err != nil {
		r.t.Fatal(err)
	}
	until = until.Add(5 * time.Second)
	e, m := r.anew()
	ends := map[types.UID]time.Time{}
	pods := slices.Concat(r.names(), slices.Sorted(maps.Keys(r.foreign)))
	expect := func() {
		for _, pod := range pods {
			if t := m.Task(r.uid(pod)); t != nil && t.Node != model.NoNode {
				if at, timed := t.LatestEndTime(now); timed && ends[t.UID].IsZero() && !t.Status.HasEnded() {
					ends[t.UID] = at
				}
			}
		}
	}
	for expect(); !now.After(until); expect() {
		for _, pod := range pods {
			uid := r.uid(pod)
			if at, known := ends[uid]; known && !at.After(now) {
				t := m.Task(uid)
				if t == nil || t.Node == model.NoNode { // it was never bound, or no longer exists
					delete(ends, uid)
					continue
				}
				ended, ours := r.pods[pod].DeepCopy(), r.pods[pod] != nil
				if !ours {
					ended = r.foreign[pod].DeepCopy()
				}
				ended.Spec.NodeName, ended.Status.Phase = m.Nodes.Name[t.Node], corev1.PodSucceeded
				delete(ends, uid)
				m.Apply(model.TaskFrom(ended, ours))
			}
		}
		for range 4 {
			d := e.Cycle(now, m)
			decision.Assume(m, &d)
			for _, b := range d.Binds {
				if b.Gang.Name == name {
					return true
				}
			}
			expect()
			now = now.Add(10 * time.Millisecond)
		}
		next := until.Add(time.Second)
		for _, at := range ends {
			if at.After(now) && at.Before(next) {
				next = at
			}
		}
		now = next
	}
	return false
}

// starts reports whether a gang gets nodes now in the rebuilt world.
func (r *random) starts(name string, now time.Time) bool {
	e, m := r.anew()
	for range 3 {
		now = now.Add(time.Second)
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
		for _, b := range d.Binds {
			if b.Gang.Name == name {
				return true
			}
		}
	}
	return false
}

// letIn reports whether a gang without pods is admitted in the rebuilt world. Explanations for it say no more than
// that.
func (r *random) letIn(name string, now time.Time) bool {
	e, m := r.anew()
	for range 3 {
		now = now.Add(time.Second)
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
	}
	return m.Gangs["default/"+name].Status.Phase == schedulingv1beta1.PodGroupInqueue
}

// after returns the final state of the rebuilt world for a failure message.
func (r *random) after(now time.Time) string {
	e, m := r.anew()
	d := e.Cycle(now, m)
	decision.Assume(m, &d)
	out := clustertest.Describe(m)
	for _, q := range e.ledger.Queues {
		out += fmt.Sprintf("%s open=%v alloc=%v deserved=%v realcap=%v req=%v\n", q.Name, q.Open, q.Allocated, q.Deserved, q.RealCapability, q.Request)
	}
	return out
}
