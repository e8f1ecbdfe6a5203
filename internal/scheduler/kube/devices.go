package kube

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/apiobject"
)

// devices implements the interface through which the DynamicResources plugin reads and changes device claims. It
// provides resource slices, device classes, and claims that include the allocations made in this cycle.
type devices struct {
	a *Adapter
	// pending maps keys to the claims that got devices in this cycle, with the number of placed tasks that use each
	// claim.
	pending map[string]*pendingClaim
	byUID   map[types.UID]string

	taints ruleTaints

	inUse    *structured.AllocatedState // valid for generation inUseGen
	inUseGen uint64
	inUseOf  *model.Cluster
}

type pendingClaim struct {
	claim *resourcev1.ResourceClaim
	users int
}

func newDevices(a *Adapter) *devices {
	return &devices{a: a, pending: map[string]*pendingClaim{}, byUID: map[types.UID]string{}}
}

// reset drops the state of the last cycle.
func (d *devices) reset() {
	if len(d.pending) > 0 {
		clear(d.pending)
		clear(d.byUID)
		d.inUse = nil
	}
}

func (d *devices) attachableObjects() *model.Attachable { return &d.a.cluster.Attachable }

// ResourceClaims returns the tracker for device claims.
func (d *devices) ResourceClaims() fwk.ResourceClaimTracker { return claimTracker{d: d} }

// ResourceSlices returns a lister for the resource slices that the node in focus can reach.
func (d *devices) ResourceSlices() fwk.ResourceSliceLister { return sliceLister{d} }

// DeviceClasses returns a lister for device classes.
func (d *devices) DeviceClasses() fwk.DeviceClassLister { return classLister{d} }

// DeviceClassResolver returns a resolver that maps no extended resource to a device class, because this feature is
// disabled.
func (d *devices) DeviceClassResolver() fwk.DeviceClassResolver { return noClass{} }

// getClaim returns a claim, including an allocation made in this cycle.
func (d *devices) getClaim(key string) (*resourcev1.ResourceClaim, bool) {
	if p, ok := d.pending[key]; ok {
		return p.claim, true
	}
	return d.attachableObjects().DeviceClaims.Get(key)
}

// useClaim records that one more task relies on a claim that was allocated in this cycle. releaseClaim reverses this.
func (d *devices) useClaim(key string) {
	if p, ok := d.pending[key]; ok {
		p.users++
	}
}

func (d *devices) releaseClaim(key string) {
	p, ok := d.pending[key]
	if !ok {
		return
	}
	if p.users--; p.users <= 0 {
		delete(d.pending, key)
		delete(d.byUID, p.claim.UID)
		d.inUse = nil
	}
}

// allocatedState returns the set of allocated devices.
func (d *devices) allocatedState() *structured.AllocatedState {
	claims := &d.attachableObjects().DeviceClaims
	if d.inUse != nil && d.inUseGen == claims.Gen && d.inUseOf == d.a.cluster {
		return d.inUse
	}
	d.inUse = &structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	d.inUseGen, d.inUseOf = claims.Gen, d.a.cluster
	claims.VisitObjects(func(key string, claim *resourcev1.ResourceClaim) { // the result is a set, so the order does not matter
		if p, ok := d.pending[key]; ok {
			claim = p.claim
		}
		addAllocatedDevices(d.inUse, claim)
	})
	return d.inUse
}

// addAllocatedDevices adds a claim's devices to the allocated devices. Devices with admin access do not count.
func addAllocatedDevices(state *structured.AllocatedState, claim *resourcev1.ResourceClaim) {
	if claim.Status.Allocation == nil {
		return
	}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if r.AdminAccess != nil && *r.AdminAccess {
			continue
		}
		id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
		if r.ShareID == nil {
			state.AllocatedDevices.Insert(id)
			continue
		}
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
		if r.ConsumedCapacity != nil {
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
		}
	}
}

// claimTracker implements the interface through which the plugin accesses device claims.
type claimTracker struct {
	fwk.ResourceClaimTracker
	d *devices
}

// Get returns a claim.
func (t claimTracker) Get(namespace, name string) (*resourcev1.ResourceClaim, error) {
	if claim, ok := t.d.getClaim(namespace + "/" + name); ok {
		return claim, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("resourceclaim"), name)
}

// ListAllAllocatedDevices returns the allocated devices.
func (t claimTracker) ListAllAllocatedDevices() (sets.Set[structured.DeviceID], error) {
	return t.d.allocatedState().AllocatedDevices, nil
}

// GatherAllocatedState returns the allocated devices and the consumed capacity of shared devices.
func (t claimTracker) GatherAllocatedState() (*structured.AllocatedState, error) {
	return t.d.allocatedState(), nil
}

// SignalClaimPendingAllocation stores the allocation of a claim for a task that was placed on a node.
func (t claimTracker) SignalClaimPendingAllocation(uid types.UID, claim *resourcev1.ResourceClaim) error {
	key := apiobject.Key(claim)
	if _, ok := t.d.pending[key]; ok {
		return errors.New("claim " + key + " has devices already")
	}
	t.d.pending[key] = &pendingClaim{claim: claim}
	t.d.byUID[uid] = key
	if t.d.inUse != nil {
		addAllocatedDevices(t.d.inUse, claim)
	}
	return nil
}

// GetPendingAllocation returns nil, because a claim that got devices in this cycle counts as allocated. This allows
// the next task to share the claim.
func (t claimTracker) GetPendingAllocation(types.UID) *resourcev1.AllocationResult { return nil }

// sliceLister lists the resource slices that the node in focus can reach.
type sliceLister struct{ d *devices }

// ListWithDeviceTaintRules returns the slices, sorted by name, with the taints of the rules that select their devices.
func (l sliceLister) ListWithDeviceTaintRules() ([]*resourcev1.ResourceSlice, error) {
	slices := &l.d.attachableObjects().Slices
	var out []*resourcev1.ResourceSlice
	for _, key := range mergeSortedKeys(slices.KeysInGroup(model.AnyHost), slices.KeysInGroup(l.d.a.focusedNodeName())) {
		if s, ok := slices.Get(key); ok {
			out = append(out, l.d.taints.withTaints(l.d.a.cluster, s))
		}
	}
	return out, nil
}

type classLister struct{ d *devices }

// List returns all device classes, sorted by name.
func (l classLister) List() ([]*resourcev1.DeviceClass, error) {
	classes := &l.d.attachableObjects().DeviceClasses
	var out []*resourcev1.DeviceClass
	for _, key := range classes.Keys() {
		if c, ok := classes.Get(key); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// Get returns a device class.
func (l classLister) Get(name string) (*resourcev1.DeviceClass, error) {
	if c, ok := l.d.attachableObjects().DeviceClasses.Get(name); ok {
		return c, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), name)
}

type noClass struct{}

// GetDeviceClass returns nil, because no resource maps to a device class.
func (noClass) GetDeviceClass(corev1.ResourceName) *resourcev1.DeviceClass { return nil }

// isReservedFor reports whether a claim is reserved for a pod.
func isReservedFor(claim *resourcev1.ResourceClaim, pod types.UID) bool {
	return slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod })
}
