package jobflow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// Event reasons.
const (
	created         = "Created"
	failedCreate    = "FailedCreate"
	deleted         = "Deleted"
	noTemplate      = "TemplateNotFound"
	badPatch        = "PatchFailed"
	foreignJob      = "ForeignJob"
	noSuchTask      = "TaskNotFound"
	noAnswer        = "ProbeUnanswered"
	phaseOfFlow     = "JobFlowPhase"
	jobGone         = "JobGone"
	namespaceEnding = "NamespaceTerminating"
	stepRetried     = "StepRetried"
	badRetry        = "InvalidRetry"
)

// probeEvery is the interval at which unsuccessful probes are repeated.
const probeEvery = time.Second

// Input holds everything that a plan depends on. Compute does not change it.
type Input struct {
	Flow *flowv1alpha1.JobFlow
	// Templates maps names to the existing templates to which the steps refer.
	Templates map[string]*flowv1alpha1.JobTemplate
	// Jobs maps names to the jobs whose controller is this flow, matched by UID.
	Jobs map[string]*batchv1alpha1.Job
	// Gone maps names to the last observed states of deleted jobs of the flow.
	Gone map[string]*batchv1alpha1.Job
	// Held holds the results of the probes that the last plan requested.
	Held map[Probe]bool
	// Silent holds the probes to which running pods have not responded for a while.
	Silent map[Probe]bool
	Now    time.Time
}

// Probe is a check of the pods of a task.
type Probe struct {
	Job, Task string
	// Network is http or tcp.
	Network string
	Port    int
	// Path, Header and Value are used only by http.
	Path, Header, Value string
}

// Plan holds the writes, the events and the probes to run.
type Plan struct {
	Create []*batchv1alpha1.Job
	Delete []*batchv1alpha1.Job
	// Status is the new status; nil if it does not change.
	Status *flowv1alpha1.JobFlowStatus
	Events []Event
	// Probes are the probes to run before the plan can be completed.
	Probes []Probe
	// RequeueAfter is the delay after which to reconcile again if nothing changes before then; 0 means never.
	RequeueAfter time.Duration
}

// Event is an event to record on the flow.
type Event struct{ Type, Reason, Message string }

func (p *planner) appendEvent(kind, reason, format string, args ...any) {
	p.Events = append(p.Events, Event{kind, reason, fmt.Sprintf(format, args...)})
}

// Compute returns the plan for a flow.
func Compute(in Input) Plan {
	p := &planner{in: &in, steps: map[string]*flowv1alpha1.JobStatus{}, leaving: map[string]bool{}}
	if in.Flow.DeletionTimestamp != nil {
		return Plan{} // the garbage collector deletes its jobs
	}
	status := in.Flow.Status.DeepCopy()
	p.retryFailed(status)
	p.updateJobList(status)
	failed := computeFlowPhase(p, in.Flow) == flowv1alpha1.Failed
	p.recordLost(failed)
	if !failed {
		for i := range in.Flow.Spec.Flows {
			p.startStepIfReady(&in.Flow.Spec.Flows[i])
		}
	}
	p.summarizePhases(status)
	if status.State.Phase == flowv1alpha1.Succeed && in.Flow.Spec.JobRetainPolicy == flowv1alpha1.Delete && in.Flow.Status.State.Phase == flowv1alpha1.Succeed {
		p.deleteAllJobs() // only after the status contains their completion
	}
	if status.State.Phase != in.Flow.Status.State.Phase {
		p.appendEvent(corev1.EventTypeNormal, phaseOfFlow, "the flow is %s: %d of %d steps completed", status.State.Phase, len(status.CompletedJobs), len(in.Flow.Spec.Flows))
	}
	if !equality.Semantic.DeepEqual(*status, in.Flow.Status) {
		p.Status = status
	}
	return p.Plan
}

// planner assembles a plan.
type planner struct {
	Plan
	in *Input
	// steps maps the names of jobs to their current or last state.
	steps map[string]*flowv1alpha1.JobStatus
	// lost holds the jobs that were deleted before they ended.
	lost []string
	// retried is the time of a retry; jobs that failed before it run again. Zero means that there is no retry.
	retried time.Time
	// leaving holds the jobs that are being deleted because their steps run again.
	leaving map[string]bool
}

