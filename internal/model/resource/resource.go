package resource

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Indexes of the resources that every Cluster contains from the start.
const (
	CPU = iota
	Memory
	Pods
	Storage
)

const (
	// MaxAmount limits every request of a pod. The capacity of a node is always less, so a pod that requests more
	// than this cannot be placed by mistake because of an overflow.
	MaxAmount = int64(1) << 50
	// MaxSum limits the sums over many pods or nodes, and limits in specs such as a queue's capability or a gang's
	// minimum. Two such sums can be added without overflow.
	MaxSum = int64(1) << 62
)

// Amount is a quantity of a named resource.
type Amount struct {
	Name  corev1.ResourceName
	Value int64
}

// Term is a quantity of a resource that is identified by its index.
type Term struct {
	Index int32
	Value int64
}

// Request is a sparse vector: a list of terms with positive values, sorted by index.
type Request []Term

// Get returns the value at a resource index; 0 if it is missing.
func (r Request) Get(index int) int64 {
	for _, t := range r {
		if int(t.Index) == index {
			return t.Value
		}
	}
	return 0
}

// IsEmpty reports whether the request contains nothing but the pod's own slot.
func (r Request) IsEmpty() bool {
	for _, t := range r {
		if t.Index != Pods && t.Value > 0 {
			return false
		}
	}
	return true
}

// Names assigns small indexes to resource names. Indexes are assigned in the order of first use, so decisions
// must not depend on their order.
type Names struct {
	names []string
	index map[string]int
}

// NewNames returns the names that every Cluster contains from the start.
func NewNames() *Names {
	r := &Names{index: map[string]int{}}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage} {
		r.Index(string(name))
	}
	return r
}

// Clone returns a copy.
func (r *Names) Clone() *Names {
	return &Names{names: slices.Clone(r.names), index: maps.Clone(r.index)}
}

// Len returns the number of resource names.
func (r *Names) Len() int { return len(r.names) }

// Name returns the resource name with the given index.
func (r *Names) Name(index int) string { return r.names[index] }

// Index returns the index of a resource name. A new name gets the next index.
func (r *Names) Index(name string) int {
	i, ok := r.index[name]
	if !ok {
		i = len(r.names)
		r.names = append(r.names, name)
		r.index[name] = i
	}
	return i
}

// Find returns the index of a resource name. ok is false if the name has no index.
func (r *Names) Find(name string) (index int, ok bool) {
	index, ok = r.index[name]
	return index, ok
}

// Request converts amounts to a Request. It omits amounts that are zero or negative.
func (r *Names) Request(amounts []Amount) Request {
	out := make(Request, 0, len(amounts))
	for _, a := range amounts {
		if a.Value > 0 {
			out = append(out, Term{Index: int32(r.Index(string(a.Name))), Value: a.Value})
		}
	}
	slices.SortFunc(out, func(a, b Term) int { return int(a.Index - b.Index) })
	return out
}

// Vec is a dense vector, indexed by resource. Values beyond its end are zero.
type Vec []int64

// Get returns the value at an index; 0 if the index is beyond the end.
func (v Vec) Get(index int) int64 {
	if index < len(v) {
		return v[index]
	}
	return 0
}

// Request returns the positive values of the vector as a request.
func (v Vec) Request() Request {
	var out Request
	for i, value := range v {
		if value > 0 {
			out = append(out, Term{Index: int32(i), Value: value})
		}
	}
	return out
}

// Add adds a request to the vector, which grows as needed. Values are limited to MaxSum.
func (v *Vec) Add(r Request) {
	for _, t := range r {
		v.growToLength(int(t.Index) + 1)
		(*v)[t.Index] = min((*v)[t.Index]+t.Value, MaxSum)
	}
}

// Sub subtracts a request. Values do not become negative.
func (v Vec) Sub(r Request) {
	for _, t := range r {
		if int(t.Index) < len(v) {
			v[t.Index] = max(v[t.Index]-t.Value, 0)
		}
	}
}

