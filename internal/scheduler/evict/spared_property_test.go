package evict_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/propertytest"
)

// byPriority has only priority grant victims inside a queue.
const byPriority = `
actions: "enqueue, allocate, backfill, %s"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}, {name: cdp}]
- plugins: [{name: predicates}, {name: proportion}]
`

// bareReasons are the reasons for no eviction that count no pods.
var bareReasons = []reason.Code{reason.NotEnoughVictims, reason.NeverPreempts, reason.GaveByShare}

// runningPods returns the running pods of the other gangs in a queue, by gang, and those of the gang itself.
func (w *fight) runningPods(queue, but string) (others map[string][]*corev1.Pod, own []*corev1.Pod) {
	others = map[string][]*corev1.Pod{}
	for _, p := range w.pods {
		gang := p.Annotations["scheduling.k8s.io/group-name"]
		switch {
		case p.Spec.NodeName == "":
		case gang == but:
			own = append(own, p)
		case w.queueOf[gang] == queue:
			others[gang] = append(others[gang], p)
		}
	}
	return others, own
}

// protection returns the reason that protects a pod by itself; "" for none.
func (w *fight) protection(p *corev1.Pod) reason.Code {
	switch {
	case p.Annotations["volcano.sh/preemptable"] == "false":
		return reason.NotPreemptable
	case p.Spec.PriorityClassName != "":
		return reason.SystemPod
	case p.Labels["app"] == "web" && w.disruptions() < 1:
		return reason.BudgetExhausted
	case p.Labels["volcano.sh/cooldown-time"] != "" && w.now.Sub(p.Status.StartTime.Time) < 10*time.Minute:
		return reason.InCooldown
	}
	return ""
}

// disruptions returns how many pods of the budget may be evicted now.
func (w *fight) disruptions() int {
	ready := 0
	for _, p := range w.pods {
		if p.Spec.NodeName != "" && p.Labels["app"] == "web" {
			ready++
		}
	}
	return min(int(w.budget.Status.DisruptionsAllowed), ready-int(w.budget.Status.DesiredHealthy))
}

// wantSpared counts the pods that priority does not grant to a gang in its queue, by reason. Every gang has pods of one kind.
func (w *fight) wantSpared(gang string) map[reason.Code]int {
	want := map[reason.Code]int{}
	others, own := w.runningPods(w.queueOf[gang], gang)
	for name, pods := range others {
		protection := w.protection(pods[0])
		switch {
		case w.rank[name] >= w.rank[gang]:
			want[reason.NotLower] += len(pods)
		case protection != "":
			want[protection] += len(pods)
		case pods[0].Labels["app"] == "web" && len(pods) > w.disruptions(): // the gang as a whole
			want[reason.BudgetExhausted] += len(pods) - max(len(pods)-w.gangs[name], 0)
		}
	}
	for _, p := range own {
		if code := w.protection(p); code != "" && (code == reason.NotPreemptable || *p.Spec.Priority < w.nextPriority(gang)) {
			want[code]++
		}
	}
	return want
}

// nextPriority returns the highest priority of a gang's waiting pods.
func (w *fight) nextPriority(gang string) int32 {
	highest := int32(0)
	for _, p := range w.pods {
		if p.Annotations["scheduling.k8s.io/group-name"] == gang && p.Spec.NodeName == "" {
			highest = max(highest, *p.Spec.Priority)
		}
	}
	return highest
}

// checkTakers fails if a number of pods that would be taken back is not that of some gangs of the queue: of each, all of
// its running pods or those beyond its minimum.
func (w *fight) checkTakers(gang string, told int) {
	sums := map[int]bool{0: true}
	others, _ := w.runningPods(w.queueOf[gang], gang)
	for name, pods := range others {
		for sum := range maps.Clone(sums) {
			sums[sum+len(pods)] = true
			sums[sum+max(len(pods)-w.gangs[name], 0)] = true
		}
	}
	if told == 0 || !sums[told] {
		w.t.Fatalf("%d pods could be taken back from %s, but the other gangs of its queue run %v", told, gang, slices.Sorted(maps.Keys(sums)))
	}
}

