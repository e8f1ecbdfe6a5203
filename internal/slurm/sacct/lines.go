// Package sacct implements the output of sacct: the lines for jobs, batch scripts and steps, the columns, and the
// selection of jobs by time.
//
//	In:   rows, reports of launchers, filters
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
	// Step is the part of the ID after the dot, such as batch or 0; it is empty for the whole job.
	Step string
	// Label is the name of the line: the name of the job, "batch", or the command of the step.
	Label string
	Code  state.Code
	Ended state.Exit
	Start time.Time
	End   time.Time
	Nodes string
	// CPUs, Tasks and Pods are the numbers of CPUs, tasks and pods.
	CPUs, Tasks, Pods int
	Usage             launchconfig.Usage
	// Highest is the highest exit code of all steps.
	Highest state.Exit
}

// Lines returns the lines for a row: the job and, unless jobsOnly is true, its batch script and its steps.
func Lines(r *listrow.Row, jobsOnly bool) []Line {
	job := Line{Row: r, Label: r.Name(), Code: r.State.Code.Accounted(), Ended: r.Exit, Start: r.Times.Start, End: r.Times.End, Nodes: r.NodeList(), Pods: r.NumNodes(), Tasks: r.Tasks()}
	ran := r.State.Code.Ended() && len(r.Nodes()) > 0
	if !job.Start.IsZero() || ran {
		job.CPUs = r.Total().CPUs
	}
	head := r.Head()
	report, reported := reportOf(head)
	if head == nil {
		report, reported = r.KeptReport()
	}
	if reported {
		job.Usage = report.Usage
		if head != nil || job.Code != state.Cancelled {
			job.Ended = exitOf(report)
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
	if jobsOnly || job.Start.IsZero() {
		return lines
	}
	if head == nil {
		lines = append(lines, keptBatchLine(job, report, reported)...)
	} else {
		lines = append(lines, batchLine(job, head, report, reported))
	}
	for _, step := range report.Steps {
		lines = append(lines, stepLine(job, step))
	}
	return lines
}

// terminated is the exit of a batch script that was cancelled or exceeded its time limit.
var terminated = state.Exit{Signal: int(syscall.SIGTERM)}

// exitOf returns how the script ended according to its launcher.
func exitOf(report launchconfig.Report) state.Exit {
	return state.Exit{Code: report.Code, Signal: report.Signal}
}

// keptBatchLine returns the line for the batch script of an ended job whose pods were deleted, provided that the
// script's node is known.
func keptBatchLine(job Line, report launchconfig.Report, reported bool) []Line {
	host := job.BatchHost()
	if host == "" || !job.Code.Ended() {
		return nil
	}
	batch := job
	batch.Step, batch.Label, batch.Pods, batch.Tasks, batch.CPUs, batch.Nodes = "batch", "batch", 1, 1, job.PerNode().CPUs, host
	if job.Code == state.Timeout || job.Code == state.Cancelled {
		batch.Code, batch.Ended = state.Cancelled, terminated
		if reported {
			batch.Ended = exitOf(report)
		}
	}
	return []Line{batch}
}

func batchLine(job Line, head *corev1.Pod, report launchconfig.Report, reported bool) Line {
	batch := job
	batch.Step, batch.Label, batch.Pods, batch.Tasks, batch.CPUs, batch.Nodes = "batch", "batch", 1, 1, job.PerNode().CPUs, head.Spec.NodeName
	sum := state.Summarize([]*corev1.Pod{head})
	if !sum.Finish.IsZero() {
		batch.End = sum.Finish
	}
	if reported {
		batch.Ended, batch.Usage = exitOf(report), report.Usage
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

func stepLine(job Line, s launchconfig.Step) Line {
	step := job
	step.Step, step.Label, step.Nodes, step.Tasks, step.CPUs, step.Usage = strconv.Itoa(s.ID), s.Name, job.nodesOf(s.Nodes), s.Tasks, cmp.Or(s.CPUs, s.Tasks), s.Usage
	step.Start, step.End, step.Ended = time.Unix(s.Start, 0), time.Time{}, state.Exit{Code: s.Code, Signal: s.Signal}
	if pods, err := hostlist.Expand(s.Nodes); err == nil && len(pods) > 0 {
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

// nodesOf returns the nodes of the pods in which a step ran.
func (l *Line) nodesOf(pods string) string {
	names, err := hostlist.Expand(pods)
	if err != nil {
		return pods
	}
	nodes := l.NodesOf(names)
	hostlist.Sort(nodes)
	return hostlist.Compress(slices.Compact(nodes))
}

// reportOf returns the launcher's report from a pod's termination message.
func reportOf(pod *corev1.Pod) (launchconfig.Report, bool) {
	if pod == nil {
		return launchconfig.Report{}, false
	}
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil {
			if report, ok := launchconfig.ParseReport(t.Message); ok {
				return report, true
			}
		}
	}
	return launchconfig.Report{}, false
}

// Elapsed returns how long the line's job or step has been running, or how long it ran.
func (l *Line) Elapsed() time.Duration {
	return state.Times{Start: l.Start, End: l.End}.Elapsed(l.Now)
}

// IsJob reports whether the line describes a whole job.
func (l *Line) IsJob() bool { return l.Step == "" }

// Window is a period of time.
type Window struct{ From, To time.Time }

// Holds reports whether a row existed during the window. If states are given, it reports whether the row was in one
// of these states during the window.
func (w Window) Holds(r *listrow.Row, states []state.Code) bool {
	t := r.Times
	there := func(from, to time.Time) bool {
		return !from.IsZero() && !from.After(w.To) && (to.IsZero() || !to.Before(w.From))
	}
	if len(states) == 0 {
		return there(t.Submit, t.End)
	}
	for _, code := range states {
		switch code.Base() {
		case state.Pending:
			until := cmp.Or(unixOf(t.Start), unixOf(t.End))
			if there(t.Submit, timeOf(until)) && (until != 0 || r.State.Code.Base() == state.Pending) {
				return true
			}
		case state.Running:
			if there(t.Start, t.End) && r.State.Code.Base() != state.Pending {
				return true
			}
		case r.State.Code:
			if r.State.Code.Ended() && !t.End.IsZero() && (t.End.Before(w.From) || t.End.After(w.To)) {
				continue
			}
			return true
		}
	}
	return false
}

func unixOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func timeOf(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}
