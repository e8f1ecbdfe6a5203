package placement_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/schedulertest"
)

// TestOtherPodsOfAGangDo checks that a gang starts with the pods that fit on nodes now.
func TestOtherPodsOfAGangDo(t *testing.T) {
	pod := func(i int, cpu string) *make.PodBuilder { return make.Pod(fmt.Sprintf("g-%d", i)).Gang("g").CPU(cpu) }
	leaving := make.Pod("leaves").Gang("gone").CPU("1").On("a").Phase(corev1.PodRunning).Obj()
	leaving.DeletionTimestamp = &metav1.Time{Time: make.Epoch.Add(time.Hour)}
	tier := 1
	for name, c := range map[string]struct {
		world []model.Delta
		want  string
	}{
		"where the first would wait for a pod that ends": {[]model.Delta{
			model.NodeFrom(make.Node("a").CPU("1").Obj()), model.NodeFrom(make.Node("b").CPU("1").Taint("dedicated", "", corev1.TaintEffectNoSchedule).Obj()),
			model.GangFrom(make.Gang("gone").Obj()), model.TaskFrom(leaving, true), model.GangFrom(make.Gang("g").Queue("default").Min(1).Obj()),
			model.TaskFrom(pod(0, "1").Obj(), true), model.TaskFrom(pod(1, "1").Tolerate("dedicated").Obj(), true),
		}, "g-1"},
		"where the first are too large for the nodes that are near each other": {[]model.Delta{
			model.NodeFrom(make.Node("a").CPU("1").Obj()), model.NodeFrom(make.Node("b").CPU("1").Obj()), model.NodeFrom(make.Node("c").CPU("1").Obj()),
			model.NodeFrom(make.Node("d").CPU("8").Resource("pods", "2").Obj()),
			clustertest.HyperNode("large", 1, topologyv1alpha1.MemberTypeNode, "d"), clustertest.HyperNode("wide", 1, topologyv1alpha1.MemberTypeNode, "a", "b", "c"),
			model.GangFrom(make.Gang("g").Queue("default").Min(3).Topology(&schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.HardNetworkTopologyMode, HighestTierAllowed: &tier}).Obj()),
			model.TaskFrom(pod(0, "2").Obj(), true), model.TaskFrom(pod(1, "2").Obj(), true),
			model.TaskFrom(pod(2, "1").Obj(), true), model.TaskFrom(pod(3, "1").Obj(), true), model.TaskFrom(pod(4, "1").Obj(), true),
		}, "g-2 g-3 g-4"},
	} {
		t.Run(name, func(t *testing.T) {
			m := model.New()
			bound := schedulertest.BindInCycles(t, config.DefaultText, m, append(c.world, model.QueueFrom(make.Queue("default").Obj()))...)
			if got := strings.Join(bound, " "); got != c.want {
				t.Errorf("bound %q, want %q\n%s", got, c.want, clustertest.Describe(m))
			}
		})
	}
}
