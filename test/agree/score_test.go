package agree

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/test/seeds"
)

// TestPoints: what a node gets for how much of it is in use, how evenly, and for
// images that it has, is what kube-scheduler gives it. That rounds down at every
// step; we do not.
func TestPoints(t *testing.T) {
	seeds.Check(t, 1000, func(t *rapid.T) {
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
				request := term.weights.Prepare(w.cluster.Resources, shape)
				for i, id := range w.view.Order {
					ours := term.weights.Dynamic(&w.view, id, &request) +
						term.weights.Images(shape, w.view.Nodes.Info[id], w.view.Nodes.ImageNodes, len(names))
					if apart := math.Abs(float64(ours)/score.Unit - float64(term.theirs[names[i]])); apart > term.within {
						t.Fatalf("%s of %s for %s: kube-scheduler gives %d, we give %.2f\n%s", name, names[i], pod.Name, term.theirs[names[i]], float64(ours)/score.Unit, w.dump(pod))
					}
				}
			}
		}
	})
}
