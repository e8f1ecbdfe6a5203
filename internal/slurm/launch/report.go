package launch

import (
	"encoding/json"
	"strings"
)

// MaxReport is how many bytes Kubernetes keeps of what a container says at its end.
const MaxReport = 4096

// Report is what the launcher says at its end about the script and its steps: the termination message of the head's container.
type Report struct {
	// Kind tells a Report from anything else that a container may say.
	Kind string `json:"kind"`
	// Code and Signal are how the script ended.
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Usage is that of the whole head pod; zeros where it could not be read.
	Usage
	// Steps are the last ones, oldest first; Forgotten is how many came before them.
	Steps     []Step `json:"steps,omitempty"`
	Forgotten int    `json:"forgotten,omitempty"`
}

// ReportKind is the Kind of a Report.
const ReportKind = "vc-slurm"

// Usage is what processes used.
type Usage struct {
	// CPUMillis is processor time, user's and system's, in milliseconds.
	CPUMillis int64 `json:"cpu,omitempty"`
	// MaxRSS is the largest memory of one task, in KiB.
	MaxRSS int64 `json:"rss,omitempty"`
}

// Step is what srun started.
type Step struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Nodes string `json:"nodes"`
	Tasks int    `json:"tasks"`
	CPUs  int    `json:"cpus,omitempty"`
	// Start and End are seconds of the epoch; End is 0 while the step runs.
	Start int64 `json:"start"`
	End   int64 `json:"end,omitempty"`
	// Code is the highest of the tasks, Signal the first that ended one.
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Cancelled says that it was ended by a signal that somebody sent.
	Cancelled bool `json:"cancelled,omitempty"`
	Usage
}

// keptSteps is how many steps are remembered.
const keptSteps = 50

// Text is the report in at most MaxReport bytes: the oldest steps are forgotten first.
func (r Report) Text() string {
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

// ParseReport reads a termination message; ok is false when it is none of the launcher's.
func ParseReport(message string) (r Report, ok bool) {
	if !strings.HasPrefix(message, `{"kind":"`+ReportKind+`"`) || json.Unmarshal([]byte(message), &r) != nil {
		return Report{}, false
	}
	return r, true
}
