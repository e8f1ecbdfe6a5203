package plan

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// story builds an Input: by default a job "j" with one task "w" of two replicas.
type story struct{ Input }

func given(phase batchv1alpha1.JobPhase) *story {
	s := &story{Input{Now: noon, Queue: &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}
	s.Job = &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)), Generation: 1},
		Spec:       batchv1alpha1.JobSpec{Queue: "default", MaxRetry: 3},
		Status:     batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: phase}},
	}
	return s.task("w", 2)
}

func (s *story) task(name string, replicas int32) *story {
	s.Job.Spec.Tasks = append(s.Job.Spec.Tasks, batchv1alpha1.TaskSpec{Name: name, Replicas: replicas,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}})
	return s
}

func (s *story) with(change func(*batchv1alpha1.Job)) *story {
	change(s.Job)
	return s
}

func (s *story) policy(event busv1alpha1.Event, action busv1alpha1.Action) *story {
	s.Job.Spec.Policies = append(s.Job.Spec.Policies, batchv1alpha1.LifecyclePolicy{Event: event, Action: action})
	return s
}

// pod adds a pod of the current version; changes may modify it.
func (s *story) pod(task string, index int, phase corev1.PodPhase, changes ...func(*corev1.Pod)) *story {
	name := fmt.Sprintf("j-%s-%d", task, index)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute)),
			Annotations: map[string]string{keys.JobName: "j", keys.TaskSpec: task, keys.TaskIndex: strconv.Itoa(index),
				keys.JobVersion: strconv.Itoa(int(s.Job.Status.Version))}},
		Status: corev1.PodStatus{Phase: phase},
	}
	for _, change := range changes {
		change(pod)
	}
	s.Pods = append(s.Pods, pod)
	return s
}

func (s *story) group(phase schedulingv1beta1.PodGroupPhase) *story {
	s.PodGroup = newGroup(s.defaulted(), nil, always)
	s.PodGroup.UID = "uid-group"
	s.PodGroup.Status.Phase = phase
	return s
}

func (s *story) command(action busv1alpha1.Action) *story {
	s.Commands = append(s.Commands, &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", len(s.Commands))}, Action: string(action)})
	return s
}

// counted sets the counters in the status from the pods.
func (s *story) counted() *story {
	b := newBuilder(&s.Input)
	b.updateCounters(&s.Job.Status)
	return s
}

func (s *story) defaulted() *batchv1alpha1.Job {
	job := s.Job.DeepCopy()
	batchv1alpha1.DefaultJob(job, "")
	return job
}

func goingAway(pod *corev1.Pod) {
	at, grace := metav1.NewTime(noon.Add(25*time.Second)), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
}

func ofVersion(version int) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[keys.JobVersion] = strconv.Itoa(version) }
}

func ended(exitCode int32, ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, FinishedAt: metav1.NewTime(noon.Add(-ago)),
		}}}}
	}
}

func restarted(times int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: times}} }
}

func ready(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Ready: true}} }

// digest describes a plan in words, one per write, so that tests are easy to read.
func digest(p *Plan) []string {
	var words []string
	for _, w := range p.Writes {
		switch w := w.(type) {
		case WriteStatus:
			word := fmt.Sprintf("status %s v%d r%d", w.Status.State.Phase, w.Status.Version, w.Status.RetryCount)
			if w.Status.UserRestarts > 0 {
				word += fmt.Sprintf(" u%d", w.Status.UserRestarts)
			}
			if w.Lazy {
				word += " lazy"
			}
			words = append(words, word)
		case MarkPods:
			words = append(words, "mark"+names(w.Pods))
		case DeletePods:
			words = append(words, "delete"+names(w.Pods))
		case CreatePods:
			word := "create"
			for _, place := range w.Places {
				word += fmt.Sprintf(" %s-%d", p.Job.Spec.Tasks[place.Task].Name, place.Index)
			}
			words = append(words, word)
		case CreateClaim:
			words = append(words, "claim "+w.Claim.Name)
		case DeleteCommand:
			words = append(words, "done "+w.Command.Name)
		default:
			words = append(words, fmt.Sprintf("%T", w)[len("plan."):])
		}
	}
	return words
}

func names(pods []*corev1.Pod) string {
	list := ""
	for _, pod := range pods {
		list += " " + pod.Name[len("j-"):]
	}
	return list
}

// status returns the last status that a plan writes, or the status of the job.
func status(in *story, p *Plan) *batchv1alpha1.JobStatus {
	last := &in.Job.Status
	for _, w := range p.Writes {
		if s, ok := w.(WriteStatus); ok {
			last = &s.Status
		}
	}
	return last
}

func always(int) bool { return true }
