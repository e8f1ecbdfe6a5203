package scheduler_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/propertytest"
)

// think simulates one more gang, and returns it without adding it to the model.
func (r *random) think() (gang string, h scheduler.Hypothesis) {
	earlier := map[string]bool{}
	for name := range r.Pods {
		earlier[name] = true
	}
	told := r.Model
	r.Model = model.New() // receives the objects instead
	r.AddGang()
	r.Model = told
	for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
		if told.Gangs["default/"+name] != nil && told.Gangs["default/"+name].Known {
			continue
		}
		gang = name
	}
	g := r.Gangs[gang]
	h.Make = append(h.Make, model.GangFrom(g))
	for _, name := range r.PodNames() {
		if p := r.Pods[name]; !earlier[name] {
			h.Make = append(h.Make, model.TaskFrom(p, true))
			h.Undo = append(h.Undo, model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
		}
	}
	h.Undo = append(h.Undo, model.GangGone{Namespace: g.Namespace, Name: g.Name, UID: g.UID})
	return gang, h
}

// TestWhatWouldHappenIsWhatHappens simulates a gang on a random cluster and then submits it. It must start, wait
// and evict as simulated, and the simulation must not change anything.
func TestWhatWouldHappenIsWhatHappens(t *testing.T) {
	seen := map[string]int{}
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		r := newRandom(t)
		thinker, err := scheduler.New(r.Config)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
		}
		r.settleDown()
		for range rapid.IntRange(1, 3).Draw(t, "simulations") {
			gang, h := r.think()
			if len(r.Engine.Cycle(r.Now, r.Model).Binds) > 0 {
				return // the world is still changing, so the result is not predictable
			}
			before := clustertest.Describe(r.Model)
			simulated := thinker.WhatIf(r.Now, r.Model, h)
			if diff := cmp.Diff(before, clustertest.Describe(r.Model)); diff != "" {
				t.Fatalf("a simulation left traces (-before +after):\n%s", diff)
			}
			if d := r.Engine.Cycle(r.Now, r.Model); len(d.Binds)+len(d.Evicts) > 0 {
				t.Fatalf("decisions after a simulation: %+v", d)
			}
			foretold := scheduler.OutcomeOf(&simulated, r.Gangs[gang].UID)
			r.Model.Apply(h.Make...)
			d := r.Engine.Cycle(r.Now, r.Model)
			happened := scheduler.OutcomeOf(&d, r.Gangs[gang].UID)
			if diff := cmp.Diff(foretold.Binds, happened.Binds); diff != "" {
				t.Fatalf("%s starts otherwise than foretold (-foretold +happened):\n%s", gang, diff)
			}
			if diff := cmp.Diff(foretold.Evicts, happened.Evicts); diff != "" {
				t.Fatalf("%s takes room otherwise than foretold (-foretold +happened):\n%s", gang, diff)
			}
			switch {
			case foretold.Starts():
				seen["starts"]++
			case len(foretold.Evicts) > 0:
				seen["takes room"]++
			case foretold.Status != nil && foretold.Status.Explanation != nil:
				seen["waits"]++
			case len(simulated.Ungates) > 0:
				seen["passes its gate"]++
			default:
				t.Fatalf("%s neither starts nor takes room, and nobody says why it waits: %+v", gang, foretold)
			}
			decision.Assume(r.Model, &d)
			r.carryOut(&d)
			r.settleDown()
		}
	})
	t.Logf("foretold: %v", seen)
	for _, kind := range []string{"starts", "takes room", "waits"} {
		if whole && seen[kind] == 0 {
			t.Errorf("no gang %s", kind)
		}
	}
}

// carryOut carries out all decisions.
func (r *random) carryOut(d *decision.Decisions) {
	for _, b := range d.Binds {
		p := r.Pods[b.Pod.Name]
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		r.Model.Apply(model.TaskFrom(p, true))
	}
	for _, e := range d.Evicts {
		if r.Pods[e.Pod.Name] != nil {
			r.DropPod(e.Pod.Name)
		}
	}
	for _, u := range d.Ungates {
		if p := r.Pods[u.Name]; p != nil {
			p.Spec.SchedulingGates = nil
			r.Model.Apply(model.TaskFrom(p, true))
		}
	}
}

// settleDown runs cycles until nothing changes.
func (r *random) settleDown() {
	for range 20 {
		d := r.Engine.Cycle(r.Now, r.Model)
		decision.Assume(r.Model, &d)
		r.carryOut(&d)
		if len(d.Binds)+len(d.Evicts)+len(d.Ungates) == 0 && !d.Again {
			return
		}
	}
}
