package jobflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/test/propertytest"
)

// drawFlow draws a flow whose steps depend on any of the earlier steps and are in any state that is possible for
// them.
func drawFlow(t *rapid.T) jobFlow {
	flow := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "n"}}
	for i := range rapid.IntRange(0, 9).Draw(t, "steps") {
		one := flowv1alpha1.Flow{Name: fmt.Sprintf("s%d", i)}
		var depends []string
		if i > 0 {
			targets := rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "targets")
			for _, target := range targets {
				depends = append(depends, fmt.Sprintf("s%d", target))
				one.DependsOn = &flowv1alpha1.DependsOn{Targets: depends}
			}
		}
		flow.Spec.Flows = append(flow.Spec.Flows, one)
		phase := rapid.SampledFrom([]batchv1alpha1.JobPhase{"", "", batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Completed, batchv1alpha1.Failed}).Draw(t, "phase")
		if phase == "" {
			continue
		}
		name := flowv1alpha1.JobName(flow, one.Name)
		flow.Status.JobStatusList = append(flow.Status.JobStatusList, flowv1alpha1.JobStatus{Name: name, State: phase})
		if phase == batchv1alpha1.Failed {
			flow.Status.FailedJobs = append(flow.Status.FailedJobs, name)
		}
	}
	// The order of the steps has no meaning.
	flow.Spec.Flows = rapid.Permutation(flow.Spec.Flows).Draw(t, "order")
	return flow
}

func TestEveryStepStandsOnceInTheTreeBelowOneOfItsTargets(t *testing.T) {
	propertytest.Check(t, 300, func(t *rapid.T) {
		steps := newSteps(drawFlow(t), nil)
		tree := sortAsTree(steps)
		if len(tree) != len(steps) {
			t.Fatalf("%d steps in the tree, want %d", len(tree), len(steps))
		}
		for i, s := range tree {
			at := slices.Index(tree, s)
			switch {
			case at != i:
				t.Fatalf("step %s stands there twice", s.name)
			case s.parent == nil && len(s.dependencyNames()) > 0:
				t.Fatalf("step %s depends on %v and stands below none", s.name, s.dependencyNames())
			case s.parent != nil && (!slices.Contains(s.dependencyNames(), s.parent.name) || slices.Index(tree, s.parent) >= i):
				t.Fatalf("step %s, which depends on %v, stands below %s", s.name, s.dependencyNames(), s.parent.name)
			}
			for _, target := range s.dependencyNames() {
				if other := tree[slices.IndexFunc(tree, func(o *step) bool { return o.name == target })]; other.depth >= s.depth {
					t.Fatalf("step %s is not deeper than its target %s", s.name, target)
				}
			}
			if drawn := treeBranches(tree, i, false); len(drawn) != 3*s.depth && s.parent != nil && len(drawn) != 3*depthOf(s) {
				t.Fatalf("step %s is drawn with %q", s.name, drawn)
			}
		}
	})
}

func depthOf(s *step) int {
	n := 0
	for ; s.parent != nil; s = s.parent {
		n++
	}
	return n
}

func TestWhatHasNotBegunSaysWhatItWaitsFor(t *testing.T) {
	propertytest.Check(t, 300, func(t *rapid.T) {
		flow := drawFlow(t)
		for _, s := range newSteps(flow, map[string]bool{"s0": true}) {
			begun := s.job != nil
			unmet := slices.ContainsFunc(s.dependencyNames(), func(target string) bool {
				status := stepJobStatus(flow, target)
				return status == nil || status.State != batchv1alpha1.Completed
			})
			failed := len(flow.Status.FailedJobs) > 0
			switch {
			case begun && s.waits != "" && s.job.State != batchv1alpha1.Pending:
				t.Fatalf("step %s is %s and waits %s", s.name, s.state, s.waits)
			case !begun && s.waits == "":
				t.Fatalf("step %s is %s and nothing is said", s.name, s.state)
			case !begun && failed != (s.state == stateNever):
				t.Fatalf("step %s is %s; failed: %v", s.name, s.state, flow.Status.FailedJobs)
			case !begun && !failed && unmet != strings.Contains(s.waits, "to complete"):
				t.Fatalf("step %s, unmet %v: %s", s.name, unmet, s.waits)
			case !begun && !failed && !unmet && (s.name == "s0") != strings.Contains(s.waits, "does not exist in namespace"):
				t.Fatalf("step %s: %s", s.name, s.waits)
			}
		}
	})
}
