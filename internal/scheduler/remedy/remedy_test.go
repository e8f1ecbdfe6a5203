package remedy_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/schedulertest"
)

// advised are the helps of a kind that are advised to a gang.
func advised(c *model.Cluster, gang, kind string) (texts []string) {
	if e := c.Gangs["default/"+gang].Status.Explanation; e != nil {
		for _, h := range e.Helps {
			if h.Kind == kind {
				texts = append(texts, h.Text)
			}
		}
	}
	return texts
}

// TestNothingIsAdvisedThatDoesNotHelp has worlds in which a change looks as if it helped.
func TestNothingIsAdvisedThatDoesNotHelp(t *testing.T) {
	pod := func(b *make.PodBuilder) model.Delta { return model.TaskFrom(b.Obj(), true) }
	node := func(b *make.NodeBuilder) model.Delta { return model.NodeFrom(b.Obj()) }
	high := &schedulingk8s.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 10}
	for name, c := range map[string]struct {
		world []model.Delta
		kind  string
	}{
		"a queue for a job whose pods are larger than every node": {[]model.Delta{
			node(make.Node("a").CPU("2")), node(make.Node("b").CPU("2")), model.GangFrom(make.Gang("g").Queue("nowhere").Min(1).MinTask("t", 2).MinResource("cpu", "3").Obj()),
		}, schedulingv1beta1.HelpCreateQueue},
		"another queue for the head of a strict queue, whose place the next one takes": {[]model.Delta{
			node(make.Node("a").CPU("9").Resource("pods", "2")), model.QueueFrom(make.Queue("first").Fifo().Capability("cpu", "2").Obj()), model.QueueFrom(make.Queue("second").Obj()),
			model.GangFrom(make.Gang("runs").Queue("first").Obj()), pod(make.Pod("runs-0").Gang("runs").CPU("1").On("a").Phase(corev1.PodRunning)),
			model.GangFrom(make.Gang("g").Queue("first").Min(1).Age(time.Second).Obj()), pod(make.Pod("g-0").Gang("g").CPU("2")),
			model.GangFrom(make.Gang("next").Queue("first").Age(2 * time.Second).Obj()), pod(make.Pod("next-0").Gang("next").CPU("1")),
		}, schedulingv1beta1.HelpOtherQueue},
		"a capability that a pod of the gang before it, at the queue's gate, takes": {[]model.Delta{
			node(make.Node("a").CPU("9")), model.QueueFrom(make.Queue("q").Capability("cpu", "2").Obj()),
			model.PriorityClassFrom(high), model.GangFrom(make.Gang("runs").Queue("q").PriorityClass("high").Obj()),
			pod(make.Pod("runs-0").Gang("runs").CPU("1").On("a").Phase(corev1.PodRunning)),
			pod(make.Pod("runs-1").Gang("runs").CPU("2").Annotation(keys.QueueAllocationGate, "true").Gate(keys.QueueAllocationGate)),
			model.GangFrom(make.Gang("g").Queue("q").Min(1).Age(time.Second).Obj()), pod(make.Pod("g-0").Gang("g").CPU("3")),
		}, schedulingv1beta1.HelpRaiseCapability},
		"a toleration for a pod with a spread, which may take the other's node then": {[]model.Delta{
			node(make.Node("a").CPU("4").Resource("pods", "1").Label("zone", "x").Taint("dedicated", "", corev1.TaintEffectNoSchedule)),
			node(make.Node("b").CPU("2").Resource("pods", "1").Label("zone", "y")),
			model.QueueFrom(make.Queue("default").Obj()), model.GangFrom(make.Gang("g").Queue("default").Min(2).Obj()),
			pod(make.Pod("g-0").Gang("g").CPU("1").Label("app", "a").Spread("zone", 1)), pod(make.Pod("g-1").Gang("g").CPU("1").Select("zone", "x")),
		}, schedulingv1beta1.HelpAddToleration},
	} {
		t.Run(name, func(t *testing.T) {
			m := model.New()
			schedulertest.BindInCycles(t, config.DefaultText, m, c.world...)
			if m.Gangs["default/g"].Status.Explanation == nil {
				t.Fatal("it does not wait")
			}
			if texts := advised(m, "g", c.kind); len(texts) > 0 {
				t.Errorf("advised: %s", texts)
			}
		})
	}
}

// TestFewerMembersOutsideAQueueNeedFewerMinResources checks that the help names minResources where no controller writes
// it.
func TestFewerMembersOutsideAQueueNeedFewerMinResources(t *testing.T) {
	for name, c := range map[string]struct {
		ofAJob bool
		want   string
	}{
		"of a PodGroup": {false, "with minAvailable 1 instead of 2, and matching minResources, the job would start now"},
		"of a job":      {true, "with minAvailable 1 instead of 2, the job would start now"},
	} {
		t.Run(name, func(t *testing.T) {
			gang := make.Gang("g").Queue("default").Min(2).MinResource("cpu", "2").Obj()
			if c.ofAJob {
				gang.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: "g"}}
			}
			m := model.New()
			schedulertest.BindInCycles(t, clustertest.Configurations["Volcano's"], m, model.NodeFrom(make.Node("a").CPU("1").Obj()), model.QueueFrom(make.Queue("default").Obj()), model.GangFrom(gang),
				model.TaskFrom(make.Pod("g-0").Gang("g").CPU("1").Obj(), true), model.TaskFrom(make.Pod("g-1").Gang("g").CPU("1").Obj(), true))
			if got := advised(m, "g", schedulingv1beta1.HelpFewerMembers); !slices.Contains(got, c.want) {
				t.Errorf("advised %q, want %q", got, c.want)
			}
		})
	}
}
