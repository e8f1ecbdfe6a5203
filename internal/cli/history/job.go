package history

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/render"
)

// Job is an ended job, or an element of an array, as JSON and YAML show it.
type Job struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// ID is the number of the job, with the element of an array, such as 42_7.
	ID       string `json:"id,omitempty"`
	User     string `json:"user"`
	Account  string `json:"account,omitempty"`
	QOS      string `json:"qos,omitempty"`
	Queue    string `json:"queue"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	ExitCode int32  `json:"exitCode"`
	Restarts int32  `json:"restarts"`
	// Started is missing if the job did not start.
	Submitted time.Time  `json:"submitted"`
	Started   *time.Time `json:"started,omitempty"`
	Ended     time.Time  `json:"ended"`
	// WaitSeconds is the time for which the job waited for resources.
	WaitSeconds int64    `json:"waitSeconds"`
	RunSeconds  int64    `json:"runSeconds"`
	Pods        int32    `json:"pods"`
	Nodes       []string `json:"nodes,omitempty"`
	// MilliCPU, MemoryBytes and Other are the requested resources.
	MilliCPU    int64                `json:"milliCPU"`
	MemoryBytes int64                `json:"memoryBytes"`
	Other       accounting.Resources `json:"otherResources,omitempty"`
	// Use is missing if it was not measured.
	Use *Use `json:"use,omitempty"`
}

// Use is the measured use of a job.
type Use struct {
	CPUSeconds      float64 `json:"cpuSeconds"`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"`
	// GPUSeconds is the sum of the utilizations of GPUs over time, and GPUMeasuredSeconds the sum of the times for which each
	// GPU was measured. They are missing if no GPU was measured.
	GPUSeconds         *float64 `json:"gpuSeconds,omitempty"`
	GPUMeasuredSeconds *float64 `json:"gpuMeasuredSeconds,omitempty"`
	// The efficiencies are fractions of the requests; 1 means all. They are missing if nothing was requested.
	CPUEfficiency    *float64 `json:"cpuEfficiency,omitempty"`
	MemoryEfficiency *float64 `json:"memoryEfficiency,omitempty"`
	GPUEfficiency    *float64 `json:"gpuEfficiency,omitempty"`
}

// newJob returns the job of a record.
func newJob(r *accounting.Record) *Job {
	j := &Job{
		Cluster: r.Cluster, Namespace: r.Namespace, Name: r.Name, User: r.User, Account: r.Account, QOS: r.QOS, Queue: r.Queue,
		State: string(r.Outcome), Reason: r.Reason, ExitCode: r.ExitCode, Restarts: r.Attempt, Submitted: r.Submitted, Ended: r.Ended,
		RunSeconds: int64(r.Run() / time.Second), Pods: r.Pods, Nodes: r.NodeNames,
		MilliCPU: r.Requested[accounting.CPU], MemoryBytes: r.Requested[accounting.Memory] << 20,
	}
	if r.JobID != 0 {
		j.ID = batchv1alpha1.FormatJobID(r.JobID)
	}
	if r.Element != accounting.NoElement {
		j.Name += "[" + strconv.Itoa(int(r.Element)) + "]"
		if j.ID != "" {
			j.ID += "_" + strconv.Itoa(int(r.Element))
		}
	}
	waited := r.Ended
	if !r.Started.IsZero() {
		j.Started, waited = &r.Started, r.Started
	}
	if waited.After(r.Eligible) {
		j.WaitSeconds = int64(waited.Sub(r.Eligible) / time.Second)
	}
	for name, amount := range r.Requested {
		if name != accounting.CPU && name != accounting.Memory && name != accounting.Nodes {
			if j.Other == nil {
				j.Other = accounting.Resources{}
			}
			j.Other[name] = amount
		}
	}
	j.Use = newUse(r, j)
	return j
}

// newUse returns the measured use of a job, or nil.
func newUse(r *accounting.Record, j *Job) *Use {
	isMeasured := max(r.CPUTime, r.GPUMeasured) > 0 || r.PeakMemoryBytes > 0
	if !isMeasured {
		return nil
	}
	use := &Use{CPUSeconds: r.CPUTime.Seconds(), PeakMemoryBytes: r.PeakMemoryBytes}
	if requested := float64(j.MilliCPU) / 1000 * float64(j.RunSeconds); requested > 0 {
		part := use.CPUSeconds / requested
		use.CPUEfficiency = &part
	}
	if j.MemoryBytes > 0 {
		part := float64(use.PeakMemoryBytes) / float64(j.MemoryBytes)
		use.MemoryEfficiency = &part
	}
	use.addGPUs(r, j)
	return use
}

// addGPUs adds the use of GPUs, if it was measured.
func (u *Use) addGPUs(r *accounting.Record, j *Job) {
	if r.GPUMeasured == 0 {
		return
	}
	busy, measured := r.GPUTime.Seconds(), r.GPUMeasured.Seconds()
	u.GPUSeconds, u.GPUMeasuredSeconds = &busy, &measured
	if requested := float64(j.countGPUs() * j.RunSeconds); requested > 0 {
		part := busy / requested
		u.GPUEfficiency = &part
	}
}

// countGPUs returns the number of requested GPUs of all vendors.
func (j *Job) countGPUs() int64 {
	total := int64(0)
	for name, amount := range j.Other {
		if render.IsGPU(corev1.ResourceName(name)) {
			total += amount
		}
	}
	return total
}
