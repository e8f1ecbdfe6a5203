package jobflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

var epoch = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// world carries out plans.
type world struct {
	t     *testing.T
	in    Input
	holds map[string]bool // results of probes, as job/task
	asked []string
	log   []string
}

func newWorld(t *testing.T, steps ...flowv1alpha1.Flow) *world {
	f := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "default", UID: "flow"}}
	f.Spec.Flows = steps
	w := &world{t: t, holds: map[string]bool{}}
	w.in = Input{Flow: f, Templates: map[string]*flowv1alpha1.JobTemplate{}, Jobs: map[string]*batchv1alpha1.Job{}, Gone: map[string]*batchv1alpha1.Job{}, Now: epoch}
	for _, s := range steps {
		w.template(s.Name)
	}
	return w
}

func (w *world) template(name string) {
	template := &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	template.Spec = batchv1alpha1.JobSpec{Queue: "default", MinAvailable: 2, Tasks: []batchv1alpha1.TaskSpec{{Name: "server", Replicas: 2, Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"true"}}}},
	}}}}
	w.in.Templates[name] = template
}

// look computes a plan once and carries it out.
func (w *world) look() Plan {
	w.in.Now = w.in.Now.Add(time.Second)
	w.in.Held = nil
	p := Compute(w.in)
	if len(p.Probes) > 0 {
		w.in.Held = map[Probe]bool{}
		for _, probe := range p.Probes {
			w.asked = append(w.asked, fmt.Sprintf("%s %s/%s:%d%s", probe.Network, probe.Job, probe.Task, probe.Port, probe.Path))
			w.in.Held[probe] = w.holds[probe.Job+"/"+probe.Task]
		}
		p = Compute(w.in)
	}
	for _, e := range p.Events {
		w.log = append(w.log, e.Reason+": "+e.Message)
	}
	for _, j := range p.Create {
		if w.in.Jobs[j.Name] != nil {
			w.t.Errorf("job %s is made twice", j.Name)
		}
		j.UID, j.CreationTimestamp = types.UID(j.Name), metav1.NewTime(w.in.Now)
		w.in.Jobs[j.Name] = j
		w.log = append(w.log, "make "+j.Name)
	}
	if p.Status != nil {
		w.in.Flow.Status = *p.Status
	}
	for _, j := range p.Delete {
		delete(w.in.Jobs, j.Name)
		w.log = append(w.log, "delete "+j.Name)
	}
	return p
}

// is sets the phase of a job and of all its pods.
func (w *world) is(name string, phase batchv1alpha1.JobPhase, pods corev1.PodPhase) {
	j := w.in.Jobs[name]
	if j == nil {
		w.t.Fatalf("there is no job %s: %v", name, w.log)
	}
	j.Status.State.Phase, j.Status.State.LastTransitionTime = phase, metav1.NewTime(w.in.Now)
	j.Status.TaskStatusCount = map[string]batchv1alpha1.TaskState{"server": {Phase: map[corev1.PodPhase]int32{pods: 2}}}
	w.look()
	w.look()
}

