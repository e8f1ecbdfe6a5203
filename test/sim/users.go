package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

var (
	jobKind     = batchv1alpha1.GroupVersion.WithKind("Job")
	commandKind = busv1alpha1.GroupVersion.WithKind("Command")
	queueKind   = schedulingv1beta1.GroupVersion.WithKind("Queue")
)

// userName is the name of the user who sends all requests of users and administrators.
const userName = "user"

// users sends the requests of users and administrators. A request that fails is not repeated.
type users struct {
	world    *World
	commands int
}

func newUsers(w *World) *users { return &users{world: w} }

func (u *users) do(r *apiserver.Request) (runtime.Object, error) {
	r.User = userName
	o, err := runtime.Object(nil), error(nil)
	if u.world.serverDown {
		err = connectionRefused(r)
	} else {
		o, err = u.world.do(r)
	}
	u.world.trace("user: %s: %s", r, describeError(err))
	return o, err
}

// submit creates a job.
func (u *users) submit(job *batchv1alpha1.Job) {
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Create, Kind: jobKind, Namespace: job.Namespace, Name: job.Name, Object: job})
}

// deleteJob deletes a job in the background.
func (u *users) deleteJob(name string) {
	background := metav1.DeletePropagationBackground
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Delete, Kind: jobKind, Namespace: userNamespace, Name: name, Propagation: &background})
}

// job returns a job, or nil.
func (w *World) job(name string) *batchv1alpha1.Job {
	return w.state.jobs[types.NamespacedName{Namespace: userNamespace, Name: name}]
}

// scale changes the replicas of a job's first task.
func (u *users) scale(name string, replicas int32) {
	job := u.world.job(name)
	if job == nil {
		return
	}
	update := job.DeepCopy()
	update.Spec.Tasks[0].Replicas = replicas
	if least := update.Spec.Tasks[0].MinAvailable; least != nil {
		*least = min(*least, replicas)
	}
	total := int32(0)
	for i := range update.Spec.Tasks {
		total += update.Spec.Tasks[i].Replicas
	}
	update.Spec.MinAvailable = min(update.Spec.MinAvailable, total)
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Update, Kind: jobKind, Namespace: userNamespace, Name: name, Object: update})
}

// command creates a Command for a job, as vcctl suspend and vcctl resume do.
func (u *users) command(name string, action busv1alpha1.Action) {
	job := u.world.job(name)
	if job == nil {
		return
	}
	u.commands++
	command := &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: fmt.Sprintf("%s-%d", name, u.commands)}, Action: string(action),
		TargetObject: metav1.NewControllerRef(job, jobKind),
	}
	command.OwnerReferences = []metav1.OwnerReference{*command.TargetObject}
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Create, Kind: commandKind, Namespace: userNamespace, Name: command.Name, Object: command})
}

// evictPod deletes one of a job's pods, counted from the first.
func (u *users) evictPod(job string, index int) {
	var pods []*corev1.Pod
	for _, pod := range u.world.pods() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == job {
			pods = append(pods, pod)
		}
	}
	if len(pods) == 0 {
		return
	}
	pod := pods[index%len(pods)]
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Delete, Kind: podKind, Namespace: pod.Namespace, Name: pod.Name})
}

// changeQueue changes the spec of a queue.
func (u *users) changeQueue(name string, change func(*schedulingv1beta1.QueueSpec)) {
	queue := u.world.state.queues[name]
	if queue == nil {
		return
	}
	update := queue.DeepCopy()
	change(&update.Spec)
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Update, Kind: queueKind, Name: name, Object: update})
}

// commandQueue creates a Command that opens or closes a queue.
func (u *users) commandQueue(name string, action busv1alpha1.Action) {
	queue := u.world.state.queues[name]
	if queue == nil {
		return
	}
	u.commands++
	command := &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: fmt.Sprintf("queue-%s-%d", name, u.commands)}, Action: string(action),
		TargetObject: metav1.NewControllerRef(queue, queueKind),
	}
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Create, Kind: commandKind, Namespace: userNamespace, Name: command.Name, Object: command})
}
