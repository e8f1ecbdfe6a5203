package launchconfig

import (
	"encoding/json"
	"strings"
)

// MaxReport is the maximum size of a termination message in Kubernetes, in bytes.
const MaxReport = 4096

// Report is the launcher's final report about the script and its steps. It becomes the termination message of the
// head's container.
type Report struct {
	// Kind distinguishes a Report from other termination messages.
	Kind string `json:"kind"`
	// Code and Signal describe how the script ended.
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Usage is the resource usage of the whole head pod. Its fields are 0 if the usage could not be read.
	Usage
	// Steps lists the latest steps, oldest first. Forgotten is the number of steps before them.
	Steps     []Step `json:"steps,omitempty"`
	Forgotten int    `json:"forgotten,omitempty"`
}

// ReportKind is the Kind of a Report.
const ReportKind = "vc-slurm"

// Usage is the resource usage of processes.
type Usage struct {
	// CPUMillis is the user and system CPU time in milliseconds.
	CPUMillis int64 `json:"cpu,omitempty"`
	// MaxRSS is the largest resident memory of any task, in KiB.
	MaxRSS int64 `json:"rss,omitempty"`
	// GPUMillis is the sum of the utilizations of GPUs over time in milliseconds, and GPUMeasuredMillis the sum of the
	// times for which each GPU was measured. Launchers do not measure GPUs, so reports do not contain these fields.
	GPUMillis         int64 `json:"-"`
	GPUMeasuredMillis int64 `json:"-"`
	// GPUs is the number of measured GPUs. It is 0 if the number is unknown.
	GPUs int64 `json:"-"`
}

// Step is the record of a step that srun started.
type Step struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Nodes string `json:"nodes"`
	Tasks int    `json:"tasks"`
	CPUs  int    `json:"cpus,omitempty"`
	// Start and End are in seconds since the epoch. End is 0 while the step is running.
	Start int64 `json:"start"`
	End   int64 `json:"end,omitempty"`
	// Code is the highest exit code of the tasks. Signal is the first signal that ended a task.
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Cancelled is true if a user ended the step with a signal.
	Cancelled bool `json:"cancelled,omitempty"`
	Usage
}

// keptSteps is the maximum number of steps in a report.
const keptSteps = 50

// EncodeText encodes the report in at most MaxReport bytes. If necessary, it drops the oldest steps.
func (r Report) EncodeText() string {
	r.Kind = ReportKind
	drop := max(0, len(r.Steps)-keptSteps)
	r.Steps, r.Forgotten = r.Steps[drop:], r.Forgotten+drop
	for {
		text, err := json.Marshal(r)
		if err != nil {
			return ""
		}
		if len(text) <= MaxReport || len(r.Steps) == 0 {
			return string(text)
		}
		r.Steps, r.Forgotten = r.Steps[1:], r.Forgotten+1
	}
}

// ParseReport decodes a termination message. ok is false if the message was not written by the launcher.
func ParseReport(message string) (r Report, ok bool) {
	if !strings.HasPrefix(message, `{"kind":"`+ReportKind+`"`) || json.Unmarshal([]byte(message), &r) != nil {
		return Report{}, false
	}
	return r, true
}
