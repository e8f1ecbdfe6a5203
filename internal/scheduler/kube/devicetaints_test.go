package kube

import (
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/model"
)

// TestTaintRulesAgree checks that rules taint the same devices as in kube-scheduler.
func TestTaintRulesAgree(t *testing.T) {
	var objects []runtime.Object
	c := model.New()
	for _, driver := range []string{"cards", "nets"} {
		for _, pool := range []string{"n0", "n1"} {
			s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: driver + "-" + pool}, Spec: resourcev1.ResourceSliceSpec{Driver: driver, Pool: resourcev1.ResourcePool{Name: pool}}}
			s.Spec.Devices = []resourcev1.Device{{Name: "d0"}, {Name: "d1", Taints: []resourcev1.DeviceTaint{{Key: "own", Effect: resourcev1.DeviceTaintEffectNoSchedule}}}}
			objects = append(objects, s)
			c.Apply(model.ObjectSet{Object: s})
		}
	}
	for name, selector := range map[string]*resourcev1.DeviceTaintSelector{
		"none": nil, "all": {}, "driver": {Driver: new("cards")}, "pool": {Pool: new("n1")}, "device": {Device: new("d1")},
		"one": {Driver: new("nets"), Pool: new("n0"), Device: new("d0")}, "absent": {Driver: new("odd")},
	} {
		rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: name}}
		rule.Spec.DeviceSelector, rule.Spec.Taint = selector, resourcev1.DeviceTaint{Key: name, Effect: resourcev1.DeviceTaintEffectNoExecute}
		objects = append(objects, rule)
		c.Apply(model.ObjectSet{Object: rule})
	}

	want := trackedSlices(t, objects)
	var taints ruleTaints
	got := map[string][]string{}
	for _, key := range c.Attachable.Slices.Keys() {
		s, _ := c.Attachable.Slices.Get(key)
		addTaintKeys(got, taints.withTaints(c, s))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taints of devices (-kube-scheduler +ours):\n%s", diff)
	}
}

// trackedSlices returns the taints that kube-scheduler sees on each device.
func trackedSlices(t *testing.T, objects []runtime.Object) map[string][]string {
	t.Helper()
	ctx := klog.NewContext(t.Context(), logr.Discard())
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	kinds := factory.Resource().V1()
	tracked, err := tracker.StartTracker(ctx, tracker.Options{
		EnableDeviceTaintRules: true, SliceInformer: kinds.ResourceSlices(), TaintInformer: kinds.DeviceTaintRules(), KubeClient: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer tracked.Stop()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), tracked.HasSynced) {
		t.Fatal("the tracker did not synchronize")
	}
	all, err := tracked.ListPatchedResourceSlices()
	if err != nil {
		t.Fatal(err)
	}
	taints := map[string][]string{}
	for _, s := range all {
		addTaintKeys(taints, s)
	}
	return taints
}

func addTaintKeys(to map[string][]string, s *resourcev1.ResourceSlice) {
	for i := range s.Spec.Devices {
		var keys []string
		for _, taint := range s.Spec.Devices[i].Taints {
			keys = append(keys, taint.Key)
		}
		slices.Sort(keys)
		to[s.Name+"/"+s.Spec.Devices[i].Name] = keys
	}
}
