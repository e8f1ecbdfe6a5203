// Package sacct implements the output of sacct. It determines the lines for jobs, batch scripts and steps, defines the
// columns, and selects jobs by time and size.
//
//	In:   rows, launchers' reports, filters
//	Out:  lines
package sacct

import (
	"cmp"
	"slices"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Line is a job, its batch script or one of its steps.
type Line struct {
	*listrow.Row
	// Step is the part of the ID after the dot, such as batch or 0. It is empty for a line about the whole job.
	Step string
	// Label is the name of the line: the name of the job, "batch", or the command of the step.
	Label string
	Code  state.Code
	Ended state.Exit
	Start time.Time
	End   time.Time
	Nodes string
	// CPUs, Tasks and Pods are the numbers of CPUs, tasks and pods that belong to the line.
	CPUs, Tasks, Pods int
	Usage             launchconfig.Usage
	// Highest is the highest exit code of all steps.
	Highest state.Exit
}

// LinesOf returns the lines for a row: the job and, unless jobsOnly is true, its batch script and its steps.
func LinesOf(r *listrow.Row, jobsOnly bool) []Line {
	job := Line{Row: r, Label: r.JobTitle(), Code: r.State.Code.AccountingCode(), Ended: r.Exit, Start: r.Times.Start, End: r.Times.End, Nodes: r.NodeList(), Pods: r.NodeCount(), Tasks: r.TaskCount()}
	if r.IsEarlier {
		job.Code = r.State.Code // a requeued attempt has ended
	}
	ran := r.State.Code.HasEnded() && len(r.NodeNames()) > 0
	if !job.Start.IsZero() || ran {
		job.CPUs = r.TotalRequest().CPUs
	}
	head := r.HeadPod()
	report, reported := r.LauncherReport()
	if head == nil {
		report, reported = r.RecordedReport()
	}
	job.Usage, _ = r.MeasuredUse()
	if reported {
		if head != nil || job.Code != state.Cancelled {
			job.Ended = scriptExit(report)
		}
		for _, step := range report.Steps {
			if exit := (state.Exit{Code: step.Code, Signal: step.Signal}); exit.Code+exit.Signal > job.Highest.Code+job.Highest.Signal {
				job.Highest = exit
			}
		}
	}
	switch r.State.Code {
	case state.Timeout:
		job.Ended = state.Exit{}
	case state.OutOfMemory:
		job.Ended = state.NoMemory
	}
	lines := []Line{job}
	if jobsOnly || job.Start.IsZero() || r.IsEarlier { // the steps of earlier attempts are not recorded
		return lines
	}
	if head == nil {
		lines = append(lines, newRecordedLine(job, report, reported)...)
	} else {
		lines = append(lines, newBatchLine(job, head, report, reported))
	}
	for _, step := range report.Steps {
		lines = append(lines, newStepLine(job, step))
	}
	return lines
}

// terminated is the Exit of a batch script that was cancelled or exceeded its time limit.
var terminated = state.Exit{Signal: int(syscall.SIGTERM)}

// scriptExit returns how the script ended according to its launcher's report.
func scriptExit(report launchconfig.Report) state.Exit {
	return state.Exit{Code: report.Code, Signal: report.Signal}
}

// newRecordedLine returns the line for the batch script of an ended job whose pods have been deleted. It returns nil if
// the script's node is unknown.
func newRecordedLine(job Line, report launchconfig.Report, reported bool) []Line {
	host := job.BatchHost()
	if host == "" || !job.Code.HasEnded() {
		return nil
	}
	batch := job
	batch.Step, batch.Label, batch.Pods, batch.Tasks, batch.CPUs, batch.Nodes = "batch", "batch", 1, 1, job.LargestRequest().CPUs, host
	if job.Code == state.Timeout || job.Code == state.Cancelled {
		batch.Code, batch.Ended = state.Cancelled, terminated
		if reported {
			batch.Ended = scriptExit(report)
		}
	}
	return []Line{batch}
}

func newBatchLine(job Line, head *corev1.Pod, report launchconfig.Report, reported bool) Line {
	batch := job
	batch.Step, batch.Label, batch.Pods, batch.Tasks, batch.CPUs, batch.Nodes = "batch", "batch", 1, 1, job.LargestRequest().CPUs, head.Spec.NodeName
	sum := state.SummarizePods([]*corev1.Pod{head})
	if !sum.Finish.IsZero() {
		batch.End = sum.Finish
	}
	if reported {
		batch.Ended, batch.Usage = scriptExit(report), report.Usage
	}
	switch {
	case job.Code == state.Timeout || job.Code == state.Cancelled:
		batch.Code = state.Cancelled
	case sum.End == state.OutOfMemory:
		batch.Code, batch.Ended = sum.End, state.NoMemory
	case sum.End == state.Failed && batch.Ended.Signal > 0:
		batch.Code = state.Cancelled // Slurm's state for a step that was ended by a signal
	case sum.End != "":
		batch.Code = sum.End
	case sum.Ended > 0:
		batch.Code = state.Completed
	}
	return batch
}

func newStepLine(job Line, s launchconfig.Step) Line {
	step := job
	step.Step, step.Label, step.Nodes, step.Tasks, step.CPUs, step.Usage = strconv.Itoa(s.ID), s.Name, job.nodesOfPods(s.Nodes), s.Tasks, cmp.Or(s.CPUs, s.Tasks), s.Usage
	step.Start, step.End, step.Ended = time.Unix(s.Start, 0), time.Time{}, state.Exit{Code: s.Code, Signal: s.Signal}
	if pods, err := hostlist.ExpandList(s.Nodes); err == nil && len(pods) > 0 {
		step.Pods = len(pods)
	}
	if s.End > 0 {
		step.End = time.Unix(s.End, 0)
	}
	switch {
	case s.End == 0:
		step.Code = state.Running
	case step.Ended == state.NoMemory:
		step.Code = state.OutOfMemory
	case s.Cancelled, s.Signal > 0:
		step.Code = state.Cancelled
	case s.Code != 0 || s.Signal != 0:
		step.Code = state.Failed
	default:
		step.Code = state.Completed
	}
	return step
}

// nodesOfPods returns the nodes of the pods in which a step ran.
func (l *Line) nodesOfPods(pods string) string {
	names, err := hostlist.ExpandList(pods)
	if err != nil {
		return pods
	}
	nodes := l.NodesForPods(names)
	hostlist.SortNames(nodes)
	return hostlist.CompressNames(slices.Compact(nodes))
}

// ElapsedTime returns how long the line's job or step has been running, or how long it ran.
func (l *Line) ElapsedTime() time.Duration {
	return state.Times{Start: l.Start, End: l.End, Released: l.Times.Released}.ElapsedTime(l.Now)
}

// suspendedTime returns how long the line's job was suspended. Steps end when their job is suspended.
func (l *Line) suspendedTime() time.Duration {
	if !l.IsJob() {
		return 0
	}
	return l.Times.SuspendedTime(l.Now)
}

// IsJob reports whether the line describes a whole job.
func (l *Line) IsJob() bool { return l.Step == "" }

// Window is a period of time.
type Window struct{ From, To time.Time }

// IncludesRow reports whether the row existed during the window. If states are given, it instead reports whether the
// row was in one of these states during the window.
func (w Window) IncludesRow(r *listrow.Row, states []state.Code) bool {
	t := r.Times
	there := func(from, to time.Time) bool {
		endedBefore := !to.IsZero() && to.Before(w.From)
		return !from.IsZero() && !from.After(w.To) && !endedBefore
	}
	if len(states) == 0 {
		return there(t.Submit, t.End)
	}
	if r.IsEarlier {
		endedOutside := t.End.Before(w.From) || t.End.After(w.To)
		return slices.Contains(states, r.State.Code) && !endedOutside
	}
	for _, code := range states {
		switch code {
		case state.Pending:
			until := cmp.Or(unixTime(t.Start), unixTime(t.End))
			if there(t.Submit, timeFromUnix(until)) && (until != 0 || r.State.Code.BaseCode() == state.Pending) {
				return true
			}
		case state.Running:
			if there(t.Start, t.End) && r.State.Code.BaseCode() != state.Pending {
				return true
			}
		case r.State.Code:
			endedOutside := !t.End.IsZero() && (t.End.Before(w.From) || t.End.After(w.To))
			if !r.State.Code.HasEnded() || !endedOutside {
				return true
			}
		}
	}
	return false
}

func unixTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func timeFromUnix(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}