// isEndedPhase reports whether a job in this phase has ended and will not run again.
func isEndedPhase(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Completed || phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated
}

// updateJobList updates the list of jobs.
func (p *planner) updateJobList(status *flowv1alpha1.JobFlowStatus) {
	known := map[string]*flowv1alpha1.JobStatus{}
	for i := range status.JobStatusList {
		known[status.JobStatusList[i].Name] = &status.JobStatusList[i]
	}
	var list []flowv1alpha1.JobStatus
	for i := range p.in.Flow.Spec.Flows {
		name := flowv1alpha1.JobName(p.in.Flow, p.in.Flow.Spec.Flows[i].Name)
		var s flowv1alpha1.JobStatus
		if old := known[name]; old != nil {
			s = *old
			delete(known, name)
		}
		job := p.in.Jobs[name]
		if job == nil && !isEndedPhase(s.State) {
			if gone := p.in.Gone[name]; gone != nil && isEndedPhase(gone.Status.State.Phase) && !p.willRunAgain(gone) {
				job = gone
			}
		}
		switch {
		case p.leaving[name]:
			continue
		case job != nil:
			p.updateJobState(&s, job)
		case s.Name == "":
			continue // the step has not started
		case !isEndedPhase(s.State):
			p.lost = append(p.lost, name)
			continue
		}
		list = append(list, s)
	}
	for i := range status.JobStatusList { // these steps were removed from the flow
		if s := known[status.JobStatusList[i].Name]; s != nil {
			if job := p.in.Jobs[s.Name]; job != nil {
				p.updateJobState(s, job)
			}
			list = append(list, *s)
		}
	}
	status.JobStatusList = list
	for i := range list {
		p.steps[list[i].Name] = &list[i]
	}
}

// recordLost records events about jobs that were deleted before they ended. A failed flow does not re-create them.
func (p *planner) recordLost(failed bool) {
	then := "the job is re-created"
	if failed {
		then = "the flow has failed, so no further jobs are created"
	}
	for _, name := range p.lost {
		p.appendEvent(corev1.EventTypeWarning, jobGone, "job %s was deleted before it ended; %s", name, then)
	}
}

// updateJobState copies the state of a job.
func (p *planner) updateJobState(s *flowv1alpha1.JobStatus, job *batchv1alpha1.Job) {
	phase := job.Status.State.Phase
	phase = cmp.Or(phase, batchv1alpha1.Pending)
	now := metav1.NewTime(p.in.Now.Truncate(time.Second))
	if h := s.RunningHistories; s.State != phase || !s.StartTimestamp.Equal(&job.CreationTimestamp) {
		if len(h) > 0 && h[len(h)-1].EndTimestamp.IsZero() {
			h = slices.Clone(h)
			h[len(h)-1].EndTimestamp = now
		}
		s.RunningHistories = append(slices.Clone(h), flowv1alpha1.JobRunningHistory{StartTimestamp: now, State: phase})
		if n := len(s.RunningHistories); n > maxHistories {
			s.RunningHistories = s.RunningHistories[n-maxHistories:]
		}
	}
	s.Name, s.State, s.StartTimestamp, s.RestartCount = job.Name, phase, job.CreationTimestamp, job.Status.RetryCount+job.Status.UserRestarts
	s.EndTimestamp = metav1.Time{}
	if isEndedPhase(phase) {
		s.EndTimestamp = job.Status.State.LastTransitionTime
	}
}

// maxHistories limits the length of the history of a job that restarts again and again.
const maxHistories = 50

// startStepIfReady creates the job of a step if its dependencies are met.
func (p *planner) startStepIfReady(step *flowv1alpha1.Flow) {
	name := flowv1alpha1.JobName(p.in.Flow, step.Name)
	if p.steps[name] != nil || p.leaving[name] || !p.dependenciesMet(step) {
		return
	}
	template := p.in.Templates[step.Name]
	if template == nil {
		p.appendEvent(corev1.EventTypeWarning, noTemplate, "step %s waits: JobTemplate %s does not exist in namespace %s; create the JobTemplate", step.Name, step.Name, p.in.Flow.Namespace)
		return
	}
	job, err := flowv1alpha1.StepJob(p.in.Flow, step, template)
	if err != nil {
		p.appendEvent(corev1.EventTypeWarning, badPatch, "step %s: its patch cannot be applied to JobTemplate %s: %v", step.Name, step.Name, err)
		return
	}
	p.Create = append(p.Create, job)
}