func (w *world) want(lines ...string) {
	w.t.Helper()
	var got []string
	for _, line := range w.log {
		if !strings.HasPrefix(line, phaseOfFlow) {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(lines, got); diff != "" {
		w.t.Errorf("what happened (-want +got):\n%s", diff)
	}
	w.log = nil
}

func (w *world) phase(want flowv1alpha1.Phase) {
	w.t.Helper()
	if got := w.in.Flow.Status.State.Phase; got != want {
		w.t.Errorf("the flow is %s, want %s", got, want)
	}
}

func after(name string, targets ...string) flowv1alpha1.Flow {
	return flowv1alpha1.Flow{Name: name, DependsOn: &flowv1alpha1.DependsOn{Targets: targets}}
}

func TestStepsFollowEachOther(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, after("b", "a"), after("c", "a"), after("d", "b", "c"))
	w.look()
	w.want("make f-a")
	w.phase(flowv1alpha1.Pending)
	w.is("f-a", batchv1alpha1.Running, corev1.PodRunning)
	w.want()
	w.phase(flowv1alpha1.Running)
	w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.want("make f-b", "make f-c")
	w.is("f-b", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.want()
	w.phase(flowv1alpha1.Running)
	w.is("f-c", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.want("make f-d")
	w.is("f-d", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.phase(flowv1alpha1.Succeed)
	s := w.in.Flow.Status
	if diff := cmp.Diff([]string{"f-a", "f-b", "f-c", "f-d"}, s.CompletedJobs); diff != "" {
		t.Error(diff)
	}
	if p := w.look(); p.Status != nil || len(p.Events) > 0 {
		t.Errorf("a flow that is over is written again: %+v", p)
	}
}

func TestAProbeLetsAStepBeginBeforeItsTargetsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		probe flowv1alpha1.Probe
		ready func(w *world)
		asked []string
	}{
		"http": {flowv1alpha1.Probe{HTTPGetList: []flowv1alpha1.HTTPGet{{TaskName: "server", Path: "/ready", Port: 8080}}},
			func(w *world) { w.holds["f-a/server"] = true }, []string{"http f-a/server:8080/ready"}},
		"tcp": {flowv1alpha1.Probe{TCPSocketList: []flowv1alpha1.TCPSocket{{TaskName: "server", Port: 22}}},
			func(w *world) { w.holds["f-a/server"] = true }, []string{"tcp f-a/server:22"}},
		"status": {flowv1alpha1.Probe{TaskStatusList: []flowv1alpha1.TaskStatus{{TaskName: "server", Phase: "Running"}}},
			func(w *world) { w.is("f-a", batchv1alpha1.Running, corev1.PodRunning) }, nil},
		"completed": {flowv1alpha1.Probe{TaskStatusList: []flowv1alpha1.TaskStatus{{TaskName: "server", Phase: "Running"}}},
			func(w *world) { w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := after("b", "a")
			b.DependsOn.Probe = &c.probe
			w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, b)
			w.look()
			w.look()
			w.want("make f-a")
			if p := w.look(); len(c.asked) > 0 && p.RequeueAfter != probeEvery {
				t.Errorf("a probe that does not hold is asked again after %s, want %s", p.RequeueAfter, probeEvery)
			}
			c.ready(w)
			w.look()
			w.want("make f-b")
			if got := slices.Compact(w.asked); !slices.Equal(got, c.asked) {
				t.Errorf("asked were %q, want %q", got, c.asked)
			}
		})
	}
}

func TestAProbeOfATaskOfNobodyIsTold(t *testing.T) {
	b := after("b", "a")
	b.DependsOn.Probe = &flowv1alpha1.Probe{TaskStatusList: []flowv1alpha1.TaskStatus{{TaskName: "typo", Phase: "Running"}}}
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, b)
	w.look()
	w.look()
	w.want("make f-a", "TaskNotFound: step b waits because none of its targets has the task typo, which its probe specifies")
}

func TestAFlowFailsWithOneOfItsJobs(t *testing.T) {
	for _, phase := range []batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Terminated} {
		w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b"}, after("c", "b"))
		w.look()
		w.is("f-a", phase, corev1.PodFailed)
		w.phase(flowv1alpha1.Failed)
		w.is("f-b", batchv1alpha1.Completed, corev1.PodSucceeded)
		w.phase(flowv1alpha1.Failed)
		w.want("make f-a", "make f-b") // no further step starts
	}
}

func TestASuspendedJobDoesNotEndItsFlow(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Aborted, "")
	w.phase(flowv1alpha1.Running)
	w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.phase(flowv1alpha1.Succeed)
}

func TestAStepThatHasEndedDoesNotRunAgainWhenItsJobIsGone(t *testing.T) {
	for _, seen := range []bool{true, false} {
		w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, after("b", "a"))
		w.look()
		w.look()
		job := w.in.Jobs["f-a"]
		job.Status.State.Phase = batchv1alpha1.Completed
		if seen {
			w.look() // the status of the flow contains it
		} else {
			w.in.Gone["f-a"] = job // the job was deleted immediately
		}
		delete(w.in.Jobs, "f-a")
		w.look()
		w.want("make f-a", "make f-b")
	}
}

func TestAJobThatWasDeletedBeforeItEndedIsMadeAnew(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Running, corev1.PodRunning)
	delete(w.in.Jobs, "f-a")
	w.look()
	w.want("make f-a", "JobGone: job f-a was deleted before it ended; the job is re-created", "make f-a")
}

func TestAFlowThatHasFailedMakesNoJobAnew(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b"})
	w.look()
	w.is("f-a", batchv1alpha1.Running, corev1.PodRunning)
	w.is("f-b", batchv1alpha1.Failed, corev1.PodFailed)
	delete(w.in.Jobs, "f-a")
	w.look()
	w.want("make f-a", "make f-b", "JobGone: job f-a was deleted before it ended; the flow has failed, so no further jobs are created")
}

