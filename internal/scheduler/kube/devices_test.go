package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// deviceWorld is a random cluster with devices on single nodes and devices reachable from all nodes.
type deviceWorld struct {
	nodes  []*corev1.Node
	slices []*resourcev1.ResourceSlice
	claims []*resourcev1.ResourceClaim
}

// drivers lists the drivers that publish devices; class "odd" has none.
var drivers = []string{"cards", "nets"}

func drawDevices(t *rapid.T) *deviceWorld {
	w := &deviceWorld{}
	for i := range 3 {
		b := make.Node(fmt.Sprintf("n%d", i))
		if rapid.Bool().Draw(t, "east") {
			b.Label("rack", "east")
		}
		w.nodes = append(w.nodes, b.Obj())
		for _, driver := range drivers {
			if n := rapid.IntRange(0, 2).Draw(t, driver); n > 0 {
				node := b.Obj().Name
				w.slice(node+"-"+driver, driver, n, func(s *resourcev1.ResourceSliceSpec) { s.NodeName = &node })
			}
		}
	}
	if rapid.Bool().Draw(t, "for all") {
		yes := true
		w.slice("all", "nets", 1, func(s *resourcev1.ResourceSliceSpec) { s.AllNodes = &yes })
	}
	if rapid.Bool().Draw(t, "for a rack") {
		w.slice("rack", "cards", 1, func(s *resourcev1.ResourceSliceSpec) {
			s.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"east"}}},
			}}}
		})
	}
	for i := range 4 {
		w.claim(t, fmt.Sprintf("claim%d", i))
	}
	return w
}

func (w *deviceWorld) slice(name, driver string, devices int, where func(*resourcev1.ResourceSliceSpec)) {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
	}}
	where(&s.Spec)
	for i := range devices {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("d%d", i)})
	}
	w.slices = append(w.slices, s)
}

func (w *deviceWorld) claim(t *rapid.T, name string) {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: "1"}}
	for i := range rapid.IntRange(0, 2).Draw(t, "requests") {
		class := rapid.SampledFrom([]string{"cards", "cards", "nets", "odd"}).Draw(t, "class")
		r := resourcev1.DeviceRequest{Name: fmt.Sprintf("r%d", i)}
		mode, count := resourcev1.DeviceAllocationModeExactCount, int64(rapid.IntRange(1, 2).Draw(t, "count"))
		if rapid.IntRange(0, 5).Draw(t, "all") == 0 {
			mode, count = resourcev1.DeviceAllocationModeAll, 0
		}
		if rapid.IntRange(0, 3).Draw(t, "alternatives") == 0 {
			for k, class := range []string{class, "nets"} {
				r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{Name: fmt.Sprintf("s%d", k), DeviceClassName: class, AllocationMode: mode, Count: count})
			}
		} else {
			r.Exactly = &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: mode, Count: count}
		}
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, r)
	}
	w.claims = append(w.claims, c)
}

// classes lists the device classes for both sides.
func classes() []*resourcev1.DeviceClass {
	var out []*resourcev1.DeviceClass
	for _, driver := range append([]string{"odd"}, drivers...) {
		out = append(out, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: driver, ResourceVersion: "1"}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}}},
		}})
	}
	return out
}

// allocates runs Kubernetes' allocator with all slices and all allocated devices.
func (w *deviceWorld) allocates(t *rapid.T, a *Adapter, node *corev1.Node, claim *resourcev1.ResourceClaim, taken *structured.AllocatedState) bool {
	f := featureGates(everything)
	allocator, err := structured.NewAllocator(context.Background(), dynamicresources.AllocatorFeatures(f), *taken, classLister{a.handle.devices}, w.slices, cel.NewCache(10, cel.Features{}))
	if err != nil {
		t.Fatal(err)
	}
	result, err := allocator.Allocate(context.Background(), node, []*resourcev1.ResourceClaim{claim})
	if err != nil && !errors.Is(err, structured.ErrFailedAllocationOnNode) {
		t.Fatal(err)
	}
	return len(result) == 1
}

// TestDevicesAgree checks, for random devices and claims, that the adapter's results equal the results of
// Kubernetes' allocator on the complete state, also after claims got devices.
func TestDevicesAgree(t *testing.T) {
	propertytest.Check(t, 2000, func(t *rapid.T) {
		w := drawDevices(t)
		c := model.New()
		for _, n := range w.nodes {
			c.Apply(model.NodeFrom(n))
		}
		for _, o := range classes() {
			c.Apply(model.ObjectSet{Object: o})
		}
		for _, o := range w.slices {
			c.Apply(model.ObjectSet{Object: o})
		}
		for _, claim := range w.claims {
			c.Apply(model.ObjectSet{Object: claim})
			pod := make.Pod("for-" + claim.Name).Obj()
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "it", ResourceClaimName: &claim.Name}}
			c.Apply(model.TaskFrom(pod, true))
		}
		var view overlay.Overlay
		view.Sync(c)
		a := New()
		a.Open(&session.Session{Cluster: c, View: &view}, everything)
		taken := newDevices(a).allocatedState()
		for _, claim := range w.claims {
			task := c.Task(types.UID("pod-for-" + claim.Name))
			var fits []model.NodeID
			for _, n := range w.nodes {
				id, _ := c.Nodes.Find(n.Name)
				got, want := a.judgeNode(task.Shape, id, false), w.allocates(t, a, n, claim, taken)
				if (got.code == "") != want {
					t.Fatalf("%s on %s: adapter says %q %s, the allocator %t", claim.Name, n.Name, got.code, got.detail, want)
				}
				if want {
					fits = append(fits, id)
				}
			}
			if len(fits) == 0 {
				continue
			}
			id := rapid.SampledFrom(fits).Draw(t, "takes")
			a.followPlaced(task, id, 1)
			if at := a.Decided(task, id); at == nil || at.Problem != "" || len(at.Devices) != 1 || at.Devices[0].Allocation == nil {
				t.Fatalf("%s takes a node and gets %+v", claim.Name, at)
			}
			if rapid.Bool().Draw(t, "undone") {
				a.followPlaced(task, id, -1)
				continue
			}
			given := claim.DeepCopy()
			given.Status.Allocation = a.Decided(task, id).Devices[0].Allocation
			addAllocatedDevices(taken, given)
		}
	})
}
