package remedy_test

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/propertytest"
)

// The concrete changes in hints.
var (
	askedAtMost   = regexp.MustCompile(`request ((?:at most|no) .+?) (per pod|in total)`)
	askedNo       = regexp.MustCompile(`^request (no \S+), `)
	clusterHas    = regexp.MustCompile(`request less \((?:the cluster has (.+?) in total|the overcommit limit of the cluster is (.+?)|queue \S+ can get (.+?) in total)\)`)
	raised        = regexp.MustCompile(`raise the capability of queue (\S+?)(?:,|$)`)
	opened        = regexp.MustCompile(`vcctl queue open ([^\s)]+)`)
	fewerToStart  = regexp.MustCompile(`^minAvailable (\d+)(?: of task (\S+))? would (?:start|be admitted) now`)
	createdQueues = "create the queue"
)

// mostAsked is the largest request that a hint permits, by resource: of a pod, or of all pods of a gang together.
type mostAsked struct {
	amounts map[string]resource.Quantity
	inAll   bool
}

// read adds a list of amounts such as "at most cpu 2, memory 1Gi and no nvidia.com/gpu".
func (m *mostAsked) read(t *rapid.T, list string) {
	m.amounts = map[string]resource.Quantity{}
	most, none, both := strings.Cut(list, " and no ")
	if rest, only := strings.CutPrefix(list, "no "); only && !both {
		most, none = "", rest
	}
	for _, part := range strings.Split(strings.TrimPrefix(most, "at most "), ", ") {
		if name, amount, ok := strings.Cut(part, " "); ok {
			quantity, err := resource.ParseQuantity(amount)
			if err != nil {
				t.Fatalf("%q has no amount: %v", list, err)
			}
			m.amounts[name] = quantity
		}
	}
	for _, name := range strings.Split(none, ", ") {
		if name != "" {
			m.amounts[name] = resource.Quantity{}
		}
	}
}

// requestsOf returns what a hint says about requests.
func requestsOf(t *rapid.T, hint string) (all []mostAsked) {
	for _, m := range askedAtMost.FindAllStringSubmatch(hint, -1) {
		all = append(all, mostAsked{inAll: m[2] == "in total"})
		all[len(all)-1].read(t, m[1])
	}
	if m := askedNo.FindStringSubmatch(hint); m != nil && len(all) == 0 {
		all = append(all, mostAsked{inAll: true})
		all[0].read(t, m[1])
	}
	if m := clusterHas.FindStringSubmatch(hint); m != nil {
		all = append(all, mostAsked{inAll: true})
		all[len(all)-1].read(t, cmp.Or(m[1:]...))
	}
	return all
}

// lower lowers the requests of a gang's waiting pods, and its minResources, to what a hint permits; or its minimum, if
// that is more pods than the hint permits. It returns how to revert it.
func (r *random) lower(gang string, most []mostAsked) (undo func()) {
	g := r.Gangs[gang]
	old := map[string]*corev1.Pod{}
	for _, name := range r.PodNames() {
		if p := r.Pods[name]; strings.HasPrefix(name, gang+"-") && p.Spec.NodeName == "" {
			old[name] = p
			r.Pods[name] = p.DeepCopy()
		}
	}
	r.Gangs[gang] = g.DeepCopy()
	for _, m := range most {
		for kind, quantity := range m.amounts {
			if kind == "pods" {
				r.Gangs[gang].Spec.MinMember = min(g.Spec.MinMember, int32(quantity.Value()))
				continue
			}
			name, each, together := corev1.ResourceName(kind), quantity.MilliValue(), quantity.MilliValue()
			if m.inAll {
				each /= int64(max(len(old), int(g.Spec.MinMember)))
			} else {
				together *= int64(g.Spec.MinMember)
			}
			if kind != "cpu" {
				each = each / 1000 * 1000 // whole
			}
			for pod := range old {
				lowerTo(r.Pods[pod].Spec.Containers[0].Resources.Requests, name, each)
			}
			if r.Gangs[gang].Spec.MinResources != nil {
				lowerTo(*r.Gangs[gang].Spec.MinResources, name, together)
			}
		}
	}
	return func() {
		r.Gangs[gang] = g
		for name, p := range old {
			r.Pods[name] = p
		}
	}
}

// lowerTo lowers a request to an amount, in thousandths. A request of nothing is removed.
func lowerTo(requests corev1.ResourceList, name corev1.ResourceName, milli int64) {
	if amount, asks := requests[name]; asks && amount.MilliValue() > milli {
		requests[name] = *resource.NewMilliQuantity(milli, amount.Format)
		if milli == 0 {
			delete(requests, name)
		}
	}
}

// promise makes a gang's minResources, if it has any, what as many of its pods request as it needs at least.
func (r *random) promise(gang string) {
	g := r.Gangs[gang].DeepCopy()
	if g.Spec.MinResources == nil {
		return
	}
	sum, left := corev1.ResourceList{}, g.Spec.MinMember
	for _, name := range r.PodNames() {
		if !strings.HasPrefix(name, gang+"-") || left == 0 {
			continue
		}
		left--
		for kind, amount := range r.Pods[name].Spec.Containers[0].Resources.Requests {
			total := sum[kind]
			total.Add(amount)
			sum[kind] = total
		}
	}
	g.Spec.MinResources = &sum
	r.Gangs[gang] = g
}