func TestJobsOfAFlowThatSucceededAreDeletedIfItSaysSo(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b"})
	w.in.Flow.Spec.JobRetainPolicy = flowv1alpha1.Delete
	w.look()
	w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.want("make f-a", "make f-b")
	w.is("f-b", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.want("delete f-a", "delete f-b")
	w.look()
	w.phase(flowv1alpha1.Succeed)
	w.want()
}

func TestAMissingTemplateIsToldAndComesLater(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	delete(w.in.Templates, "a")
	w.look()
	w.want("TemplateNotFound: step a waits: JobTemplate a does not exist in namespace default; create the JobTemplate")
	w.template("a")
	w.look()
	w.want("make f-a")
}

func TestStepsMayBeAddedLater(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded)
	w.phase(flowv1alpha1.Succeed)
	w.in.Flow.Spec.Flows = append(w.in.Flow.Spec.Flows, after("b", "a"))
	w.template("b")
	w.look()
	w.want("make f-a", "make f-b")
	w.look()
	w.phase(flowv1alpha1.Running)
}

// TestAPatchThatDoesNotFitIsTold covers patches that admission did not reject, because the flow is older or the
// template has changed since.
func TestAPatchThatDoesNotFitIsTold(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a", Patch: &flowv1alpha1.Patch{JobSpec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Replicas: 3}}}}})
	w.look()
	w.want("PatchFailed: step a: its patch cannot be applied to JobTemplate a: cannot merge: map: map[replicas:3] does not contain declared merge key: name")
	w.in.Flow.Spec.Flows[0].Patch.JobSpec.Tasks[0].Name = "server"
	w.look()
	w.want("make f-a")
}

func TestAPatchChangesTheTemplate(t *testing.T) {
	a := flowv1alpha1.Flow{Name: "a", Patch: &flowv1alpha1.Patch{JobSpec: batchv1alpha1.JobSpec{
		Queue: "night", MinAvailable: 3,
		Tasks: []batchv1alpha1.TaskSpec{
			{Name: "server", Replicas: 3, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "main", Image: "busybox:2"}, {Name: "side", Image: "log"},
			}}}},
			{Name: "extra", Replicas: 1},
		},
	}}}
	w := newWorld(t, a)
	w.look()
	got := w.in.Jobs["f-a"].Spec
	var words []string
	for _, task := range got.Tasks {
		words = append(words, fmt.Sprintf("%s x%d", task.Name, task.Replicas))
		for _, c := range task.Template.Spec.Containers {
			words = append(words, fmt.Sprintf("%s %s %v", c.Name, c.Image, c.Command))
		}
	}
	slices.Sort(words)
	want := []string{"extra x1", "main busybox:2 [true]", "server x3", "side log []"}
	if diff := cmp.Diff(want, words); diff != "" || got.Queue != "night" || got.MinAvailable != 3 {
		t.Errorf("patched is queue %s, minAvailable %d, tasks (-want +got):\n%s", got.Queue, got.MinAvailable, diff)
	}
	if w.in.Templates["a"].Spec.Queue != "default" {
		t.Error("the template itself was changed")
	}
}

func TestJobsSayWhatTheyWereMadeFrom(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	job := w.in.Jobs["f-a"]
	for key, want := range map[string]string{keys.CreatedByJobFlow: "default.f", keys.CreatedByJobTemplate: "default.a"} {
		if job.Labels[key] != want || job.Annotations[key] != want {
			t.Errorf("%s: label %q, annotation %q, want %q", key, job.Labels[key], job.Annotations[key], want)
		}
	}
	if !metav1.IsControlledBy(job, w.in.Flow) {
		t.Error("the job is not the flow's")
	}
}

func TestHistoriesTellWhatPhasesAJobWasIn(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Running, corev1.PodRunning)
	w.is("f-a", batchv1alpha1.Restarting, corev1.PodRunning)
	w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded)
	var got []batchv1alpha1.JobPhase
	s := w.in.Flow.Status.JobStatusList[0]
	for i, h := range s.RunningHistories {
		got = append(got, h.State)
		if last := i == len(s.RunningHistories)-1; h.EndTimestamp.IsZero() != last {
			t.Errorf("phase %s ends at %v", h.State, h.EndTimestamp)
		}
	}
	if diff := cmp.Diff([]batchv1alpha1.JobPhase{batchv1alpha1.Running, batchv1alpha1.Restarting, batchv1alpha1.Completed}, got); diff != "" {
		t.Error(diff)
	}
	if s.EndTimestamp.IsZero() || s.StartTimestamp.IsZero() {
		t.Errorf("times are %v to %v", s.StartTimestamp, s.EndTimestamp)
	}
}