// checkSpared compares the numbers of pods in the reasons for no eviction with the pods of the fight. inside is true if pods of other queues
// are not evicted. exact compares each number; otherwise each pod may count at most once, and a number must be one of pods that have that protection.
func (w *fight) checkSpared(gang string, spared []schedulingv1beta1.ExplainedSpared, inside, exact bool) {
	got, total := map[reason.Code]int{}, 0
	for i, s := range spared {
		code := reason.Code(s.Reason)
		if i > 0 && s.Pods > spared[i-1].Pods {
			w.t.Fatalf("%s: not in descending order: %+v", gang, spared)
		}
		if slices.Contains(bareReasons, code) != (s.Pods == 0) {
			w.t.Fatalf("%s: %d pods of %s", gang, s.Pods, s.Reason)
		}
		if inside && code == reason.WouldTakeBack {
			w.checkTakers(gang, int(s.Pods))
		}
		total += int(s.Pods)
		if got[code] += int(s.Pods); s.Pods == 0 || code == reason.WouldTakeBack {
			delete(got, code)
		}
	}
	running, protected := 0, map[reason.Code]int{}
	for _, p := range w.pods {
		if p.Spec.NodeName != "" {
			running++
			protected[w.protection(p)]++
		}
	}
	if total > running {
		w.t.Fatalf("%s: %d pods are not evicted, but only %d run: %+v", gang, total, running, spared)
	}
	for _, code := range []reason.Code{reason.NotPreemptable, reason.SystemPod, reason.InCooldown} {
		if got[code] > protected[code] {
			w.t.Fatalf("%s: %d pods are protected by %s, told %+v", gang, protected[code], code, spared)
		}
	}
	if want := w.wantSpared(gang); exact && fmt.Sprint(want) != fmt.Sprint(got) {
		w.t.Fatalf("%s: want %v, told %+v", gang, want, spared)
	}
}

// TestSparedPodsAreCountedOnce (I12) compares the numbers of pods that are not evicted for a gang, by reason, with an
// independent count, in fights that have come to rest.
func TestSparedPodsAreCountedOnce(t *testing.T) {
	seen := map[string]int{}
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		policies := rapid.SampledFrom([]string{attacks, byPriority}).Draw(t, "policies")
		actions := rapid.SampledFrom([]string{"preempt", "gangpreempt", "preempt, gangpreempt", "reclaim, preempt", "gangpreempt, gangreclaim", "gangreclaim, reclaim, gangpreempt, preempt"}).Draw(t, "actions")
		w := drawFight(t, policies, actions)
		inside := slices.Contains([]string{"preempt", "gangpreempt", "preempt, gangpreempt"}, actions)
		exact := inside && policies == byPriority
		for range rapid.IntRange(1, 3).Draw(t, "waves") {
			for range rapid.IntRange(1, 4).Draw(t, "gangs") {
				w.submit()
			}
			for range 10 {
				clear(w.took)
				if d := w.decide(); len(d.Binds)+len(d.Evicts) == 0 {
					break
				}
			}
			w.now = w.now.Add(2 * time.Minute) // changed numbers are written once a minute
			clear(w.took)
			if d := w.decide(); len(d.Binds)+len(d.Evicts) > 0 {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(w.gangs)) {
				e := w.model.Gangs["default/"+name].Status.Explanation
				if e == nil || len(e.Spared) == 0 {
					continue
				}
				for _, s := range e.Spared {
					seen[s.Reason]++
				}
				w.checkSpared(name, e.Spared, inside, exact)
			}
		}
	})
	t.Logf("told: %v", seen)
	for _, code := range []reason.Code{reason.NotLower, reason.NotPreemptable, reason.SystemPod, reason.BudgetExhausted, reason.InCooldown, reason.WithinShare, reason.NoLowerShare} {
		if whole && seen[string(code)] == 0 {
			t.Errorf("no pods were told to be protected by %s", code)
		}
	}
}
