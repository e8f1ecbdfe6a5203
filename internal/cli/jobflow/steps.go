package jobflow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// States of steps that have no job.
const (
	stateWaiting = "Waiting"
	stateStarts  = "Starting"
	stateNever   = "NotRun"
)

// step is the state of one step of a flow.
type step struct {
	name  string
	spec  *flowv1alpha1.Flow
	flow  jobFlow
	job   *flowv1alpha1.JobStatus // nil before the step has begun
	state string
	// waits is the reason why the step is waiting; it is empty if the step is not waiting.
	waits string
	// depth is the depth in the tree; parent is the step above.
	depth  int
	parent *step
}

// newSteps returns the state of each step of a flow, in the order of the flow's spec. missing holds the templates that
// are known not to exist.
func newSteps(flow jobFlow, missing map[string]bool) []*step {
	byName := map[string]*step{}
	var steps []*step
	for i := range flow.Spec.Flows {
		s := &step{name: flow.Spec.Flows[i].Name, spec: &flow.Spec.Flows[i], flow: flow, job: stepJobStatus(flow, flow.Spec.Flows[i].Name)}
		steps, byName[s.name] = append(steps, s), s
	}
	for _, s := range steps {
		s.updateState(byName, missing[s.name])
	}
	for _, s := range steps {
		s.computeDepth(byName, map[string]bool{})
	}
	return steps
}

// stepJobStatus returns the status of a step's job, or nil before the step has begun.
func stepJobStatus(flow jobFlow, name string) *flowv1alpha1.JobStatus {
	job := flowv1alpha1.JobName(flow, name)
	at := slices.IndexFunc(flow.Status.JobStatusList, func(s flowv1alpha1.JobStatus) bool { return s.Name == job })
	if at < 0 {
		return nil
	}
	return &flow.Status.JobStatusList[at]
}

func (s *step) dependencyNames() []string {
	if s.spec.DependsOn == nil {
		return nil
	}
	return s.spec.DependsOn.Targets
}

// updateState sets the state of a step and the reason why it is waiting.
func (s *step) updateState(byName map[string]*step, isMissing bool) {
	if s.job != nil {
		s.state = string(s.job.State)
		if s.job.State == batchv1alpha1.Pending {
			s.waits = fmt.Sprintf("its job is pending; `vcctl job explain %s` shows why", s.job.Name)
		}
		return
	}
	var unmet []string
	for _, target := range s.dependencyNames() {
		if other := byName[target]; other == nil || other.job == nil || other.job.State != batchv1alpha1.Completed {
			unmet = append(unmet, fmt.Sprintf("%s (%s)", target, stateText(other)))
		}
	}
	failed := failedSteps(s.flow)
	switch {
	case len(failed) > 0:
		s.state, s.waits = stateNever, fmt.Sprintf("it will not start, because the flow has failed: %s; `vcctl job view %s` shows why", strings.Join(failed, ", "), flowv1alpha1.JobName(s.flow, failed[0]))
	case len(unmet) > 0:
		s.state, s.waits = stateWaiting, "for "+strings.Join(unmet, " and ")+" to complete"
		if probes := s.probesText(); probes != "" {
			s.waits = "for " + strings.Join(unmet, " and ") + ": until " + probes
		}
		if isMissing {
			s.waits += "; " + missingTemplateText(s.flow, s.name)
		}
	case isMissing:
		s.state, s.waits = stateWaiting, missingTemplateText(s.flow, s.name)
	default:
		s.state, s.waits = stateStarts, "its job is about to be created; if this takes too long, check that the controller is running (vcd controllers)"
	}
}

// missingTemplateText describes the missing JobTemplate of a step and how to create it.
func missingTemplateText(flow jobFlow, step string) string {
	return fmt.Sprintf("job template %s does not exist in namespace %s; to create it, run vcctl jobtemplate create -f FILE", step, flow.Namespace)
}

func stateText(s *step) string {
	if s == nil {
		return "no such step"
	}
	if s.job == nil {
		return "not started"
	}
	return string(s.job.State)
}

// probesText describes the conditions on the step's dependencies; it is empty if the dependencies only need to
// complete.
func (s *step) probesText() string {
	if s.spec.DependsOn == nil || s.spec.DependsOn.Probe == nil {
		return ""
	}
	var parts []string
	probe := s.spec.DependsOn.Probe
	for _, get := range probe.HTTPGetList {
		parts = append(parts, fmt.Sprintf("task %s responds to HTTP requests on port %d, path /%s", get.TaskName, get.Port, strings.TrimPrefix(get.Path, "/")))
	}
	for _, socket := range probe.TCPSocketList {
		parts = append(parts, fmt.Sprintf("task %s accepts connections on port %d", socket.TaskName, socket.Port))
	}
	for _, status := range probe.TaskStatusList {
		parts = append(parts, fmt.Sprintf("task %s is %s", status.TaskName, status.Phase))
	}
	return strings.Join(parts, " and ")
}

