package model

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Queue is a queue and the sums over its gangs. If a gang names a queue that does not exist yet, the model contains
// the queue with Known set to false.
type Queue struct {
	Known       bool
	Name        string
	UID         types.UID
	Created     time.Time
	Weight      int32 // at least 1; SaidWeight is the weight in the queue's spec
	SaidWeight  int32
	Priority    int32
	Reclaimable bool
	Open        bool
	State       string
	Parent      string
	Fifo        bool
	Capability  resource.Request
	Guarantee   resource.Request
	Deserved    resource.Request
	Annotations map[string]string
	Affinity    *schedulingv1beta1.Affinity
	// HasCapability lists the resources that Capability names, even if their value is zero.
	HasCapability []int32

	Sums  Sums
	sums  exactSums // exact values of Sums
	Gangs int       // number of known gangs
	// Published is the status as it was last read or decided.
	Published QueuePublished
	Gen       uint64
}

// QueuePublished is the status that the scheduler wrote to a queue.
type QueuePublished struct {
	Allocated, Deserved   corev1.ResourceList
	Terminating           corev1.ResourceList
	SharePercent, Waiting int32
	Invalid               *metav1.Condition // the error in the queue's spec; nil if unset
	Decided               bool              // written by this process
	Unwritten             bool              // the write failed, so the API server may have another status
	// Unconfirmed means that the API server last showed another status than the decided one: the watch is late, or another
	// write has replaced the status.
	Unconfirmed bool
	// Rewrites is the number of times that the status was decided again without a change.
	Rewrites int
	At       time.Time // when it was decided
}

// RewriteTime returns when to write the status again because the API server shows another one. needed is false if the API
// server shows the decided status.
func (p *QueuePublished) RewriteTime() (at time.Time, needed bool) {
	return p.At.Add(rewriteDelay(p.Rewrites)), p.Unconfirmed
}

// IsSameStatus reports whether two statuses contain the same figures and the same error.
func (p *QueuePublished) IsSameStatus(other *QueuePublished) bool {
	if p.SharePercent != other.SharePercent || p.Waiting != other.Waiting || !isSameError(p.Invalid, other.Invalid) {
		return false
	}
	for _, pair := range [][2]corev1.ResourceList{{p.Allocated, other.Allocated}, {p.Deserved, other.Deserved}, {p.Terminating, other.Terminating}} {
		if !maps.EqualFunc(pair[0], pair[1], isSameQuantity) {
			return false
		}
	}
	return true
}

// isSameQuantity reports whether two quantities have the same value.
func isSameQuantity(x, y apiresource.Quantity) bool { return x.Cmp(y) == 0 }

// isSameError reports whether two conditions, which may be nil, describe the same error.
func isSameError(x, y *metav1.Condition) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.Reason == y.Reason && x.Message == y.Message
}
