package fit

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestTolerationsMeanWhatKubernetesSays compares covers with the API's own function.
func TestTolerationsMeanWhatKubernetesSays(t *testing.T) {
	words := rapid.SampledFrom([]string{"", "a", "b", "1"})
	effects := rapid.SampledFrom([]corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute})
	operators := rapid.SampledFrom([]corev1.TolerationOperator{"", corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, "Other"})
	propertytest.Check(t, 10000, func(t *rapid.T) {
		toleration := corev1.Toleration{
			Key: words.Draw(t, "key"), Value: words.Draw(t, "value"), Effect: effects.Draw(t, "effect"), Operator: operators.Draw(t, "operator"),
		}
		taint := corev1.Taint{Key: words.Draw(t, "taint key"), Value: words.Draw(t, "taint value"), Effect: effects.Draw(t, "taint effect")}
		if got, want := tolerationMatches(&toleration, &taint), toleration.ToleratesTaint(klog.Logger{}, &taint, false); got != want {
			t.Fatalf("%+v covers %+v: %v, want %v", toleration, taint, got, want)
		}
	})
}

func TestOnlyACordonKeepsPodsOffANode(t *testing.T) {
	t.Parallel()
	filters := &Filters{Cordon: true, Affinity: true, Taints: true}
	cordon := corev1.Taint{Key: unschedulableTaint, Effect: corev1.TaintEffectNoSchedule}
	node := &model.NodeInfo{Unschedulable: true, Taints: []corev1.Taint{cordon}}
	if !filters.permitsUncordoned(&model.Shape{}, node) {
		t.Error("the node is only cordoned")
	}
	node.Taints = append(node.Taints, corev1.Taint{Key: "team", Value: "nlp", Effect: corev1.TaintEffectNoSchedule})
	if filters.permitsUncordoned(&model.Shape{}, node) {
		t.Error("the node has another taint, too")
	}
	if code, _ := filters.CheckStatic(&model.Shape{}, node); code != "NodeUnschedulable" {
		t.Errorf("the node is %s", code)
	}
}