// dependenciesMet reports whether all dependencies of a step are met.
func (p *planner) dependenciesMet(step *flowv1alpha1.Flow) bool {
	if step.DependsOn == nil {
		return true
	}
	all := true
	for _, target := range step.DependsOn.Targets {
		s := p.steps[flowv1alpha1.JobName(p.in.Flow, target)]
		switch {
		case s != nil && s.State == batchv1alpha1.Completed:
		case s == nil || step.DependsOn.Probe == nil || isEndedPhase(s.State):
			all = false
		default:
			all = p.passesProbe(step.DependsOn.Probe, s.Name) && all
		}
	}
	return all && p.isProbeValid(step)
}

// isProbeValid reports whether the probe of a step can be evaluated, which requires that the jobs have the tasks that
// the probe names. If they do not, it records an event, because a step with an unknown task would wait forever.
func (p *planner) isProbeValid(step *flowv1alpha1.Flow) bool {
	probe := step.DependsOn.Probe
	if probe == nil {
		return true
	}
	var tasks []string
	for _, g := range probe.HTTPGetList {
		tasks = append(tasks, g.TaskName)
	}
	for _, g := range probe.TCPSocketList {
		tasks = append(tasks, g.TaskName)
	}
	for _, g := range probe.TaskStatusList {
		tasks = append(tasks, g.TaskName)
	}
	for _, task := range tasks {
		known := false
		for _, target := range step.DependsOn.Targets {
			name := flowv1alpha1.JobName(p.in.Flow, target)
			job := p.in.Jobs[name]
			switch {
			case job != nil:
				known = known || findTaskByName(job, task) != nil
			case p.steps[name] != nil: // a job that has completed and was deleted counts as having passed the probe
				known = true
			}
		}
		if !known {
			p.appendEvent(corev1.EventTypeWarning, noSuchTask, "step %s waits because none of its targets has the task %s, which its probe specifies", step.Name, task)
			return false
		}
	}
	return true
}

// passesProbe reports whether the tasks of a job pass a probe. It ignores tasks that the job does not have.
func (p *planner) passesProbe(probe *flowv1alpha1.Probe, name string) bool {
	job := p.in.Jobs[name]
	if job == nil {
		return false
	}
	all := true
	for _, s := range probe.TaskStatusList {
		if task := findTaskByName(job, s.TaskName); task != nil {
			all = all && job.Status.TaskStatusCount[task.Name].Phase[corev1.PodPhase(s.Phase)] >= neededPods(task)
		}
	}
	for _, g := range probe.HTTPGetList {
		if findTaskByName(job, g.TaskName) != nil {
			all = p.requestProbe(Probe{Job: name, Task: g.TaskName, Network: "http", Port: g.Port, Path: g.Path, Header: g.HTTPHeader.Name, Value: g.HTTPHeader.Value}) && all
		}
	}
	for _, g := range probe.TCPSocketList {
		if findTaskByName(job, g.TaskName) != nil {
			all = p.requestProbe(Probe{Job: name, Task: g.TaskName, Network: "tcp", Port: g.Port}) && all
		}
	}
	return all
}

// requestProbe reports whether a probe has succeeded. If the result is unknown or negative, requestProbe requests that
// the probe be run.
func (p *planner) requestProbe(probe Probe) bool {
	if p.in.Held[probe] {
		return true
	}
	if !slices.Contains(p.Probes, probe) {
		p.Probes = append(p.Probes, probe)
		if p.in.Silent[probe] {
			p.appendEvent(corev1.EventTypeWarning, noAnswer, "%s", p.explainSilence(probe))
		}
	}
	p.RequeueAfter = probeEvery
	return false
}

