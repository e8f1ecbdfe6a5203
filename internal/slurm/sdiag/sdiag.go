// Package sdiag implements the output of sdiag: job counts and, if they are known, statistics about the scheduler's
// cycles.
//
//	In:   rows of jobs, the scheduler's metrics
//	Out:  a page in Slurm's format, a document for programs
//
// # Invariants
//
//   - All functions are pure. An unknown value is printed as N/A on the page and omitted from the document, and is
//     never invented.
package sdiag

import (
	"bufio"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Jobs holds the numbers of existing jobs by state. Each element of an array counts as a job.
type Jobs struct {
	Submitted int `json:"jobs_submitted"`
	Started   int `json:"jobs_started"`
	Completed int `json:"jobs_completed"`
	Canceled  int `json:"jobs_canceled"`
	Failed    int `json:"jobs_failed"`
	Pending   int `json:"jobs_pending"`
	Running   int `json:"jobs_running"`
	// Since is the time when the oldest of these jobs was submitted. It is zero if there are no jobs.
	Since time.Time `json:"-"`
}

// CountJobs counts the jobs in rows.
func CountJobs(rows []*listrow.Row) Jobs {
	var n Jobs
	for _, r := range rows {
		count := max(1, r.Elements.Count())
		n.Submitted += count
		if !r.Times.Start.IsZero() {
			n.Started += count
		}
		if at := r.Times.Submit; n.Since.IsZero() || at.Before(n.Since) {
			n.Since = at
		}
		switch code := r.State.Code; {
		case code == state.Completed:
			n.Completed += count
		case code == state.Cancelled:
			n.Canceled += count
		case code.HasEnded():
			n.Failed += count
		case code.BaseCode() == state.Pending:
			n.Pending += count
		default:
			n.Running += count
		}
	}
	return n
}

// Cycles describes the scheduler's cycles since its start.
type Cycles struct {
	Total int64 `json:"schedule_cycle_total"`
	// MeanMicros and SumMicros are times in microseconds.
	MeanMicros int64 `json:"schedule_cycle_mean"`
	SumMicros  int64 `json:"schedule_cycle_sum"`
	// Waiting is the number of gangs that currently cannot run.
	Waiting int64 `json:"schedule_queue_length"`
}

// The scheduler's metrics that this package reads.
const (
	cycleSum   = "volcano_e2e_scheduling_latency_milliseconds_sum"
	cycleCount = "volcano_e2e_scheduling_latency_milliseconds_count"
	waiting    = "volcano_unschedule_job_count"
)

// AddMetrics adds a scheduler's metrics, which are in Prometheus' text format. It reports whether they contain cycles,
// because only one of several scheduler replicas schedules.
func (c *Cycles) AddMetrics(metrics string) bool {
	found := false
	millis := 0.0
	scanner := bufio.NewScanner(strings.NewReader(metrics))
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		if len(fields) < 2 {
			continue
		}
		number, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			continue
		}
		switch fields[0] {
		case cycleSum:
			millis = number
		case cycleCount:
			c.Total, found = c.Total+int64(number), true
		case waiting:
			c.Waiting += int64(number)
		}
	}
	c.SumMicros += int64(math.Round(millis * 1000))
	if c.Total > 0 {
		c.MeanMicros = c.SumMicros / c.Total
	}
	return found
}

// unknown is printed for an unknown value.
const unknown = "N/A"

// PageText returns the output of sdiag. cycles is nil if the cycles are unknown.
func PageText(jobs Jobs, cycles *Cycles, now time.Time) string {
	const frame = "*******************************************************\n"
	since := jobs.Since
	if since.IsZero() {
		since = now
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%ssdiag output at %s\nData since      %s\n%s", frame, timeText(now), timeText(since), frame)
	fmt.Fprintf(&b, "Server thread count:  %[1]s\nRPC queue enabled:    0\nAgent queue size:     %[1]s\nAgent count:          %[1]s\nAgent thread count:   %[1]s\nDBD Agent queue size: 0\n\n", unknown)
	fmt.Fprintf(&b, "Jobs submitted: %d\nJobs started:   %d\nJobs completed: %d\nJobs canceled:  %d\nJobs failed:    %d\n\n", jobs.Submitted, jobs.Started, jobs.Completed, jobs.Canceled, jobs.Failed)
	fmt.Fprintf(&b, "Job states ts:  %s\nJobs pending:   %d\nJobs running:   %d\n\n", timeText(now), jobs.Pending, jobs.Running)
	total, mean, queue := unknown, unknown, unknown
	if cycles != nil {
		total, mean, queue = strconv.FormatInt(cycles.Total, 10), strconv.FormatInt(cycles.MeanMicros, 10), strconv.FormatInt(cycles.Waiting, 10)
	}
	fmt.Fprintf(&b, "Main schedule statistics (microseconds):\n\tLast cycle:   %[1]s\n\tMax cycle:    %[1]s\n\tTotal cycles: %[2]s\n\tMean cycle:   %[3]s\n\tMean depth cycle:  %[1]s\n\tCycles per minute: %[1]s\n\tLast queue length: %[4]s\n",
		unknown, total, mean, queue)
	return b.String()
}

func timeText(t time.Time) string {
	return fmt.Sprintf("%s (%d)", t.Format("Mon Jan 02 15:04:05 2006"), t.Unix())
}

// NewDocument returns the same data for JSON or YAML output.
func NewDocument(jobs Jobs, cycles *Cycles, now time.Time) any {
	type statistics struct {
		Jobs
		*Cycles
		Since int64 `json:"req_time_start,omitempty"`
		Now   int64 `json:"req_time"`
	}
	s := statistics{Jobs: jobs, Cycles: cycles, Now: now.Unix()}
	if !jobs.Since.IsZero() {
		s.Since = jobs.Since.Unix()
	}
	return map[string]any{"statistics": s}
}
