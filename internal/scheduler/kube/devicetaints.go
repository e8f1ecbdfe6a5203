package kube

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/vc-batch/vc/internal/model"
)

// ruleTaints adds the taints of DeviceTaintRules to resource slices. It caches the results until a rule or a slice
// changes.
type ruleTaints struct {
	cluster *model.Cluster
	gen     uint64 // the sum of the generations of rules and slices for which the cache is valid
	rules   []*resourcev1.DeviceTaintRule
	slices  map[*resourcev1.ResourceSlice]*resourcev1.ResourceSlice
}

// withTaints returns a slice whose devices have the taints of the cluster's rules. This is the given slice if no rule
// selects a device of it.
func (r *ruleTaints) withTaints(cluster *model.Cluster, slice *resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
	store := &cluster.Attachable.TaintRules
	if store.Len() == 0 {
		return slice
	}
	if gen := store.Gen + cluster.Attachable.Slices.Gen; r.cluster != cluster || r.gen != gen {
		*r = ruleTaints{cluster: cluster, gen: gen, slices: map[*resourcev1.ResourceSlice]*resourcev1.ResourceSlice{}}
		for _, key := range store.Keys() {
			if rule, ok := store.Get(key); ok {
				r.rules = append(r.rules, rule)
			}
		}
	}
	tainted, known := r.slices[slice]
	if !known {
		tainted = taintSlice(slice, r.rules)
		r.slices[slice] = tainted
	}
	return tainted
}

// taintSlice returns a copy of a slice with the taints of the rules that select its devices. It returns the slice
// itself if there are none.
func taintSlice(slice *resourcev1.ResourceSlice, rules []*resourcev1.DeviceTaintRule) *resourcev1.ResourceSlice {
	tainted := slice
	for _, rule := range rules {
		for i := range slice.Spec.Devices {
			if !selectsDevice(rule.Spec.DeviceSelector, &slice.Spec, slice.Spec.Devices[i].Name) {
				continue
			}
			if tainted == slice {
				tainted = slice.DeepCopy()
			}
			device := &tainted.Spec.Devices[i]
			device.Taints = append(device.Taints, rule.Spec.Taint)
		}
	}
	return tainted
}

// selectsDevice reports whether the selector of a rule selects a device. No selector selects no device, and an empty
// selector selects all devices.
func selectsDevice(selector *resourcev1.DeviceTaintSelector, slice *resourcev1.ResourceSliceSpec, device string) bool {
	if selector == nil {
		return false
	}
	matches := func(want *string, value string) bool { return want == nil || *want == value }
	return matches(selector.Driver, slice.Driver) && matches(selector.Pool, slice.Pool.Name) && matches(selector.Device, device)
}
