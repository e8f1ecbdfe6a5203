// Package podusage defines how the measured use of a pod is stored in an annotation of the pod.
//
//	In:   the use of a pod's containers
//	Out:  the value of the annotation, and Use, which is read from it
package podusage

import (
	"encoding/json"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
)

// Use holds the amounts that the containers of a pod have used so far, including their restarts.
type Use struct {
	// CPUMilliseconds is the user and system time of all processes.
	CPUMilliseconds int64 `json:"cpuMilliseconds"`
	// PeakMemoryBytes is the sum of the peaks of the containers, without page cache that the kernel could have freed.
	PeakMemoryBytes int64 `json:"peakMemoryBytes,omitempty"`
	// GPUMilliseconds is the sum of the utilizations of the pod's GPUs over time: 1000 for one GPU that was fully busy for a
	// second. GPUMeasuredMilliseconds is the sum, over all GPUs, of the time for which the GPU was measured. It is 0 if no GPU
	// was measured, and smaller than the run time times the number of GPUs if measurements are missing.
	GPUMilliseconds         int64 `json:"gpuMilliseconds,omitempty"`
	GPUMeasuredMilliseconds int64 `json:"gpuMeasuredMilliseconds,omitempty"`
	// GPUs is the largest number of GPUs that were measured at the same time. Claims of devices are not part of a pod, so this
	// is the only record of their number.
	GPUs int64 `json:"gpus,omitempty"`
	// GPUMeasuredUntil is the time of the latest measurement of GPUs, in seconds since 1970. A process that takes over reads
	// later measurements only.
	GPUMeasuredUntil int64 `json:"gpuMeasuredUntil,omitempty"`
}

// CPUTime returns the CPU time.
func (u Use) CPUTime() time.Duration { return time.Duration(u.CPUMilliseconds) * time.Millisecond }

// GPUTime returns the sum of the utilizations of the GPUs over time, and for how long GPUs were measured.
func (u Use) GPUTime() (busy, measured time.Duration) {
	return time.Duration(u.GPUMilliseconds) * time.Millisecond, time.Duration(u.GPUMeasuredMilliseconds) * time.Millisecond
}

// Max returns the maximum of each amount.
func (u Use) Max(other Use) Use {
	return Use{
		CPUMilliseconds: max(u.CPUMilliseconds, other.CPUMilliseconds), PeakMemoryBytes: max(u.PeakMemoryBytes, other.PeakMemoryBytes),
		GPUMilliseconds: max(u.GPUMilliseconds, other.GPUMilliseconds), GPUMeasuredMilliseconds: max(u.GPUMeasuredMilliseconds, other.GPUMeasuredMilliseconds),
		GPUs: max(u.GPUs, other.GPUs), GPUMeasuredUntil: max(u.GPUMeasuredUntil, other.GPUMeasuredUntil),
	}
}

// Encode returns the value of the annotation.
func (u Use) Encode() string {
	text, err := json.Marshal(u)
	if err != nil {
		panic(err) // numbers can always be encoded
	}
	return string(text)
}

// Of returns the use in the annotation of a pod. ok is false if the pod has no valid annotation, for example with a negative
// amount.
func Of(pod metav1.Object) (use Use, ok bool) {
	text := pod.GetAnnotations()[keys.Used]
	if text == "" || json.Unmarshal([]byte(text), &use) != nil || !use.isValid() {
		return Use{}, false
	}
	return use, true
}

const (
	// maxMilliseconds is the longest time that a time.Duration can hold.
	maxMilliseconds = int64(math.MaxInt64 / time.Millisecond)
	// maxBytes is more memory than a pod can have, but so little that the sum over many pods does not overflow.
	maxBytes = 1 << 53
	// maxGPUs is more GPUs than a pod can have.
	maxGPUs = 1 << 16
	// maxUnixSeconds is the latest Unix time in seconds whose nanoseconds fit into an int64. It is in the year 2262.
	maxUnixSeconds = int64(math.MaxInt64 / time.Second)
)

// isValid reports whether all amounts are in a range in which they can be used.
func (u Use) isValid() bool {
	for _, amount := range []struct{ value, limit int64 }{
		{u.CPUMilliseconds, maxMilliseconds}, {u.PeakMemoryBytes, maxBytes},
		{u.GPUMilliseconds, maxMilliseconds}, {u.GPUMeasuredMilliseconds, maxMilliseconds}, {u.GPUs, maxGPUs}, {u.GPUMeasuredUntil, maxUnixSeconds},
	} {
		if amount.value < 0 || amount.value > amount.limit {
			return false
		}
	}
	return true
}
