package kubeparity

import (
	"math"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestPoints compares the scores for a node's utilization, for balanced utilization and for images with those of
// kube-scheduler. kube-scheduler rounds down at every step, but the engine does not.
func TestPoints(t *testing.T) {
	propertytest.Check(t, 1000, func(t *rapid.T) {
		w := newWorld(t)
		for range w.dice.n(3) {
			w.change()
		}
		w.wait()
		w.open()
		k := w.kube()
		var names []string
		for _, id := range w.view.Order {
			names = append(names, w.view.Nodes.Name[id])
		}
		terms := map[string]struct {
			weights score.Weights
			theirs  map[string]int64
			within  float64
		}{}
		for _, pod := range w.waiting {
			shape := w.cluster.Task(pod.UID).Shape
			clear(terms)
			add := func(name string, weights score.Weights, theirs map[string]int64, within float64) {
				terms[name] = struct {
					weights score.Weights
					theirs  map[string]int64
					within  float64
				}{weights, theirs, within}
			}
			add("least requested", score.Weights{LeastRequested: 1}, k.scores(k.least, pod, names), 2)
			add("most requested", score.Weights{MostRequested: 1}, k.scores(k.most, pod, names), 2)
			add("balanced", score.Weights{Balanced: 1}, k.scores(k.balanced, pod, names), 2)
			add("images", score.Weights{ImageLocality: 1}, k.scores(k.images, pod, names), 2)
			for name, term := range terms {
				request := term.weights.PrepareRequest(w.cluster.Resources, shape)
				for i, id := range w.view.Order {
					ours := term.weights.DynamicScore(&w.view, id, &request) +
						term.weights.ScoreImages(shape, w.view.Nodes.Info[id], w.view.Nodes.ImageNodes, len(names))
					if apart := math.Abs(float64(ours)/score.Unit - float64(term.theirs[names[i]])); apart > term.within {
						t.Fatalf("%s of %s for %s: kube-scheduler gives %d, we give %.2f\n%s", name, names[i], pod.Name, term.theirs[names[i]], float64(ours)/score.Unit, w.dump(pod))
					}
				}
			}
		}
	})
}

// TestPreferences compares the scores for preferred node affinity and for taints with effect PreferNoSchedule. The
// engine normalizes them over the nodes that no label, taint or cordon excludes, regardless of their free resources.
// The test makes kube-scheduler do the same.
func TestPreferences(t *testing.T) {
	propertytest.Check(t, 1000, func(t *rapid.T) {
		w := newWorld(t)
		for range w.dice.n(3) {
			w.change()
		}
		w.wait()
		w.open()
		k := w.kube()
		for name, term := range map[string]struct {
			weights score.Weights
			plugin  fwk.Plugin
		}{
			"preferred node affinity": {score.Weights{NodeAffinity: 1}, k.nodeAffinity},
			"taints":                  {score.Weights{Taints: 1}, k.taints},
		} {
			judge := equivalence.Judge{Filters: fit.Filters{Cordon: true, Affinity: true, Taints: true}, Weights: term.weights}
			judge.Open(&w.view, w.cluster.Resources, w.cluster.Shapes)
			for _, pod := range w.waiting {
				s := w.cluster.Task(pod.UID).Shape
				var names []string
				for _, id := range w.view.Order {
					if judge.IsAllowed(s, id) {
						names = append(names, w.view.Nodes.Name[id])
					}
				}
				theirs := k.scores(term.plugin, pod, names)
				judge.EachFitting(s, false, func(id model.NodeID, points int32) {
					node := w.view.Nodes.Name[id]
					if apart := math.Abs(float64(points)/score.Unit - float64(theirs[node])); apart > 1 {
						t.Fatalf("%s of %s for %s: kube-scheduler gives %d, we give %.2f\n%s", name, node, pod.Name, theirs[node], float64(points)/score.Unit, w.dump(pod))
					}
				})
			}
		}
	})
}
