package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/propertytest"
)

// decide runs a cycle, checks it, and carries it out in the API, some of it late or never.
func (r *random) decide() {
	r.now = r.now.Add(2 * time.Second)
	before := r.truth()
	fresh, err := New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	again := fresh.Cycle(r.now, r.model)
	d := r.engine.Cycle(r.now, r.model)
	same := cmp.Options{cmpopts.IgnoreFields(decision.Nomination{}, "Publish")}
	if diff := cmp.Diff(again.Binds, d.Binds); diff != "" {
		old := r.state()
		r.engine = fresh
		r.t.Fatalf("an engine without a past binds differently (-fresh +old):\n%s%s\nthe fresh one:\n%s", diff, old, r.state())
	}
	if diff := cmp.Diff(again.Evicts, d.Evicts); diff != "" {
		r.t.Fatalf("an engine without a past evicts differently (-fresh +old):\n%s%s", diff, r.state())
	}
	if diff := cmp.Diff(again.Nominations, d.Nominations, same...); diff != "" {
		r.t.Fatalf("an engine without a past promises differently (-fresh +old):\n%s%s", diff, r.state())
	}
	if diff := cmp.Diff(again.Ungates, d.Ungates); diff != "" {
		r.t.Fatalf("an engine without a past opens other gates (-fresh +old):\n%s%s", diff, r.state())
	}
	if diff := cmp.Diff(again.Usage, d.Usage); diff != "" {
		r.t.Fatalf("an engine without a past notes other use (-fresh +old):\n%s", diff)
	}
	r.hear(&d)
	decision.Assume(r.model, &d)
	r.check(&d, before)
	r.ungate(&d)
	for _, b := range d.Binds {
		p := r.pods[b.Pod.Name]
		switch rapid.IntRange(0, 9).Draw(r.t, "bind") {
		case 0:
			r.model.Apply(model.BindFailed{UID: p.UID, Err: "conflict"})
			delete(r.coming, p.UID)
		case 1: // still pending
		default:
			delete(r.coming, p.UID)
			p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
			r.model.Apply(model.TaskFrom(p, true))
		}
	}
	for _, e := range d.Evicts {
		switch rapid.IntRange(0, 3).Draw(r.t, "leaves") {
		case 0: // and some of these never do
			by := metav1.NewTime(r.now.Add(-time.Duration(rapid.IntRange(0, 28).Draw(r.t, "slow")) * time.Second))
			p := r.pods[e.Pod.Name]
			p.DeletionTimestamp = &by
			r.model.Apply(model.TaskFrom(p, true))
		default:
			r.drop(e.Pod.Name)
		}
	}
}

// ungate removes the gates that were opened, some of them late or never.
func (r *random) ungate(d *decision.Decisions) {
	for _, u := range d.Ungates {
		p := r.pods[u.Name]
		switch {
		case p == nil || p.UID != u.UID: // the pod was deleted
		case rapid.IntRange(0, 4).Draw(r.t, "gate") == 0:
			r.model.Apply(model.UngateFailed{UID: u.UID})
		default:
			p.Spec.SchedulingGates = nil
			r.model.Apply(model.TaskFrom(p, true))
		}
	}
}

// check compares the decisions with the state of the API.
func (r *random) check(d *decision.Decisions, before truth) {
	bound := map[types.UID]bool{}
	for _, b := range d.Binds {
		bound[b.Gang.UID] = true
		p := r.pods[b.Pod.Name]
		if _, coming := r.coming[p.UID]; coming || p.Spec.NodeName != "" {
			r.t.Fatalf("pod %s is bound twice", b.Pod.Name)
		}
		if len(p.Spec.SchedulingGates) > 0 {
			r.t.Fatalf("pod %s is bound behind its gate", b.Pod.Name)
		}
		r.coming[p.UID] = b.Node
	}
	after := r.truth()
	for _, err := range []error{r.checkNodes(d, after), r.checkModel(after)} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	for name, g := range r.gangs {
		if m := r.model.Gangs["default/"+name]; bound[g.UID] && m.CountReady() < int(g.Spec.MinMember) {
			r.t.Fatalf("gang %s is bound in part: %d of %d", name, m.CountReady(), g.Spec.MinMember)
		}
		if bound[g.UID] {
			r.checkParts(name)
		}
	}
	if r.unlimited {
		return
	}
	for _, q := range r.queues {
		limit, capped := q.Spec.Capability["cpu"]
		if held := after.cpu[q.Name]; capped && held > limit.MilliValue() && held > before.cpu[q.Name] {
			r.t.Fatalf("queue %s holds %dm over its capability %s", q.Name, held, limit.String())
		}
	}
}

// checkParts checks that a gang that got nodes has the minimums of its roles and sub-groups (I2).
func (r *random) checkParts(name string) {
	g := r.gangs[name]
	roles, parts := map[string]int32{}, map[string]int32{}
	for _, t := range r.model.Gangs["default/"+name].Tasks {
		if p := r.pods[t.Name]; t.Status.IsAllocated() || t.Status == model.Succeeded {
			roles[t.Role]++
			if p != nil {
				parts[p.Labels["part"]]++
			}
		}
	}
	sum := int32(0)
	for _, least := range g.Spec.MinTaskMember {
		sum += least
	}
	for role, least := range g.Spec.MinTaskMember {
		if g.Spec.MinMember >= sum && roles[role] < least { // with less, the roles do not count, as in Volcano
			r.t.Fatalf("gang %s is bound with %d of %d of role %s", name, roles[role], least, role)
		}
	}
	for _, policy := range g.Spec.SubGroupPolicy {
		whole := int32(0)
		for _, n := range parts {
			if n >= *policy.SubGroupSize {
				whole++
			}
		}
		if whole < *policy.MinSubGroups {
			r.t.Fatalf("gang %s is bound with %d of %d sub-groups of %d", name, whole, *policy.MinSubGroups, *policy.SubGroupSize)
		}
	}
}

// TestInvariants makes random changes and checks every cycle. No node holds more than its capacity, of resources,
// cards, slots and ports (I1, from the state of the API). No gang is bound in part (I2). No queue exceeds its
// capability with its running pods until they have ended (I3). No pod is bound twice (I6). A new engine makes the
// same decisions (I11).
func TestInvariants(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		r := newRandom(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			r.happen()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.decide()
			}
		}
		r.decide()
	})
}

// state describes the engine's state of its gangs for a failure message.
func (r *random) state() string {
	out := ""
	for _, name := range slices.Sorted(maps.Keys(r.gangs)) {
		j := r.engine.gangs.jobs[r.model.Gangs["default/"+name]]
		out += fmt.Sprintf("%s parked=%v phase=%s pending=%d need=%d shapes=%d queue=%s: %s %v %+v\n", name, j.Parked, j.Phase, len(j.Pending), j.Need(), len(j.ParkedShapes), j.In.Name, j.Verdict.Code, j.Verdict.Blocker, j.Verdict.Limit)
		if e := j.Status.Explanation; e != nil {
			out += fmt.Sprintf("  told %s since %v, now %v\n", e.Reason, e.Since, r.now)
		}
	}
	return out
}
