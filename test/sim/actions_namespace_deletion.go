package sim

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("delete-namespace", 3, func(s *drawing) *action {
		d := drawNamespaceDeletion(s)
		return s.action(d.start, "%s", d.describe(s.at))
	})
	expectCoverage("deleted namespace", 16)
}

// namespaceDeletion is the life of a namespace: an administrator creates it, users fill it, the administrator deletes it
// and perhaps creates it again, and then the users fill it again.
type namespaceDeletion struct {
	name    string
	quota   corev1.ResourceList // of the small namespace, if it is the one that is deleted
	objects []namespacedObject
	command busv1alpha1.Action // for the first job; "" means none
	late    *batchv1alpha1.Job // is submitted while the namespace is being deleted
	// deletedAt is the time of the deletion, since the start of the world. The other times are relative to it.
	deletedAt, commandBefore, lateAfter time.Duration
	recreateAfter                       time.Duration // 0 means never
}

// namespacedObject is an object that a user creates in a namespace.
type namespacedObject struct {
	kind   schema.GroupVersionKind
	object client.Object
}

func drawNamespaceDeletion(s *drawing) *namespaceDeletion {
	s.plain++
	d := &namespaceDeletion{name: fmt.Sprintf("project-%d", s.plain)}
	if s.IntN(3) == 0 {
		d.name, d.quota = smallNamespace, drawQuota(s.Rand)
	}
	life := between(s.Rand, time.Second, []time.Duration{10 * time.Second, 90 * time.Second}[s.IntN(2)])
	d.deletedAt = min(s.at+life, storyLength)
	d.drawObjects(s)
	if s.IntN(2) == 0 {
		actions := []busv1alpha1.Action{busv1alpha1.AbortJobAction, busv1alpha1.RestartJobAction, busv1alpha1.TerminateJobAction, busv1alpha1.CompleteJobAction}
		d.command, d.commandBefore = actions[s.IntN(len(actions))], between(s.Rand, -6*time.Second, 2*time.Second)
	}
	d.late, d.lateAfter = d.newJob(s, "late"), between(s.Rand, 0, 20*time.Second)
	if s.IntN(2) == 0 {
		d.recreateAfter = between(s.Rand, time.Second, time.Minute)
	}
	return d
}

func (d *namespaceDeletion) newJob(s *drawing, name string) *batchv1alpha1.Job {
	job := drawJob(s.Rand, name, s.queueNames())
	job.Namespace = d.name
	return job
}

// drawObjects draws jobs, and sometimes pods, a CronJob and a JobFlow.
func (d *namespaceDeletion) drawObjects(s *drawing) {
	add := func(kind schema.GroupVersionKind, object client.Object) {
		d.objects = append(d.objects, namespacedObject{kind, object})
	}
	for i := range 1 + s.IntN(2) {
		add(jobKind, d.newJob(s, fmt.Sprintf("job-%d", i)))
	}
	if s.IntN(3) == 0 {
		add(podKind, d.newPod("pod"))
	}
	if s.IntN(3) == 0 {
		group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: d.name, Name: "group"}}
		group.Spec.MinMember, group.Spec.Queue = 2, s.queueNames()[s.IntN(len(s.queueNames()))]
		add(groupKind, group)
		for i := range 2 {
			pod := d.newPod(fmt.Sprintf("member-%d", i))
			pod.Annotations, pod.Labels = map[string]string{keys.GroupName: group.Name}, map[string]string{inGroupLabel: "true"}
			add(podKind, pod)
		}
	}
	if s.IntN(3) == 0 {
		cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: d.name, Name: "cron-of-" + d.name}}
		cron.Spec.Schedule, cron.Spec.ConcurrencyPolicy = "* * * * *", batchv1alpha1.AllowConcurrent
		cron.Spec.SuccessfulJobsHistoryLimit, cron.Spec.FailedJobsHistoryLimit = ptr.To(int32(1)), ptr.To(int32(1))
		cron.Spec.JobTemplate.Spec = newSimpleJob("", s.queueNames()[0], 1, "500m").Spec
		add(cronJobKind, cron)
	}
	if s.IntN(3) == 0 {
		d.drawFlow(s, add)
	}
}

