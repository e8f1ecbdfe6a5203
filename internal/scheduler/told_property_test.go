package scheduler_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/propertytest"
	"github.com/vc-batch/vc/test/randomcluster"
)

// saying holds what the scheduler has reported about gangs and queues since some time.
type saying struct {
	conditions map[types.UID][]string // the successive conditions of a gang
	events     map[decision.Event]int
	// writes of statuses, and events without their numbers, since the last binding, eviction or ungating.
	writes map[types.UID]int
	gists  map[decision.Event]int
	// admitted holds the gangs that were admitted since then.
	admitted map[types.UID]bool
}

// remember records what is reported while nothing happens, and fails if conditions flap or something is reported
// too often.
func (so *saying) remember(r *random, d *decision.Decisions) {
	for i := range d.Gangs {
		g := &d.Gangs[i]
		so.noteAdmission(r, g)
		if so.writes[g.Gang.UID]++; so.writes[g.Gang.UID] > 2 { // once for the meaning, and once for the numbers, which are updated once a minute at most
			r.T.Fatalf("nothing happened, and the status of %s is written for the %dth time in 50 s (-stood +now): %s", g.Gang.Name, so.writes[g.Gang.UID], cmp.Diff(r.Model.Gangs[g.Gang.Key()].Status, g.Status))
		}
		before, now := so.conditions[g.Gang.UID], randomcluster.Conditions(&g.Status)
		if n := len(before); n > 0 && before[n-1] == now {
			continue
		}
		if slices.Contains(before, now) {
			r.T.Fatalf("nothing happened, and the conditions of %s flap: %q, now %s", g.Gang.Name, before, now)
		}
		so.conditions[g.Gang.UID] = append(before, now)
	}
	for _, e := range d.Events {
		if so.events[e]++; so.events[e] > 1 {
			r.T.Fatalf("nothing happened, and an event is told twice: %+v", e)
		}
		e.Message = digits.ReplaceAllString(e.Message, "#") // another number is not new information
		if so.gists[e]++; so.gists[e] > 1 {
			r.T.Fatalf("nothing happened, and an event is told again with other numbers: %+v", e)
		}
	}
	if len(d.Binds)+len(d.Evicts)+len(d.Ungates) > 0 {
		clear(so.writes)
		clear(so.gists)
		clear(so.admitted)
	}
}

// noteAdmission resets the count of a gang's writes when time admits it to its queue, because the gang then waits for
// another reason: its deadline (policy sla) has passed, or gangs whose pods did not come no longer count. It fails if the
// gang is admitted a second time.
func (so *saying) noteAdmission(r *random, g *decision.GangStatus) {
	stood := r.Model.Gangs[g.Gang.Key()]
	if stood == nil || stood.Status.Phase != schedulingv1beta1.PodGroupPending || g.Status.Phase != schedulingv1beta1.PodGroupInqueue {
		return
	}
	if so.admitted[g.Gang.UID] {
		r.T.Fatalf("nothing happened, and %s is admitted to its queue a second time", g.Gang.Name)
	}
	so.admitted[g.Gang.UID] = true
	delete(so.writes, g.Gang.UID)
}

var digits = regexp.MustCompile("[0-9]+")

// TestAQuietClusterIsToldOnce makes random changes, and then only carries out decisions: no condition flaps or
// contradicts another, no status is written unchanged or more than once in the time, and no event is repeated.
func TestAQuietClusterIsToldOnce(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		r := newRandom(t)
		r.Rich = true
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") == 0 {
				r.Decide()
			}
		}
		for _, name := range r.PodNames() {
			switch p := r.Pods[name]; {
			case p.DeletionTimestamp != nil: // when it lingers, gangs that count on its resources change their plans
				r.DropPod(name)
			case p.Status.Phase == corev1.PodRunning:
				r.StartPod(p)
			}
		}
		so := &saying{conditions: map[types.UID][]string{}, events: map[decision.Event]int{}, writes: map[types.UID]int{}, gists: map[decision.Event]int{},
			admitted: map[types.UID]bool{}}
		for second := range 50 {
			r.Now = r.Now.Add(time.Second)
			d := r.Engine.Cycle(r.Now, r.Model)
			r.CheckReports(&d)
			switch {
			case second > 0:
				so.remember(r, &d)
			default: // the first ones report earlier changes
				for i := range d.Gangs {
					g := &d.Gangs[i]
					so.conditions[g.Gang.UID] = []string{randomcluster.Conditions(&g.Status)}
				}
			}
			decision.Assume(r.Model, &d)
			r.CarryOut(&d)
		}
	})
}
