package model

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/test/propertytest"
)

// The pods of a job have their number as a label. If it were part of the shape, every pod with affinity would be
// evaluated separately.
func TestShapesHaveTheLabelsThatTheirRulesAskAbout(t *testing.T) {
	selects := func(s *metav1.LabelSelector) corev1.PodSpec {
		return corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: s}},
		}}}
	}
	cases := map[string]struct {
		spec corev1.PodSpec
		want int // number of shapes of two pods that differ in the labels app and number
	}{
		"a pod without rules":     {corev1.PodSpec{}, 1},
		"rules about neither":     {selects(&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "x"}}), 1},
		"rules about everybody":   {selects(&metav1.LabelSelector{}), 1},
		"rules about nobody":      {selects(nil), 1},
		"a rule about app":        {selects(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "a0"}}), 2},
		"a rule that app exists":  {selects(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}), 2},
		"spread over each number": {corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", MatchLabelKeys: []string{"number"}}}}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			shapes := map[string]bool{}
			for i := range 2 {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i)), Labels: map[string]string{
					"app": fmt.Sprintf("a%d", i), "number": fmt.Sprint(i),
				}}, Spec: c.spec}
				shape := podshape.SpecFrom(pod)
				shapes[shape.Key()] = true
			}
			if len(shapes) != c.want {
				t.Errorf("%d shapes, want %d", len(shapes), c.want)
			}
		})
	}
}

// TestImageNodes checks that ImageNodes always equals a new count.
func TestImageNodes(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c := New()
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "node")
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				c.Apply(NodeGone{Name: name})
				continue
			}
			images := map[string]int64{}
			for _, image := range rapid.SliceOf(rapid.SampledFrom([]string{"x", "y", "z"})).Draw(t, "images") {
				images[image] = 1
			}
			c.Apply(NodeSet{Name: name, Images: images})
		}
		want := map[string]int32{}
		for id, alive := range c.Nodes.Alive {
			if alive {
				for image := range c.Nodes.Info[id].Images {
					want[image]++
				}
			}
		}
		have := c.Nodes.ImageNodes
		if have == nil {
			have = map[string]int32{}
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("-counted +kept:\n%s", diff)
		}
	})
}