// drawFlow draws a JobFlow with two steps.
func (d *namespaceDeletion) drawFlow(s *drawing, add func(schema.GroupVersionKind, client.Object)) {
	flow := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: d.name, Name: "flow"}}
	flow.Spec.JobRetainPolicy = flowv1alpha1.Retain
	for i := range 2 {
		job := d.newJob(s, fmt.Sprintf("step-%d", i))
		job.Spec.TTLSecondsAfterFinished = nil
		add(templateKind, &flowv1alpha1.JobTemplate{ObjectMeta: job.ObjectMeta, Spec: job.Spec})
		step := flowv1alpha1.Flow{Name: job.Name}
		if i > 0 {
			step.DependsOn = &flowv1alpha1.DependsOn{Targets: []string{"step-0"}}
		}
		flow.Spec.Flows = append(flow.Spec.Flows, step)
	}
	add(flowKind, flow)
}

func (d *namespaceDeletion) newPod(name string) *corev1.Pod {
	pod := newPodOf(name, keys.DefaultSchedulerName)
	pod.Namespace = d.name
	return pod
}

// describe returns the action in words.
func (d *namespaceDeletion) describe(at time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "users create in namespace %s:", d.name)
	for _, o := range d.objects {
		fmt.Fprintf(&b, " %s %s", o.kind.Kind, o.object.GetName())
		if job, ok := o.object.(*batchv1alpha1.Job); ok {
			fmt.Fprintf(&b, " (%s)", describeJob(job))
		}
	}
	fmt.Fprintf(&b, "; %s later, an administrator deletes the namespace", (d.deletedAt - at).Round(time.Second))
	if d.command != "" {
		fmt.Fprintf(&b, "; %s before that, a user creates the command %s for job-0", d.commandBefore.Round(time.Second), d.command)
	}
	fmt.Fprintf(&b, "; %s after it, a user submits job late", d.lateAfter.Round(time.Second))
	if d.recreateAfter > 0 {
		fmt.Fprintf(&b, "; from %s after it, the administrator tries to create the namespace again, with the same objects", d.recreateAfter.Round(time.Second))
	}
	return b.String()
}

// start creates the namespace and its objects, and schedules its deletion.
func (d *namespaceDeletion) start(w *World) {
	if w.namespace(d.name) == nil {
		w.users.create(namespaceKind, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.name}})
	}
	deleted := epoch.Add(d.deletedAt)
	w.add(deleted, nil, func() {
		_, _ = w.users.do(&apiserver.Request{Verb: apiserver.Delete, Kind: namespaceKind, Name: d.name})
	})
	w.add(deleted.Add(d.lateAfter), nil, func() { w.users.submit(d.late.DeepCopy()) })
	if d.command != "" {
		w.add(deleted.Add(-d.commandBefore), nil, func() { w.users.commandIn(d.name, "job-0", d.command) })
	}
	if d.recreateAfter > 0 {
		w.add(deleted.Add(d.recreateAfter), nil, func() { d.recreate(w) })
	}
	d.createObjects(w)
}

func (d *namespaceDeletion) createObjects(w *World) {
	for _, o := range d.objects {
		w.users.create(o.kind, o.object)
		if o.kind == cronJobKind {
			w.add(epoch.Add(storyLength+cronTime), nil, func() { w.users.suspendCronJob(o.object.GetName()) })
		}
	}
}

// recreatePause is the pause between two attempts to create a namespace.
const recreatePause = 3 * time.Second

// recreate creates the namespace and its objects again. While the namespace is being deleted, it tries again.
func (d *namespaceDeletion) recreate(w *World) {
	if w.now.After(epoch.Add(storyLength)) {
		return
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.name}}
	_, err := w.users.do(&apiserver.Request{Verb: apiserver.Create, Kind: namespaceKind, Name: d.name, Object: namespace})
	if err != nil {
		w.add(w.now.Add(recreatePause), nil, func() { d.recreate(w) })
		return
	}
	w.cover("deleted namespace", "the namespace is created again")
	if d.quota != nil {
		w.users.create(quotaKind, newQuota(d.quota))
	}
	d.createObjects(w)
}

// commandIn creates a Command for a job in a namespace.
func (u *users) commandIn(namespace, name string, action busv1alpha1.Action) {
	job := u.world.jobNamed(namespace, name)
	if job == nil {
		return
	}
	u.commands++
	command := &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", name, u.commands)}, Action: string(action),
		TargetObject: metav1.NewControllerRef(job, jobKind),
	}
	command.OwnerReferences = []metav1.OwnerReference{*command.TargetObject}
	u.create(commandKind, command)
}
