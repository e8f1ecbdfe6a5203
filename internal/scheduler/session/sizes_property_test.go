package session_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// sized is a world of idle nodes, one quota, and one job without pods. Amounts are whole.
type sized struct {
	nodes      []map[string]int64 // capacity of each
	request    map[string]int64   // request of a pod
	pods       int64
	hard, used int64 // cpu of the quota; hard is 0 without a quota
}

func drawSized(t *rapid.T) *sized {
	w := &sized{pods: rapid.Int64Range(1, 4).Draw(t, "pods"), request: map[string]int64{}}
	kinds := []string{"cpu", "memory", "nvidia.com/gpu"}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		w.nodes = append(w.nodes, map[string]int64{})
		for _, kind := range kinds {
			w.nodes[i][kind] = rapid.Int64Range(0, 4).Draw(t, kind)
		}
		w.nodes[i]["cpu"]++
	}
	for _, kind := range kinds {
		if n := rapid.Int64Range(0, 6).Draw(t, "asked"); n > 0 {
			w.request[kind] = n
		}
	}
	w.request["cpu"] = max(w.request["cpu"], 1)
	if rapid.Bool().Draw(t, "quota") {
		w.hard = rapid.Int64Range(1, 16).Draw(t, "hard")
		w.used = rapid.Int64Range(0, w.hard).Draw(t, "used")
	}
	return w
}

// explanation returns the explanation of a new engine for the job; nil if the job is admitted.
func (w *sized) explanation(t *rapid.T) *schedulingv1beta1.Explanation {
	c := model.New()
	queue := make.Queue("default").Weight(1).Obj()
	queue.Status.State = schedulingv1beta1.QueueStateOpen
	c.Apply(model.QueueFrom(queue))
	for i, has := range w.nodes {
		node := make.Node(fmt.Sprintf("n%d", i)).CPU("1").Memory("1").Obj()
		for kind, n := range has {
			node.Status.Allocatable[corev1.ResourceName(kind)] = *resource.NewQuantity(n, resource.DecimalSI)
		}
		c.Apply(model.NodeFrom(node))
	}
	if w.hard > 0 {
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tight"}}
		quota.Spec.Hard = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(w.hard, resource.DecimalSI)}
		quota.Status.Used = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(w.used, resource.DecimalSI)}
		c.Apply(model.QuotaFrom(quota))
	}
	gang, each := make.Gang("job").Min(int(w.pods)).MinTask("w", int(w.pods)).Queue("default"), corev1.ResourceList{}
	for kind, n := range w.request {
		each[corev1.ResourceName(kind)] = *resource.NewQuantity(n, resource.DecimalSI)
		gang.MinResource(kind, strconv.FormatInt(n*w.pods, 10))
	}
	text, err := json.Marshal(map[string]corev1.ResourceList{"w": each})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(model.GangFrom(gang.Annotation(keys.TaskRequests, string(text)).Obj()))
	e, err := scheduler.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	d := e.Cycle(make.Epoch, c)
	decision.Assume(c, &d)
	g := c.Gangs["default/job"]
	if g.Status.Phase == schedulingv1beta1.PodGroupInqueue {
		return nil
	}
	return g.Status.Explanation
}

// beyond returns the resources of which a pod requests more than any node has, with the maximum that a node has.
func (w *sized) beyond() map[string]int64 {
	out := map[string]int64{}
	for kind, asked := range w.request {
		most := int64(0)
		for _, has := range w.nodes {
			most = max(most, has[kind])
		}
		if asked > most {
			out[kind] = most
		}
	}
	return out
}

// TestReportedSizesAndQuotasMatchTheCluster checks the explanations of a job without pods. TooLarge is reported exactly if
// a pod requests more of some resource than every node has. It names all such resources with their numbers, and
// following the hint removes it. OverQuota has the numbers of the quota, and reducing the request to the rest of
// the quota removes it.
func TestReportedSizesAndQuotasMatchTheCluster(t *testing.T) {
	seen := map[string]int{}
	whole := propertytest.Check(t, 2000, func(t *rapid.T) {
		w := drawSized(t)
		e, beyond := w.explanation(t), w.beyond()
		code := ""
		if e != nil {
			code = e.Reason
		}
		seen[code]++
		if tooLarge := code == string(reason.TooLarge); tooLarge != (len(beyond) > 0) {
			t.Fatalf("%+v: %s, but beyond every node are %v", w, code, beyond)
		}
		switch code {
		case string(reason.TooLarge):
			if len(e.Short) != len(beyond) || !e.Never {
				t.Fatalf("%+v: %+v, want %v", w, e, beyond)
			}
			for _, s := range e.Short {
				most, is := beyond[string(s.Resource)]
				asked, available := resource.MustParse(s.Asked), resource.MustParse(s.Available)
				if !is || asked.Value() != w.request[string(s.Resource)] || available.Value() != most {
					t.Fatalf("%+v: short %+v, want %v", w, s, beyond)
				}
				w.request[string(s.Resource)] = most // as in the hint
			}
			if again := w.explanation(t); again != nil && again.Reason == code {
				t.Fatalf("%+v: it is still too large: %s", w, again.Message)
			}
		case string(reason.OverQuota):
			asked, left := w.request["cpu"]*w.pods, w.hard-w.used
			if asked <= left || e.Never != (asked > w.hard) || e.Short[0].Asked != strconv.FormatInt(asked, 10) || e.Short[0].Available != strconv.FormatInt(left, 10) {
				t.Fatalf("%+v: %+v", w, e)
			}
			if w.request["cpu"] = left / w.pods; w.request["cpu"] == 0 {
				return
			}
			if again := w.explanation(t); again != nil && again.Reason == code {
				t.Fatalf("%+v: it is still over its quota: %s", w, again.Message)
			}
		default:
			if w.hard > 0 && w.request["cpu"]*w.pods > w.hard-w.used {
				t.Fatalf("%+v: %q although the quota has insufficient free resources", w, code)
			}
		}
	})
	t.Logf("said: %v", seen)
	for _, code := range []string{string(reason.TooLarge), string(reason.OverQuota), ""} {
		if whole && seen[code] == 0 {
			t.Errorf("%q was never said", code)
		}
	}
}