// explainSilence returns a message about possible reasons why a probe gets no response.
func (p *planner) explainSilence(probe Probe) string {
	text := fmt.Sprintf("a step waits: the pods of task %s of job %s are running, but not all of them respond to vcd on port %d (%s)", probe.Task, probe.Job, probe.Port, probe.Network)
	arguments, names := p.in.Jobs[probe.Job].Spec.Plugins["svc"]
	if names && !slices.Contains(arguments, "--disable-network-policy") && !slices.Contains(arguments, "--disable-network-policy=true") {
		return text + "; if the cluster enforces NetworkPolicies, the policy that the job's svc plugin creates allows traffic only from the job's own pods: pass --disable-network-policy to the svc plugin, " +
			"or add a NetworkPolicy that allows traffic from vcd's namespace"
	}
	return text + "; correct the probe's port and path, or fix the server in the task"
}

func findTaskByName(job *batchv1alpha1.Job, name string) *batchv1alpha1.TaskSpec {
	for i := range job.Spec.Tasks {
		if job.Spec.Tasks[i].Name == name {
			return &job.Spec.Tasks[i]
		}
	}
	return nil
}

// neededPods returns the minimum number of pods of a task.
func neededPods(t *batchv1alpha1.TaskSpec) int32 {
	if t.MinAvailable != nil {
		return max(*t.MinAvailable, 1)
	}
	return max(t.Replicas, 1)
}

// summarizePhases groups the jobs by phase and sets the phase of the flow.
func (p *planner) summarizePhases(status *flowv1alpha1.JobFlowStatus) {
	status.PendingJobs, status.RunningJobs, status.FailedJobs = nil, nil, nil
	status.CompletedJobs, status.TerminatedJobs, status.UnKnowJobs = nil, nil, nil
	conditions := map[string]flowv1alpha1.Condition{}
	for _, s := range status.JobStatusList {
		list := &status.UnKnowJobs
		switch s.State {
		case batchv1alpha1.Pending:
			list = &status.PendingJobs
		case batchv1alpha1.Running:
			list = &status.RunningJobs
		case batchv1alpha1.Failed:
			list = &status.FailedJobs
		case batchv1alpha1.Completed:
			list = &status.CompletedJobs
		case batchv1alpha1.Terminated:
			list = &status.TerminatedJobs
		}
		*list = append(*list, s.Name)
		c := status.Conditions[s.Name]
		if job := p.in.Jobs[s.Name]; job != nil {
			c = flowv1alpha1.Condition{Phase: s.State, CreateTimestamp: job.CreationTimestamp, RunningDuration: job.Status.RunningDuration, TaskStatusCount: job.Status.TaskStatusCount}
		}
		c.Phase = s.State
		conditions[s.Name] = c
	}
	status.Conditions = conditions
	if len(conditions) == 0 {
		status.Conditions = nil
	}
	status.State.Phase = computeFlowPhase(p, p.in.Flow)
}

// computeFlowPhase returns the phase of the flow as a whole.
func computeFlowPhase(p *planner, f *flowv1alpha1.JobFlow) flowv1alpha1.Phase {
	completed, begun := 0, 0
	for i := range f.Spec.Flows {
		s := p.steps[flowv1alpha1.JobName(f, f.Spec.Flows[i].Name)]
		if s == nil {
			continue
		}
		switch s.State {
		case batchv1alpha1.Failed, batchv1alpha1.Terminated:
			return flowv1alpha1.Failed
		case batchv1alpha1.Completed:
			completed++
			begun++
		case batchv1alpha1.Pending:
		default:
			begun++
		}
	}
	switch {
	case completed == len(f.Spec.Flows) && completed > 0:
		return flowv1alpha1.Succeed
	case begun > 0:
		return flowv1alpha1.Running
	}
	return flowv1alpha1.Pending
}

// deleteAllJobs deletes the jobs of a successful flow.
func (p *planner) deleteAllJobs() {
	for _, s := range p.in.Flow.Status.JobStatusList {
		if job := p.in.Jobs[s.Name]; job != nil && job.DeletionTimestamp == nil {
			p.Delete = append(p.Delete, job)
		}
	}
}