// explained returns the explanation of a gang in the rebuilt world; nil if it proceeds.
func (r *random) explained(gang string) *schedulingv1beta1.Explanation {
	e, m := r.Rebuild()
	now := r.Now
	for range 3 {
		now = now.Add(time.Second)
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
	}
	return m.Gangs["default/"+gang].Status.Explanation
}

// hintedChanges returns the concrete changes in a hint, by name. Each is applied when called, and reverted by the function
// that it returns.
func (r *random) hintedChanges(gang string, told *schedulingv1beta1.Explanation) map[string]func() (undo func()) {
	changes := map[string]func() func(){}
	byHelp := func(name string, h schedulingv1beta1.Help) {
		changes[name] = func() func() { return r.apply(gang, h) }
	}
	if most := requestsOf(r.T, told.Hint); len(most) > 0 {
		changes["lower requests"] = func() func() { return r.lower(gang, most) }
	}
	if m := raised.FindStringSubmatch(told.Hint); m != nil && told.Reason == string(reason.OverCapability) {
		changes["raise capability"] = func() func() {
			var undo []func()
			for _, name := range []string{"cpu", "memory", "nvidia.com/gpu"} {
				if r.queueCaps(m[1], name) {
					undo = append(undo, r.apply(gang, schedulingv1beta1.Help{Kind: schedulingv1beta1.HelpRaiseCapability, Subject: m[1], To: name + "=1000000Gi"}))
				}
			}
			return func() {
				for i := len(undo) - 1; i >= 0; i-- {
					undo[i]()
				}
			}
		}
	}
	if m := opened.FindStringSubmatch(told.Hint); m != nil {
		byHelp("open queue", schedulingv1beta1.Help{Kind: schedulingv1beta1.HelpOpenQueue, Subject: m[1]})
	}
	if strings.HasPrefix(told.Hint, createdQueues) {
		byHelp("create queue", schedulingv1beta1.Help{Kind: schedulingv1beta1.HelpCreateQueue, Subject: r.Gangs[gang].Spec.Queue})
	}
	return changes
}

// queueCaps reports whether a queue has a capability of a resource.
func (r *random) queueCaps(queue, name string) bool {
	for _, q := range r.Queues {
		if _, capped := q.Spec.Capability[corev1.ResourceName(name)]; q.Name == queue && capped {
			return true
		}
	}
	return false
}

// TestHintsAreTrue (I12) applies each concrete change that a hint names: lower requests, a higher capability, an open or
// a new queue. The reason must be gone then. A hint that names a number of members must repeat a help, which
// TestExplanationsAreTrue applies.
func TestHintsAreTrue(t *testing.T) {
	tried := map[string]int{}
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		r := newRandom(t)
		r.Enrich()
		for range rapid.IntRange(2, 12).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
			r.promise(name)
		}
		r.Now = r.Now.Add(time.Hour)
		m, settled := r.startAll()
		if !settled {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
			told := m.Gangs["default/"+name].Status.Explanation
			if told == nil {
				continue
			}
			if fewer := fewerToStart.FindStringSubmatch(told.Hint); fewer != nil {
				tried["fewer members"]++
				checkFewer(t, told, fewer[1], fewer[2])
			}
			changes := r.hintedChanges(name, told)
			for _, change := range slices.Sorted(maps.Keys(changes)) {
				tried[change+": "+told.Reason]++
				undo := changes[change]()
				if after := r.explained(name); after != nil && waitsForTheSame(told, after) {
					t.Fatalf("%s waits: %s\nhint: %s\nwith the change %q it waits: %s\n%s", name, told.Message, told.Hint, change, after.Message, clustertest.Describe(m))
				}
				undo()
			}
		}
	})
	t.Logf("tried: %v", tried)
	if lowered := "lower requests: " + string(reason.TooLarge); !testing.Short() && !t.Failed() && tried[lowered] == 0 {
		t.Errorf("no hint was read as %q; has its wording changed?", lowered) // hundreds of cases have one
	}
	for _, change := range []string{"fewer members", "lower requests: TooLarge", "lower requests: OverCapability", "lower requests: GangDoesNotFit",
		"raise capability: OverCapability", "open queue: QueueClosed", "create queue: QueueMissing"} {
		if whole && tried[change] == 0 {
			t.Errorf("no hint had the change %q", change)
		}
	}
}

// waitsForTheSame reports whether a gang still waits for what its hint was about. A gang that waits for what can never be
// may wait for the same resource later. The number of pods that nodes take is no request. A pod may
// also be too large because no node has all of its requests at once.
func waitsForTheSame(told, after *schedulingv1beta1.Explanation) bool {
	isOther := len(after.Short) > 0 && len(told.Short) > 0 && after.Short[0].Resource != told.Short[0].Resource
	if isOther && after.Short[0].Resource == corev1.ResourcePods {
		return false
	}
	if after.Reason == string(reason.TooLarge) && !strings.Contains(after.Message, "the largest node") {
		return false
	}
	if told.Reason == string(reason.ExtraPodsWait) {
		return after.Hint == told.Hint
	}
	return after.Reason == told.Reason && (after.Never || !told.Never)
}

// checkFewer fails if an explanation does not have the help whose number its hint names.
func checkFewer(t *rapid.T, told *schedulingv1beta1.Explanation, to, task string) {
	for _, h := range told.Helps {
		if h.Kind == schedulingv1beta1.HelpFewerMembers && h.To == to && h.Subject == task {
			return
		}
	}
	t.Fatalf("the hint is %s, and what helps is %+v", told.Hint, told.Helps)
}