// dependenciesText describes the dependencies of a step.
func (s *step) dependenciesText() string {
	text := strings.Join(s.dependencyNames(), ", ")
	if probes := s.probesText(); probes != "" {
		return text + ": " + probes
	}
	return text
}

// failedSteps returns the steps whose jobs failed or were terminated.
func failedSteps(flow jobFlow) []string {
	return stepNamesOfJobs(flow, slices.Concat(flow.Status.FailedJobs, flow.Status.TerminatedJobs))
}

// stepNamesOfJobs returns the names of the steps to which the jobs belong.
func stepNamesOfJobs(flow jobFlow, jobs []string) []string {
	names := make([]string, len(jobs))
	for i, job := range jobs {
		names[i] = strings.TrimPrefix(job, flow.Name+"-")
	}
	return names
}

// startableSteps returns the steps that have not begun although they are not waiting for another step.
func startableSteps(flow jobFlow) []string { return stepsInState(flow, stateStarts) }

// unstartedSteps returns the steps that have not begun but still can, and therefore need their templates.
func unstartedSteps(flow jobFlow) []string { return stepsInState(flow, stateStarts, stateWaiting) }

// stepsInState returns the names of the steps in one of the given states.
func stepsInState(flow jobFlow, states ...string) []string {
	var names []string
	for _, s := range newSteps(flow, nil) {
		if slices.Contains(states, s.state) {
			names = append(names, s.name)
		}
	}
	return names
}

func countCompleted(flow jobFlow) int {
	n := 0
	for i := range flow.Spec.Flows {
		if s := stepJobStatus(flow, flow.Spec.Flows[i].Name); s != nil && s.State == batchv1alpha1.Completed {
			n++
		}
	}
	return n
}

// currentStateText summarizes the current state of a flow's steps for a table column.
func currentStateText(flow jobFlow) string {
	var parts []string
	say := func(word string, names []string) {
		if len(names) > 0 {
			parts = append(parts, word+" "+strings.Join(names, ", "))
		}
	}
	say("failed:", failedSteps(flow))
	say("running:", stepNamesOfJobs(flow, flow.Status.RunningJobs))
	say("pending:", stepNamesOfJobs(flow, flow.Status.PendingJobs))
	say("other:", stepNamesOfJobs(flow, flow.Status.UnKnowJobs))
	if phaseOf(flow) != flowv1alpha1.Failed && phaseOf(flow) != flowv1alpha1.Succeed {
		var waiting []string
		for _, s := range newSteps(flow, nil) {
			if s.job == nil {
				waiting = append(waiting, s.name)
			}
		}
		say("waiting:", waiting)
	}
	return cmp.Or(strings.Join(parts, "; "), "-")
}

// computeDepth places a step below its deepest dependency and returns its depth.
func (s *step) computeDepth(byName map[string]*step, on map[string]bool) int {
	if s.depth > 0 || on[s.name] {
		return s.depth
	}
	on[s.name] = true
	for _, target := range s.dependencyNames() {
		if other := byName[target]; other != nil && other != s {
			if below := other.computeDepth(byName, on) + 1; below > s.depth {
				s.depth, s.parent = below, other
			}
		}
	}
	delete(on, s.name)
	return s.depth
}

// sortAsTree sorts steps so that each follows its parent.
func sortAsTree(steps []*step) []*step {
	var ordered []*step
	var add func(parent *step)
	add = func(parent *step) {
		for _, s := range steps {
			if s.parent == parent {
				ordered = append(ordered, s)
				add(s)
			}
		}
	}
	add(nil)
	return ordered
}

// treeBranches returns the lines of the tree to draw before the name of the i-th step.
func treeBranches(tree []*step, i int, fancy bool) string {
	signs := [4]string{"|- ", "`- ", "|  ", "   "}
	if fancy {
		signs = [4]string{"├─ ", "└─ ", "│  ", "   "}
	}
	text := ""
	for s := tree[i]; s.parent != nil; s = s.parent {
		last := !slices.ContainsFunc(tree[slices.Index(tree, s)+1:], func(other *step) bool { return other.parent == s.parent })
		switch {
		case s == tree[i] && last:
			text = signs[1] + text
		case s == tree[i]:
			text = signs[0] + text
		case last:
			text = signs[3] + text
		default:
			text = signs[2] + text
		}
	}
	return text
}

func (s *step) jobText() string {
	if s.job == nil {
		return "-"
	}
	return s.job.Name
}

func (s *step) runtimeText(now time.Time) string {
	if s.job == nil {
		return "-"
	}
	return elapsedText(s.job.StartTimestamp.Time, s.job.EndTimestamp.Time, now)
}

func (s *step) retriesText() string {
	if s.job == nil {
		return "-"
	}
	return strconv.Itoa(int(s.job.RestartCount))
}
