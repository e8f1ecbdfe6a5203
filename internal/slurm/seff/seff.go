// Package seff implements the output of seff, which compares what a job used with what it requested.
//
//	In:   the line of a job in the output of sacct
//	Out:  text
package seff

import (
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Format returns the output for a job. The fields and their order are the same as in Slurm's seff.
func Format(line *sacct.Line) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Job ID: %s\n", line.RawID())
	if line.IsArray() {
		fmt.Fprintf(&b, "Array Job ID: %s\n", line.DisplayID(-1))
	}
	fmt.Fprintf(&b, "Cluster: %s\n", line.Cluster)
	fmt.Fprintf(&b, "User/Group: %s/%s\n", line.UserName(), line.Asked.Group)
	fmt.Fprintf(&b, "State: %s (exit code %d)\n", line.Code.LongName(), line.Ended.Code)
	request := line.TotalRequest()
	switch nodes := max(line.Pods, 1); {
	case request.CPUs <= 1:
		b.WriteString("Cores: 1\n")
	case nodes == 1:
		fmt.Fprintf(&b, "Nodes: 1\nCores per node: %d\n", request.CPUs)
	default:
		fmt.Fprintf(&b, "Nodes: %d\nCores per node: %d\n", nodes, request.CPUs/nodes)
	}
	elapsed := line.ElapsedTime()
	used := time.Duration(line.Usage.CPUMillis) * time.Millisecond
	available := elapsed * time.Duration(max(request.CPUs, 1))
	fmt.Fprintf(&b, "CPU Utilized: %s\n", state.LongClock(used))
	fmt.Fprintf(&b, "CPU Efficiency: %.2f%% of %s core-walltime\n", percent(float64(used), float64(available)), state.LongClock(available))
	fmt.Fprintf(&b, "Job Wall-clock time: %s\n", state.LongClock(elapsed))
	memory := line.Usage.MaxRSS << 10
	fmt.Fprintf(&b, "Memory Utilized: %s\n", formatBytes(memory))
	perNode := request.Memory / int64(max(line.Pods, 1))
	fmt.Fprintf(&b, "Memory Efficiency: %.2f%% of %s (%s/node)\n", percent(float64(memory), float64(request.Memory)), formatBytes(request.Memory), formatBytes(perNode))
	if gpus := GPUTimeOf(line); gpus.Available > 0 && gpus.Measured > 0 {
		fmt.Fprintf(&b, "GPU Utilized: %s\n", state.LongClock(gpus.Used))
		fmt.Fprintf(&b, "GPU Efficiency: %.2f%% of %s gpu-walltime\n", percent(float64(gpus.Used), float64(gpus.Available)), state.LongClock(gpus.Available))
	}
	return b.String()
}

// GPUTime describes the use of GPUs by a job.
type GPUTime struct {
	// Used is the sum of the utilizations over time.
	Used time.Duration
	// Measured is the time for which GPUs were measured, and Available the time for which the job had them.
	Measured, Available time.Duration
}

// HasGaps reports whether the GPUs of a job were measured, but for less than nine tenths of the time.
func (t GPUTime) HasGaps() bool {
	return t.Measured > 0 && t.Measured < t.Available/10*9
}

// GPUTimeOf returns the use of GPUs by the job of a line. The request does not contain the GPUs of resource claims, so the
// number of measured GPUs counts if it is larger.
func GPUTimeOf(line *sacct.Line) GPUTime {
	count := int64(0)
	for name, amount := range line.TotalRequest().Devices {
		if listrow.GresName(name) == "gpu" {
			count += amount
		}
	}
	count = max(count, measuredGPUs(line))
	return GPUTime{
		Used:      time.Duration(line.Usage.GPUMillis) * time.Millisecond,
		Measured:  time.Duration(line.Usage.GPUMeasuredMillis) * time.Millisecond,
		Available: line.ElapsedTime() * time.Duration(count),
	}
}

// measuredGPUs returns the number of GPUs that were measured. If it was not recorded, it is estimated from the measured time
// and the elapsed time.
func measuredGPUs(line *sacct.Line) int64 {
	elapsed, measured := line.ElapsedTime().Milliseconds(), line.Usage.GPUMeasuredMillis
	if line.Usage.GPUs > 0 || elapsed == 0 || measured == 0 {
		return line.Usage.GPUs
	}
	return max(1, (measured+elapsed/2)/elapsed)
}

// percent returns a part of a whole in percent. It is 0 if the whole is 0.
func percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// formatBytes formats bytes with two decimals in the largest unit of which there is at least one, but at least in
// megabytes of 2^20 bytes.
func formatBytes(bytes int64) string {
	value, unit := float64(bytes)/(1<<20), 0
	units := []string{"MB", "GB", "TB", "PB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.2f %s", value, units[unit])
}
