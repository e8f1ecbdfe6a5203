package randomcluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
)

// Decide runs a cycle, checks it, and carries it out in the API, some of it late or never.
func (r *Cluster) Decide() {
	r.Now = r.Now.Add(2 * time.Second)
	before := r.truth()
	fresh, err := scheduler.New(r.Config)
	if err != nil {
		r.T.Fatal(err)
	}
	budgets := r.snapshotBudgets()
	again := fresh.Cycle(r.Now, r.Model)
	d := r.Engine.Cycle(r.Now, r.Model)
	same := cmp.Options{cmpopts.IgnoreFields(decision.Nomination{}, "Publish")}
	if diff := cmp.Diff(again.Binds, d.Binds); diff != "" {
		r.T.Fatalf("an engine without a past binds differently (-fresh +old):\n%s%s\nthe fresh one:\n%s", diff, r.describe(r.Engine), r.describe(fresh))
	}
	if diff := cmp.Diff(again.Evicts, d.Evicts); diff != "" {
		r.T.Fatalf("an engine without a past evicts differently (-fresh +old):\n%s%s", diff, r.describe(r.Engine))
	}
	if diff := cmp.Diff(again.Nominations, d.Nominations, same...); diff != "" {
		r.T.Fatalf("an engine without a past promises differently (-fresh +old):\n%s%s", diff, r.describe(r.Engine))
	}
	if diff := cmp.Diff(again.Ungates, d.Ungates); diff != "" {
		r.T.Fatalf("an engine without a past opens other gates (-fresh +old):\n%s%s", diff, r.describe(r.Engine))
	}
	if diff := cmp.Diff(again.Usage, d.Usage); diff != "" {
		r.T.Fatalf("an engine without a past notes other use (-fresh +old):\n%s", diff)
	}
	if diff := cmp.Diff(again.BudgetUsage, d.BudgetUsage); diff != "" {
		r.T.Fatalf("an engine without a past records another usage of budgets (-fresh +old):\n%s", diff)
	}
	if diff := cmp.Diff(r.admitted(&again), r.admitted(&d)); len(r.Accounts)+len(r.QOS) > 0 && diff != "" {
		r.T.Fatalf("an engine without a past admits other gangs (-fresh +old):\n%s%s\nthe fresh one:\n%s", diff, r.describe(r.Engine), r.describe(fresh))
	}
	used := r.UseOfAccounts()
	r.CheckReports(&d)
	decision.Assume(r.Model, &d)
	r.check(&d, before)
	r.CheckAccounts(used, r.UseOfAccounts())
	r.checkBudgets(budgets)
	r.ungate(&d)
	for _, b := range d.Binds {
		p := r.Pods[b.Pod.Name]
		switch rapid.IntRange(0, 9).Draw(r.T, "bind") {
		case 0:
			r.Model.Apply(model.BindFailed{UID: p.UID, Err: "conflict"})
			delete(r.Coming, p.UID)
		case 1: // still pending
		default:
			delete(r.Coming, p.UID)
			p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
			if len(r.Accounts) > 0 {
				r.StartPod(p)
				continue
			}
			r.Model.Apply(model.TaskFrom(p, true))
		}
	}
	for _, e := range d.Evicts {
		switch rapid.IntRange(0, 3).Draw(r.T, "leaves") {
		case 0: // and some of these never do
			by := metav1.NewTime(r.Now.Add(-time.Duration(rapid.IntRange(0, 28).Draw(r.T, "slow")) * time.Second))
			p := r.Pods[e.Pod.Name]
			p.DeletionTimestamp = &by
			r.Model.Apply(model.TaskFrom(p, true))
		default:
			r.DropPod(e.Pod.Name)
		}
	}
	r.followPods()
}

// admitted returns the gangs that are admitted by decisions.
func (r *Cluster) admitted(d *decision.Decisions) []string {
	var names []string
	for i := range d.Gangs {
		was := r.Model.Gangs[d.Gangs[i].Gang.Key()].Status.Phase
		isPending := was == "" || was == schedulingv1beta1.PodGroupPending
		if isPending && d.Gangs[i].Status.Phase == schedulingv1beta1.PodGroupInqueue {
			names = append(names, d.Gangs[i].Gang.Key())
		}
	}
	slices.Sort(names)
	return names
}

// Settle carries out all decisions until nothing more is decided.
func (r *Cluster) Settle() {
	for range 20 {
		r.Now = r.Now.Add(2 * time.Second)
		before, budgets := r.UseOfAccounts(), r.snapshotBudgets()
		d := r.Engine.Cycle(r.Now, r.Model)
		decision.Assume(r.Model, &d)
		for _, b := range d.Binds {
			r.Coming[r.Pods[b.Pod.Name].UID] = b.Node
		}
		r.CheckAccounts(before, r.UseOfAccounts())
		r.checkBudgets(budgets)
		r.CarryOut(&d)
		r.followPods()
		if len(d.Binds)+len(d.Evicts)+len(d.Gangs)+len(d.Ungates)+len(d.Nominations) == 0 {
			return
		}
	}
}