func (v *Vec) growToLength(n int) {
	for len(*v) < n {
		*v = append(*v, 0)
	}
}

// Clear sets every value to zero.
func (v Vec) Clear() {
	for i := range v {
		v[i] = 0
	}
}

// IsAllZero reports whether every value is zero.
func (v Vec) IsAllZero() bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// Clone returns a copy of the vector.
func (v Vec) Clone() Vec { return slices.Clone(v) }

// Rounding converts a quantity to the model's unit.
type Rounding func(corev1.ResourceName, resource.Quantity) int64

// RoundUp converts an amount of a single pod, such as a request. It rounds up, to at most MaxAmount.
func RoundUp(name corev1.ResourceName, q resource.Quantity) int64 {
	return roundUpToUnit(name, q, MaxAmount)
}

// RoundDown converts an amount of a single node, such as a capacity. It rounds down, to less than MaxAmount.
func RoundDown(name corev1.ResourceName, q resource.Quantity) int64 {
	return roundDownToUnit(name, q, MaxAmount-1)
}

// RoundUpSum converts an amount of a gang or a queue. It rounds up, to at most MaxSum.
func RoundUpSum(name corev1.ResourceName, q resource.Quantity) int64 {
	return roundUpToUnit(name, q, MaxSum)
}

// RoundDownSum is like RoundUpSum, but rounds down.
func RoundDownSum(name corev1.ResourceName, q resource.Quantity) int64 {
	return roundDownToUnit(name, q, MaxSum)
}

// roundUpToUnit converts a quantity to the model's unit. It rounds up and limits the result to the range 0 to bound.
func roundUpToUnit(name corev1.ResourceName, q resource.Quantity, bound int64) int64 {
	limit := bound
	if name == corev1.ResourceCPU {
		limit /= 1000
	}
	if q.CmpInt64(limit) >= 0 {
		return bound
	}
	if q.Sign() <= 0 {
		return 0
	}
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// roundDownToUnit is like roundUpToUnit, but rounds down.
func roundDownToUnit(name corev1.ResourceName, q resource.Quantity, bound int64) int64 {
	v := roundUpToUnit(name, q, bound)
	if v <= 0 {
		return 0
	}
	if name == corev1.ResourceCPU {
		if resource.NewMilliQuantity(v, resource.DecimalSI).Cmp(q) > 0 && v < bound {
			v--
		}
		return v
	}
	if q.CmpInt64(v) < 0 {
		v--
	}
	return v
}

// AmountsFrom converts a resource list to amounts, sorted by name.
func AmountsFrom(list corev1.ResourceList, convert Rounding) []Amount {
	if len(list) == 0 {
		return nil
	}
	out := make([]Amount, 0, len(list))
	for name, q := range list {
		if schedulingv1beta1.IsNodeResource(name) {
			out = append(out, Amount{Name: name, Value: convert(name, q)})
		}
	}
	slices.SortFunc(out, CompareByName)
	return out
}

// CompareByName orders amounts by the name of the resource.
func CompareByName(a, b Amount) int { return cmp.Compare(a.Name, b.Name) }

// Quantity converts a model amount to an API quantity.
func Quantity(name string, value int64) resource.Quantity {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(value, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(value, resource.BinarySI)
	}
	return *resource.NewQuantity(value, resource.DecimalSI)
}

// IsSharedDevice reports whether a resource belongs to devices that pods share. Only the deviceshare policy can place
// pods that request them.
func IsSharedDevice(name corev1.ResourceName) bool {
	return name == keys.GPUMemory || name == keys.GPUNumber || strings.HasPrefix(string(name), "volcano.sh/vgpu-")
}

// SharedDevices returns the amounts of shared devices in a list, sorted by name.
func SharedDevices(list corev1.ResourceList, convert Rounding) []Amount {
	var out []Amount
	for name, q := range list {
		if IsSharedDevice(name) {
			out = append(out, Amount{Name: name, Value: convert(name, q)})
		}
	}
	slices.SortFunc(out, CompareByName)
	return out
}
