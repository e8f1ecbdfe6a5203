package whatif

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Question is a Plan, together with the existing objects that are needed to validate the Plan's objects.
type Question struct {
	Plan *insightv1alpha1.Plan
	// Queues are the existing queues.
	Queues []*schedulingv1beta1.Queue
	// Claims holds the names of the volume claims in the Plan's namespace.
	Claims map[string]bool
	// Jobs are the existing jobs. They are needed only if a planned job depends on other jobs.
	Jobs []*batchv1alpha1.Job
	// SchedulerNames are the scheduler names of the pods that this scheduler places; the first name is the default.
	SchedulerNames []string
	// Classes are the PriorityClasses.
	Classes []*schedulingv1.PriorityClass
	Now     time.Time
}

// Simulation is a question that is ready to be simulated.
type Simulation struct {
	now    time.Time
	items  []item
	queues []*schedulingv1beta1.Queue // queues that would be changed or created
	// problem is the reason why the question is not simulated at all; hint suggests a remedy.
	problem, hint string

	stage  stage              // the next slice of the answer
	before decision.Decisions // decisions without the plan; set only if queues are planned
}

// item is one object of the Plan: a job, a PodGroup, a pod or a queue.
type item struct {
	answer insightv1alpha1.Answer
	job    *offspring               // nil if the object is not a gang, or if the gang would be rejected or held
	queue  *schedulingv1beta1.Queue // nil if the object is not a queue, or if it would be rejected
	old    bool                     // the queue already exists
	// of is the planned PodGroup that a pod names, and pod is that pod. Both are nil for all other objects.
	of  *item
	pod *corev1.Pod
	// places holds the nodes of the gang's pods.
	places []place
}

// place is the node of one pod.
type place struct {
	pod   types.UID
	node  string
	later bool
}

// offspring holds the objects of one gang. These are either the objects that a controller would create for a job or a
// plain pod, or a PodGroup and its pods.
type offspring struct {
	group  *schedulingv1beta1.PodGroup
	pods   []*corev1.Pod
	claims []*corev1.PersistentVolumeClaim
	// podsFirst reports whether the pods exist before their group is admitted.
	podsFirst bool
}

var (
	jobKind   = batchv1alpha1.GroupVersion.WithKind("Job")
	queueKind = schedulingv1beta1.GroupVersion.WithKind("Queue")
)

// PrepareSimulation validates the objects of a Plan and creates the objects that the controller would create for them.
func PrepareSimulation(q *Question) *Simulation {
	t := &Simulation{now: q.Now}
	if t.problem, t.hint = checkPodCount(plannedPods(q.Plan)); t.problem != "" {
		return t
	}
	queues := map[string]*schedulingv1beta1.Queue{}
	for _, queue := range q.Queues {
		queues[queue.Name] = queue
	}
	t.items = make([]item, len(q.Plan.Spec.Objects))
	around := &check.Around{SchedulerNames: q.SchedulerNames, Jobs: jobSet(q.Jobs)}
	for _, wanted := range plannedKinds {
		around.Queues = schedulingv1beta1.NewQueueLookup(slices.Collect(maps.Values(queues))...)
		for i := range q.Plan.Spec.Objects {
			raw := rawObjectBytes(&q.Plan.Spec.Objects[i])
			kind, name := kindAndName(raw)
			it := &t.items[i]
			it.answer.Kind, it.answer.Name = kind.Kind, name
			switch {
			case kind != wanted:
				if !slices.Contains(plannedKinds, kind) {
					it.rejectObject(field.Invalid(field.NewPath("kind"), kind.String(), "a plan can contain only Jobs, PodGroups, Pods and Queues"))
				}
			default:
				t.addPlannedObject(q, it, kind, raw, queues, around, types.UID(fmt.Sprintf("%s-%d", q.Plan.UID, i)))
			}
		}
	}
	return t
}

