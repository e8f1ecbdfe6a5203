package reservation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestWhatHelpsBehindAHeadHelps (I12) is TestExplanationsAreTrue for worlds in which resources are reserved for a
// head: a gang with the advised run time, or the advised priority, starts. These helps are rare in the other test.
func TestWhatHelpsBehindAHeadHelps(t *testing.T) {
	kinds := map[string]int{}
	whole := propertytest.Check(t, 10000, func(t *rapid.T) {
		nodes := drawNodes(t)
		r := newRun(t, nodes)
		gangs := map[string]mixed{}
		for i := range rapid.IntRange(3, 9).Draw(t, "gangs") {
			name := fmt.Sprintf("g%d", i)
			gangs[name] = drawMixed(t, name, nodes)
			r.submitMixed(i, gangs[name])
		}
		r.step()
		var names []string
		var helps []schedulingv1beta1.Help
		for i := range len(gangs) {
			name := fmt.Sprintf("g%d", i)
			if e := r.model.Gangs["default/"+name].Status.Explanation; e != nil {
				for _, h := range e.Helps {
					if h.Kind == schedulingv1beta1.HelpShorterRun || h.Kind == schedulingv1beta1.HelpHigherPriority {
						names, helps = append(names, name), append(helps, h)
					}
				}
			}
		}
		if len(helps) == 0 {
			return
		}
		chosen := rapid.IntRange(0, len(helps)-1).Draw(t, "help")
		name, h := names[chosen], helps[chosen]
		kinds[h.Kind]++
		r.now = r.now.Add(-30 * time.Second) // half a minute after the explanation, when no pod has ended yet
		r.heed(t, gangs[name], h)
		d := r.engine.Cycle(r.now, r.model)
		decision.Assume(r.model, &d)
		for _, b := range d.Binds {
			if b.Gang.Name == name {
				return
			}
		}
		t.Fatalf("nodes %v: %+v did as told, %+v, and does not start\n%s", nodes, gangs[name], h, clustertest.Describe(r.model))
	})
	t.Logf("tried: %v", kinds)
	if whole && len(kinds) < 2 {
		t.Errorf("only these were advised: %v", kinds)
	}
}

// heed applies the advice to a gang.
func (r *run) heed(t *rapid.T, g mixed, h schedulingv1beta1.Help) {
	if h.Kind == schedulingv1beta1.HelpHigherPriority {
		var value int32
		if _, err := fmt.Sscan(h.To, &value); err != nil {
			t.Fatal(err)
		}
		old := r.model.Gangs["default/"+g.name]
		group := make.Gang(g.name).Min(g.least).Queue("default").PriorityClass("helpful").Age(old.Created.Sub(make.Epoch)).Obj()
		group.UID = types.UID(g.name)
		r.model.Apply(model.PriorityClassSet{Name: "helpful", Value: value}, model.GangFrom(group))
		return
	}
	for _, pod := range r.pods {
		if !strings.HasPrefix(pod.Name, g.name+"-") {
			continue
		}
		if h.Subject == schedulingv1beta1.RunTimeLimit {
			pod.Spec.ActiveDeadlineSeconds = clustertest.RunTimeSeconds(t, h)
		} else {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, keys.RunningEstimate, h.To)
		}
		r.model.Apply(model.TaskFrom(pod, true))
	}
}
