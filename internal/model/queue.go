package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"
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
	At                    time.Time         // when it was decided
}
