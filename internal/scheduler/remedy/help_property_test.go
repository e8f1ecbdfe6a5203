package remedy_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
	"github.com/vc-batch/vc/test/randomcluster"
)

// random is a random cluster with the methods of these tests.
type random struct{ *randomcluster.Cluster }

func newRandom(t *rapid.T) *random { return &random{randomcluster.New(t)} }

// apply applies a help and returns how to revert it. In the PodGroups of jobs minResources follows the minimum.
func (r *random) apply(gang string, h schedulingv1beta1.Help) (undo func()) {
	g := r.Gangs[gang]
	var pods []*corev1.Pod
	for _, name := range r.PodNames() {
		if p := r.Pods[name]; strings.HasPrefix(name, gang+"-") && p.Spec.NodeName == "" {
			pods = append(pods, p)
		}
	}
	old := map[string]*corev1.Pod{}
	for _, p := range pods {
		old[p.Name] = p.DeepCopy()
	}
	oldGang := g.DeepCopy()
	var oldQueues []*schedulingv1beta1.Queue
	for _, q := range r.Queues {
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
		for _, q := range r.Queues {
			if q.Name == h.Subject {
				q.Spec.Capability[corev1.ResourceName(name)] = resource.MustParse(amount)
			}
		}
	case schedulingv1beta1.HelpOtherQueue:
		g.Spec.Queue = h.To
	case schedulingv1beta1.HelpCreateQueue:
		r.Queues = append(slices.Clone(r.Queues), make.Queue(h.Subject).Obj())
	case schedulingv1beta1.HelpOpenQueue:
		for _, q := range r.Queues {
			if q.Name == h.Subject {
				q.Status.State = schedulingv1beta1.QueueStateOpen
			}
		}
	case schedulingv1beta1.HelpHigherPriority:
		value, err := strconv.ParseInt(h.To, 10, 32)
		if err != nil {
			r.T.Fatal(err)
		}
		r.Classes["helpful"], g.Spec.PriorityClassName = int32(value), "helpful"
	case schedulingv1beta1.HelpShorterRun:
		for _, p := range pods {
			if p.Spec.ActiveDeadlineSeconds != nil {
				p.Spec.ActiveDeadlineSeconds = clustertest.RunTimeSeconds(r.T, h)
				continue
			}
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, keys.RunningEstimate, h.To)
		}
	default:
		r.T.Fatalf("no such help: %+v", h)
	}
	return func() {
		r.Gangs[gang] = oldGang
		for name, p := range old {
			r.Pods[name] = p
		}
		r.Queues = oldQueues
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

// TestExplanationsAreTrue (I12) checks that applying a help of an explanation makes the gang start.
func TestExplanationsAreTrue(t *testing.T) {
	kinds := map[string]int{}
	waits, letIn, unsettled := 0, 0, 0
	whole := propertytest.Check(t, 10000, func(t *rapid.T) {
		r := newRandom(t)
		r.Enrich()
		for range rapid.IntRange(2, 12).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
		}
		r.Now = r.Now.Add(time.Hour)
		m, settled := r.startAll()
		if !settled {
			unsettled++
			return
		}
		now := r.Now
		for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
			explanation := m.Gangs["default/"+name].Status.Explanation
			if explanation == nil {
				continue
			}
			for _, h := range explanation.Helps {
				if h.Kind == schedulingv1beta1.HelpWait {
					waits++
					if !r.StartsInTime(name, now, h) {
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
		e, m := r.Rebuild()
		again := true
		for tries := 0; again && tries < 4; tries++ {
			d := e.Cycle(r.Now, m)
			decision.Assume(m, &d)
			if len(d.Binds)+len(d.Ungates) > 0 {
				r.CarryOut(&d)
				for key, g := range m.Gangs {
					r.Model.Gangs[key].Status = *g.Status.DeepCopy()
				}
				break
			}
			again = d.Again
		}
		if !again {
			return m, true
		}
		r.Now = r.Now.Add(time.Second)
	}
	return nil, false
}

// starts reports whether a gang gets nodes now in the rebuilt world.
func (r *random) starts(name string, now time.Time) bool {
	e, m := r.Rebuild()
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
	e, m := r.Rebuild()
	for range 3 {
		now = now.Add(time.Second)
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
	}
	return m.Gangs["default/"+name].Status.Phase == schedulingv1beta1.PodGroupInqueue
}

// after returns the final state of the rebuilt world for a failure message.
func (r *random) after(now time.Time) string {
	e, m := r.Rebuild()
	d := e.Cycle(now, m)
	decision.Assume(m, &d)
	return clustertest.Describe(m)
}