// plannedKinds lists the kinds of objects in a plan in the order of validation, because jobs and groups may name
// planned queues, and pods may name planned groups.
var plannedKinds = []schema.GroupVersionKind{queueKind, jobKind, podGroupKind, podKind}

// addPlannedObject validates one object and creates the objects that the controller would create for it.
func (t *Simulation) addPlannedObject(q *Question, it *item, kind schema.GroupVersionKind, raw []byte, queues map[string]*schedulingv1beta1.Queue, around *check.Around, uid types.UID) {
	switch kind {
	case queueKind:
		t.addQueue(it, raw, queues, around)
	case podGroupKind:
		t.addGroup(q, it, raw, around, uid)
	case podKind:
		t.addPod(q, it, raw, around, uid)
	default:
		q.addJob(it, raw, queues, around, uid)
	}
}

func rawObjectBytes(e *runtime.RawExtension) []byte {
	if e.Raw == nil && e.Object != nil {
		if raw, err := json.Marshal(e.Object); err == nil {
			return raw
		}
	}
	return e.Raw
}

func kindAndName(raw []byte) (schema.GroupVersionKind, string) {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct{ Name, GenerateName string } `json:"metadata"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return schema.GroupVersionKind{}, ""
	}
	head.Metadata.Name = cmp.Or(head.Metadata.Name, head.Metadata.GenerateName)
	return head.GroupVersionKind(), head.Metadata.Name
}

// rejectObject sets the answer to say that the object would be rejected.
func (it *item) rejectObject(errs ...*field.Error) {
	it.answer.Verdict = insightv1alpha1.VerdictNever
	it.answer.Problems = nil
	texts := make([]string, len(errs))
	for i, e := range errs {
		texts[i] = e.Error()
		it.answer.Problems = append(it.answer.Problems, insightv1alpha1.Problem{Field: e.Field, Message: e.ErrorBody()})
	}
	it.answer.Message = "would be rejected: " + strings.Join(texts, "; ")
}

// addQueue validates a new or changed queue. Of the planned queue's status, only the state is used; other parts of
// the status stay unchanged.
func (t *Simulation) addQueue(it *item, raw []byte, queues map[string]*schedulingv1beta1.Queue, around *check.Around) {
	queue, errs := check.Decode[schedulingv1beta1.Queue](raw)
	if len(errs) > 0 {
		it.rejectObject(errs...)
		return
	}
	schedulingv1beta1.DefaultQueue(queue)
	old := queues[queue.Name]
	var verdict check.Verdict
	if old == nil {
		verdict = check.Create(queueKind, raw, around)
	} else if before, err := json.Marshal(old); err == nil {
		verdict = check.Update(queueKind, before, raw, around)
	}
	if it.answer.Warnings = verdict.Warnings; len(verdict.Errors) > 0 {
		it.rejectObject(verdict.Errors...)
		return
	}
	state := queue.Status.State
	if old == nil {
		queue.CreationTimestamp = metav1.NewTime(t.now)
		queue.UID = types.UID("planned-" + queue.Name)
	} else {
		queue.UID, queue.CreationTimestamp, queue.Status = old.UID, old.CreationTimestamp, *old.Status.DeepCopy()
		it.old, it.answer.Changes = true, describeChanges(old, queue)
	}
	if state != "" && state != queue.Status.State {
		if old != nil {
			it.answer.Changes = append(it.answer.Changes, fmt.Sprintf("state %s -> %s", textOrNone(string(queue.Status.State)), state))
		}
		queue.Status.State = state
	}
	queue.Status.State = cmp.Or(queue.Status.State, schedulingv1beta1.QueueStateOpen)
	queues[queue.Name] = queue
	t.queues = append(t.queues, queue)
	it.queue, it.answer.Verdict = queue, insightv1alpha1.VerdictStarts
}

// addJob validates a job and creates the objects that the controller would create for it.
func (q *Question) addJob(it *item, raw []byte, queues map[string]*schedulingv1beta1.Queue, around *check.Around, uid types.UID) {
	verdict := check.Create(jobKind, raw, around)
	if it.answer.Warnings = verdict.Warnings; len(verdict.Errors) > 0 {
		it.rejectObject(verdict.Errors...)
		return
	}
	job, errs := check.Decode[batchv1alpha1.Job](raw)
	if len(errs) > 0 {
		it.rejectObject(errs...)
		return
	}
	if errs := q.rejectOtherNamespace(job, "job"); len(errs) > 0 {
		it.rejectObject(errs...)
		return
	}
	if job.Name == "" {
		job.Name = job.GenerateName + "planned"
	}
	job.Namespace, job.UID, job.Generation, job.ResourceVersion = q.Plan.Namespace, uid, 1, ""
	job.CreationTimestamp, job.Status = q.creationTime(), batchv1alpha1.JobStatus{}
	batchv1alpha1.DefaultJob(job, around.SchedulerNames[0])
	it.answer.Queue = job.Spec.Queue
	it.job, it.answer.Message = q.createOffspring(job, queues[job.Spec.Queue])
	if it.job == nil {
		it.answer.Verdict = insightv1alpha1.VerdictWaits
	}
}

// createOffspring returns the objects that the job controller would create for a job. To find them, it computes the
// controller's plan before and after the PodGroup is admitted. It returns nil and the reason if the controller would
// create nothing yet.
func (q *Question) createOffspring(job *batchv1alpha1.Job, queue *schedulingv1beta1.Queue) (*offspring, string) {
	in := plan.Input{Job: job, Queue: queue, Claims: q.Claims, Priorities: q.priorityValues(), Related: q.Jobs, Now: q.Now}
	made := &offspring{}
	first := plan.Compute(in)
	job = first.Job
	for _, w := range first.Writes {
		switch w := w.(type) {
		case plan.CreateClaim:
			made.claims = append(made.claims, w.Claim)
		case plan.CreateGroup:
			made.group = w.Group
		case plan.WriteStatus:
			job.Status = w.Status
		case plan.NameClaims:
			job.Spec.Volumes = w.Volumes
		}
	}
	if made.group == nil {
		return nil, controllerMessage(&first)
	}
	admitted := made.group.DeepCopy()
	admitted.Status.Phase = schedulingv1beta1.PodGroupInqueue
	in.Job, in.PodGroup = job, admitted
	second := plan.Compute(in)
	set, err := plugin.For(second.Job)
	if err != nil {
		return nil, err.Error()
	}
	forwarding := queue != nil && len(queue.Spec.ExtendClusters) > 0
	for _, w := range second.Writes {
		if create, ok := w.(plan.CreatePods); ok {
			for _, place := range create.Places {
				pod := plan.NewPodForPlace(second.Job, set, place, forwarding)
				second.Array.LabelElementPod(pod, second.Job, place)
				made.pods = append(made.pods, pod)
			}
		}
	}
	made.setServerFields(job.UID, job.CreationTimestamp, q.Classes)
	return made, ""
}

// jobSet looks up existing jobs.
type jobSet []*batchv1alpha1.Job

// Job implements batch.JobLookup.
func (s jobSet) Job(r batchv1alpha1.JobReference) *batchv1alpha1.Job {
	for _, job := range s {
		if r.Names(job) {
			return job
		}
	}
	return nil
}

// controllerMessage returns the message that the controller would give for a job for which it creates nothing yet.
func controllerMessage(p *plan.Plan) string {
	for _, w := range p.Writes {
		if status, ok := w.(plan.WriteStatus); ok && status.Status.State.Message != "" {
			return status.Status.State.Message
		}
	}
	for _, e := range p.Events {
		if e.Message != "" {
			return e.Message
		}
	}
	return "the job controller would not create pods yet"
}

func textOrNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