// ungate removes the gates that were opened, some of them late or never.
func (r *Cluster) ungate(d *decision.Decisions) {
	for _, u := range d.Ungates {
		p := r.Pods[u.Name]
		switch {
		case p == nil || p.UID != u.UID: // the pod was deleted
		case rapid.IntRange(0, 4).Draw(r.T, "gate") == 0:
			r.Model.Apply(model.UngateFailed{UID: u.UID})
		default:
			p.Spec.SchedulingGates = nil
			r.Model.Apply(model.TaskFrom(p, true))
		}
	}
}

// check compares the decisions with the state of the API.
func (r *Cluster) check(d *decision.Decisions, before truth) {
	bound := map[types.UID]bool{}
	for _, b := range d.Binds {
		bound[b.Gang.UID] = true
		p := r.Pods[b.Pod.Name]
		if _, coming := r.Coming[p.UID]; coming || p.Spec.NodeName != "" {
			r.T.Fatalf("pod %s is bound twice", b.Pod.Name)
		}
		if len(p.Spec.SchedulingGates) > 0 {
			r.T.Fatalf("pod %s is bound behind its gate", b.Pod.Name)
		}
		r.Coming[p.UID] = b.Node
	}
	after := r.truth()
	for _, err := range []error{r.checkNodes(d, after), r.checkModel(after)} {
		if err != nil {
			r.T.Fatal(err)
		}
	}
	for name, g := range r.Gangs {
		if m := r.Model.Gangs["default/"+name]; bound[g.UID] && m.CountReady() < int(g.Spec.MinMember) {
			r.T.Fatalf("gang %s is bound in part: %d of %d", name, m.CountReady(), g.Spec.MinMember)
		}
		if bound[g.UID] {
			r.checkParts(name)
		}
	}
	if r.unlimited {
		return
	}
	for _, q := range r.Queues {
		limit, capped := q.Spec.Capability["cpu"]
		if held := after.cpu[q.Name]; capped && held > limit.MilliValue() && held > before.cpu[q.Name] {
			r.T.Fatalf("queue %s holds %dm over its capability %s", q.Name, held, limit.String())
		}
	}
}

// checkParts checks that a gang that got nodes has the minimums of its roles and sub-groups (I2).
func (r *Cluster) checkParts(name string) {
	g := r.Gangs[name]
	roles, parts := map[string]int32{}, map[string]int32{}
	for _, t := range r.Model.Gangs["default/"+name].Tasks {
		if p := r.Pods[t.Name]; t.Status.IsAllocated() || t.Status == model.Succeeded {
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
			r.T.Fatalf("gang %s is bound with %d of %d of role %s", name, roles[role], least, role)
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
			r.T.Fatalf("gang %s is bound with %d of %d sub-groups of %d", name, whole, *policy.MinSubGroups, *policy.SubGroupSize)
		}
	}
}

// CarryOut carries out all decisions at once.
func (r *Cluster) CarryOut(d *decision.Decisions) {
	for _, u := range d.Ungates {
		if p := r.Pods[u.Name]; p != nil && p.UID == u.UID {
			p.Spec.SchedulingGates = nil
			r.Model.Apply(model.TaskFrom(p, true))
		}
	}
	for _, b := range d.Binds {
		p := r.Pods[b.Pod.Name]
		delete(r.Coming, p.UID)
		p.Spec.NodeName = b.Node
		r.StartPod(p)
	}
	for _, e := range d.Evicts {
		r.DropPod(e.Pod.Name)
	}
}

// StartPod makes a pod run from now on.
func (r *Cluster) StartPod(p *corev1.Pod) {
	at := metav1.NewTime(r.Now)
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &at
	r.Model.Apply(model.TaskFrom(p, true))
}

// CheckReports fails if a report contradicts itself or repeats an earlier one.
func (r *Cluster) CheckReports(d *decision.Decisions) {
	for i := range d.Gangs {
		g := &d.Gangs[i]
		if stood := r.Model.Gangs[g.Gang.Key()]; stood != nil && g.HyperNode == nil && cmp.Equal(stood.Status, g.Status) {
			r.T.Fatalf("the status of %s is written again as it was: %+v", g.Gang.Name, g.Status)
		}
		holds := 0
		for _, c := range g.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == schedulingv1beta1.PodGroupUnschedulableType || c.Type == schedulingv1beta1.PodGroupScheduledType) {
				holds++
			}
		}
		if holds > 1 {
			r.T.Fatalf("gang %s is told that it is scheduled and that it cannot be: %s", g.Gang.Name, Conditions(&g.Status))
		}
	}
}

// Conditions returns a status's conditions without times and texts.
func Conditions(status *schedulingv1beta1.PodGroupStatus) string {
	out := ""
	for _, c := range status.Conditions {
		out += fmt.Sprintf("%s=%s (%s) ", c.Type, c.Status, c.Reason)
	}
	return out
}

// describe describes the cluster and an engine's state of its gangs for a failure message.
func (r *Cluster) describe(e *scheduler.Engine) string {
	out := clustertest.Describe(r.Model)
	if r.DescribeEngine != nil {
		out += r.DescribeEngine(e)
	}
	return out
}
