package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// crashStory is a sequence of actions on a job or a queue, with the writes around which vcd is killed.
type crashStory struct {
	title  string
	play   func(*stage) (end func() string) // end describes the current state
	points []string
	away   func(*stage) // nil: the story leaves no objects
	// raced is true if the garbage collector also makes some of the writes, and may be first.
	raced bool
}

// enters returns the point of the write by which a job enters a phase for the nth time.
func enters(moment string, phase batchv1alpha1.JobPhase, nth int) string {
	return fmt.Sprintf(`%s update jobs/status %d "state":{"phase":%q`, moment, nth, phase)
}

var crashStories = []crashStory{
	{title: "creating", play: creating, away: jobAway, points: []string{
		"before patch jobs 1", // the names of the claims
		"after patch jobs 1",
		"after create persistentvolumeclaims 1",
		"before create secrets 1",
		"after create secrets 1",
		"after create configmaps 1",
		"after create services 1",
		"after create networkpolicies 1",
		"before create podgroups 1",
		"after create podgroups 1",
		"before patch podgroups 1", // the scheduler admits it
		"after patch podgroups 1",
		"before create pods 1",
		"after create pods 1",
		"after create pods 3",
		"after create pods 4", // the last
		"before create pods/binding 1",
		"after create pods/binding 2", // half of the gang
		"after create pods/binding 4",
		enters("before", batchv1alpha1.Running, 1),
		enters("after", batchv1alpha1.Running, 1),
	}},
	{title: "restarting", play: restarting, away: jobAway, points: []string{
		enters("before", batchv1alpha1.Restarting, 1),
		enters("after", batchv1alpha1.Restarting, 1),
		"before delete pods 1",
		"after delete pods 1",
		"after delete pods 3",
		"before delete podgroups 1",
		"after delete podgroups 1",
		"before delete commands 1",
		"after delete commands 1",
		enters("before", batchv1alpha1.Pending, 1) + ` "userRestarts":1`,
		enters("after", batchv1alpha1.Pending, 1) + ` "userRestarts":1`,
		"after create podgroups 2",
		"after create pods 5",
		"before create pods/binding 4",
		enters("after", batchv1alpha1.Running, 1) + ` "userRestarts":1`,
	}},
	{title: "restarting a task", play: restartingATask, away: jobAway, points: []string{
		enters("before", batchv1alpha1.Restarting, 1),
		enters("after", batchv1alpha1.Restarting, 1),
		"before delete pods 1",
		"after delete pods 1",
		enters("before", batchv1alpha1.Pending, 1) + ` "retryCount":1`,
		enters("after", batchv1alpha1.Pending, 1) + ` "retryCount":1`,
		"after create pods 4",
	}},
	{title: "completing", play: completing, away: jobAway, points: []string{
		enters("before", batchv1alpha1.Completing, 1),
		enters("after", batchv1alpha1.Completing, 1),
		"before delete pods 1",
		"after delete pods 1",
		"after delete pods 2",
		enters("before", batchv1alpha1.Completed, 1),
		enters("after", batchv1alpha1.Completed, 1),
		"before delete configmaps 1",
		"after delete configmaps 1",
		"after delete services 1",
		"before delete networkpolicies 1",
		"after delete networkpolicies 1",
		"before delete secrets 1",
		"after delete secrets 1",
		"before delete podgroups 1",
		"after delete podgroups 1",
	}},
	{title: "succeeding", play: succeeding, away: jobAway, points: []string{
		enters("before", batchv1alpha1.Completed, 1),
		enters("after", batchv1alpha1.Completed, 1),
		"after delete podgroups 1",
	}},
	{title: "suspending and resuming", play: suspending, away: jobAway, points: []string{
		enters("before", batchv1alpha1.Aborting, 1),
		enters("after", batchv1alpha1.Aborting, 1),
		"before delete commands 1",
		"after delete commands 1",
		"after delete pods 1",
		enters("before", batchv1alpha1.Aborted, 1),
		enters("after", batchv1alpha1.Aborted, 1),
		"after delete podgroups 1",
		enters("before", batchv1alpha1.Restarting, 1),
		enters("after", batchv1alpha1.Restarting, 1),
		"before delete commands 2",
		"after delete commands 2",
		"after create podgroups 2",
		"after create pods 4",
	}},
	{title: "terminating", play: terminating, away: jobAway, points: []string{
		enters("before", batchv1alpha1.Terminating, 1),
		enters("after", batchv1alpha1.Terminating, 1),
		"after delete pods 1",
		enters("before", batchv1alpha1.Terminated, 1),
		enters("after", batchv1alpha1.Terminated, 1),
	}},
	{title: "scaling up", play: scalingUp, away: jobAway, points: []string{
		"before update configmaps 1", // svc's hosts
		"after update configmaps 1",
		`before patch podgroups 1 "minMember":5`,
		`after patch podgroups 1 "minMember":5`,
		"before create pods 4",
		"after create pods 4",
		"after create pods/binding 4",
	}},
	{title: "scaling down", play: scalingDown, away: jobAway, points: []string{
		"before patch pods 1", // marks the pods, so that their end does not count as an eviction
		"after patch pods 1",
		"before delete pods 1",
		"after delete pods 1",
		"after delete pods 2",
		`after patch podgroups 1 "minMember":2`,
	}},
	{title: "deleting", play: deleting, away: jobAway, raced: true, points: []string{
		"before delete pods 1",
		"after delete pods 1",
		"after delete pods 3",
		"before delete podgroups 1",
		"after delete podgroups 1",
	}},
	{title: "expiring", play: expiring, points: []string{
		"before delete jobs 1",
		"after delete jobs 1",
	}},
	{title: "closing and opening a queue", play: closingAQueue, away: queuesAway, points: []string{
		`before patch queues/status 1 "state":"Closed"`,
		`after patch queues/status 1 "state":"Closed"`,
		"before delete commands 1",
		"after delete commands 1",
		"before patch queues 1 " + keys.ClosedByParent,
		"after patch queues 1 " + keys.ClosedByParent,
		`after patch queues/status 2 "state":"Closed"`,
		"before delete commands 2",
		"after delete commands 2",
		"after patch queues 2 " + keys.ClosedByParent,
	}},
}

// simulatedTask is a task with simulated pods.
type simulatedTask struct {
	name     string
	replicas int    // 0: omitted, as in an array
	runTime  string // empty: until it is deleted
	policies string
}

// submit creates the stage's job with additional lines in its spec.
func (s *stage) submit(spec string, tasks ...simulatedTask) {
	s.t.Helper()
	s.create("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + s.name + ", namespace: default}\n" + jobSpec(spec, tasks...))
}

// jobSpec returns the spec of a job with simulated pods.
func jobSpec(spec string, tasks ...simulatedTask) string {
	var b strings.Builder
	b.WriteString("spec:\n")
	for line := range strings.Lines(spec) {
		b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("  tasks:\n")
	for _, t := range tasks {
		fmt.Fprintf(&b, "  - name: %s\n", t.name)
		if t.replicas > 0 {
			fmt.Fprintf(&b, "    replicas: %d\n", t.replicas)
		}
		if t.policies != "" {
			fmt.Fprintf(&b, "    policies: %s\n", t.policies)
		}
		b.WriteString("    template:\n")
		if t.runTime != "" {
			fmt.Fprintf(&b, "      metadata: {annotations: {vc-batch.dev/sim-run-time: %s}}\n", t.runTime)
		}
		b.WriteString("      spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: c, image: none:local, command: [sleep, '600'], resources: {requests: {cpu: 100m}}}]}\n")
	}
	return b.String()
}

// state describes the stage's job, its pods and its other objects.
func (s *stage) state() string { return s.stateOf(s.name) }

func (s *stage) stateOf(job string) string {
	var b strings.Builder
	var j batchv1alpha1.Job
	err := s.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: job}, &j)
	switch {
	case apierrors.IsNotFound(err):
		b.WriteString("no job\n")
	case err != nil:
		return err.Error()
	default:
		st := j.Status
		fmt.Fprintf(&b, "%s, retries %d and %d, version %d; pending %d, running %d, succeeded %d, failed %d, terminating %d, unknown %d, min %d\n", st.State.Phase,
			st.RetryCount, st.UserRestarts, st.Version, st.Pending, st.Running, st.Succeeded, st.Failed, st.Terminating, st.Unknown, st.MinAvailable)
	}
	pods := s.jobPods(job)
	for _, name := range sortedNames(pods) {
		p := pods[name]
		fmt.Fprintf(&b, "pod %s %s going %v\n", name, p.Status.Phase, p.DeletionTimestamp != nil)
	}
	s.owned(&b, job)
	return b.String()
}

func sortedNames(pods map[string]corev1.Pod) []string {
	names := make([]string, 0, len(pods))
	for name := range pods {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// owned counts the other objects that an object owns.
func (s *stage) owned(b *strings.Builder, name string) {
	for _, list := range []client.ObjectList{&corev1.PersistentVolumeClaimList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{}, &corev1.SecretList{},
		&schedulingv1beta1.PodGroupList{}, &busv1alpha1.CommandList{}} {
		if err := s.List(context.Background(), list, client.InNamespace("default")); err != nil {
			fmt.Fprintln(b, err)
		}
		n := 0
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			if owner := metav1.GetControllerOf(o.(client.Object)); owner != nil && owner.Name == name {
				n++
			}
			return nil
		})
		fmt.Fprintf(b, "%T %d\n", list, n)
	}
}

// until waits until the stage's job is in a phase and the given number of its pods run.
func (s *stage) until(phase batchv1alpha1.JobPhase, live int) {
	s.t.Helper()
	s.jobIs(s.name, phase, live)
}

func (s *stage) jobIs(name string, phase batchv1alpha1.JobPhase, live int) {
	s.t.Helper()
	s.eventually(crashPatience, fmt.Sprintf("%s is %s with %d live pods", name, phase, live), func() error {
		var j batchv1alpha1.Job
		if err := s.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, &j); err != nil {
			return err
		}
		n := 0
		for _, p := range s.jobPods(name) {
			if p.DeletionTimestamp != nil {
				return fmt.Errorf("%s is going away", p.Name)
			}
			if p.Status.Phase == corev1.PodRunning {
				n++
			}
		}
		if j.Status.State.Phase != phase || n != live || int(j.Status.Running) != live {
			return fmt.Errorf("%d pods run, status %+v", n, j.Status)
		}
		return nil
	})
}

// command sends a command to an object once.
func (s *stage) command(action busv1alpha1.Action, name string, target *metav1.OwnerReference) {
	s.t.Helper()
	s.eventually(crashPatience, "the command is taken", func() error {
		err := s.Create(context.Background(), &busv1alpha1.Command{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name + "-" + strings.ToLower(string(action))},
			Action:     string(action), TargetObject: target,
		})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func (s *stage) commandJob(action busv1alpha1.Action) {
	s.t.Helper()
	s.command(action, s.name, metav1.NewControllerRef(s.job(s.name), batchv1alpha1.GroupVersion.WithKind("Job")))
}

func jobAway(s *stage) {
	s.t.Helper()
	if err := s.Delete(context.Background(), s.job(s.name), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		s.t.Error(err)
	}
}

// creating creates a job with a volume, plugins and two tasks that need each other.
func creating(s *stage) func() string {
	s.create(fmt.Sprintf("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: %s}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteMany], hostPath: {path: /tmp}}\n", s.name))
	s.submit("minAvailable: 4\nplugins: {svc: [], ssh: []}\nvolumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteMany], storageClassName: '', resources: {requests: {storage: 1Gi}}}}]",
		simulatedTask{name: "a", replicas: 1}, simulatedTask{name: "b", replicas: 3})
	s.until(batchv1alpha1.Running, 4)
	return s.state
}

// started creates a job and waits until its three pods run.
func (s *stage) started(spec string, a simulatedTask) {
	s.t.Helper()
	a.name, a.replicas = "a", 1
	s.submit("minAvailable: 3\nplugins: {svc: []}\n"+spec, a, simulatedTask{name: "b", replicas: 2})
	if a.runTime == "" {
		s.until(batchv1alpha1.Running, 3)
	}
}

func restarting(s *stage) func() string {
	s.started("", simulatedTask{})
	s.commandJob(busv1alpha1.RestartJobAction)
	s.restarted(1)
	s.until(batchv1alpha1.Running, 3)
	return s.state
}

// restarted waits until the job's status counts this many restarts, by policies or by users.
func (s *stage) restarted(times int32) {
	s.t.Helper()
	s.eventually(crashPatience, fmt.Sprintf("%s was restarted %d times", s.name, times), func() error {
		if status := s.job(s.name).Status; status.RetryCount+status.UserRestarts < times {
			return fmt.Errorf("%d and %d times", status.RetryCount, status.UserRestarts)
		}
		return nil
	})
}

// restartingATask deletes a pod, and the policy restarts its task.
func restartingATask(s *stage) func() string {
	s.submit("minAvailable: 3", simulatedTask{name: "a", replicas: 1},
		simulatedTask{name: "b", replicas: 2, policies: "[{event: PodEvicted, action: RestartTask}]"})
	s.until(batchv1alpha1.Running, 3)
	s.kubectl("delete", "pod", s.name+"-b-1", "--wait=false")
	s.restarted(1)
	s.until(batchv1alpha1.Running, 3)
	return s.state
}

func completing(s *stage) func() string {
	s.submit("minAvailable: 3\nplugins: {svc: [], ssh: []}",
		simulatedTask{name: "a", replicas: 1, runTime: "300ms", policies: "[{event: TaskCompleted, action: CompleteJob}]"}, simulatedTask{name: "b", replicas: 2})
	s.until(batchv1alpha1.Completed, 0)
	return s.state
}

func succeeding(s *stage) func() string {
	s.submit("minAvailable: 2", simulatedTask{name: "a", replicas: 2, runTime: "300ms"})
	s.until(batchv1alpha1.Completed, 0)
	return s.state
}

func suspending(s *stage) func() string {
	s.started("", simulatedTask{})
	s.commandJob(busv1alpha1.AbortJobAction)
	s.until(batchv1alpha1.Aborted, 0)
	s.commandJob(busv1alpha1.ResumeJobAction)
	s.until(batchv1alpha1.Running, 3)
	return s.state
}

func terminating(s *stage) func() string {
	s.started("", simulatedTask{})
	s.commandJob(busv1alpha1.TerminateJobAction)
	s.until(batchv1alpha1.Terminated, 0)
	return s.state
}

// scale sets minAvailable of the job and the replicas of task b.
func (s *stage) scale(replicas, minAvailable int) {
	s.t.Helper()
	s.changed("patch", "jobs.batch.volcano.sh", s.name, "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":"/spec/minAvailable","value":%d},`+
		`{"op":"replace","path":"/spec/tasks/1/replicas","value":%d},{"op":"add","path":"/spec/tasks/1/minAvailable","value":%d}]`, minAvailable, replicas, replicas))
}

func scalingUp(s *stage) func() string {
	s.started("", simulatedTask{})
	s.scale(4, 5)
	s.until(batchv1alpha1.Running, 5)
	return s.state
}

// scalingDown checks that removed pods do not count as evicted.
func scalingDown(s *stage) func() string {
	s.submit("minAvailable: 4\npolicies: [{event: PodEvicted, action: RestartJob}]", simulatedTask{name: "a", replicas: 1}, simulatedTask{name: "b", replicas: 3})
	s.until(batchv1alpha1.Running, 4)
	s.scale(1, 2)
	s.until(batchv1alpha1.Running, 2)
	return s.state
}

// deleting deletes the job and immediately creates another one with the same name.
func deleting(s *stage) func() string {
	s.started("", simulatedTask{})
	jobAway(s)
	s.started("", simulatedTask{})
	return s.state
}

func expiring(s *stage) func() string {
	s.submit("minAvailable: 2\nttlSecondsAfterFinished: 1", simulatedTask{name: "a", replicas: 2, runTime: "100ms"})
	s.eventually(crashPatience, "the job and all of its own are gone", func() error {
		if state := s.state(); !strings.HasPrefix(state, "no job") || strings.Contains(state, "pod ") {
			return fmt.Errorf("%s", state)
		}
		return nil
	})
	return s.state
}

// closingAQueue closes a queue with a child, and opens it again.
func closingAQueue(s *stage) func() string {
	s.create(queue(s.name, "weight: 1"))
	s.queueIs(s.name, schedulingv1beta1.QueueStateOpen)
	child := s.name + "-child"
	s.create(queue(child, "weight: 1, parent: "+s.name))
	s.queueIs(child, schedulingv1beta1.QueueStateOpen)
	for _, turn := range []struct {
		action busv1alpha1.Action
		state  schedulingv1beta1.QueueState
	}{{busv1alpha1.CloseQueueAction, schedulingv1beta1.QueueStateClosed}, {busv1alpha1.OpenQueueAction, schedulingv1beta1.QueueStateOpen}} {
		s.command(turn.action, s.name, &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: s.name, UID: s.queue(s.name).UID})
		s.queueIs(s.name, turn.state)
		s.queueIs(child, turn.state)
	}
	return func() string {
		var b strings.Builder
		for _, name := range []string{s.name, child} {
			q := s.queue(name)
			fmt.Fprintf(&b, "%s %s %v\n", name, q.Status.State, q.Annotations[keys.ClosedByParent])
		}
		s.owned(&b, s.name)
		return b.String()
	}
}

func (s *stage) queue(name string) *schedulingv1beta1.Queue {
	s.t.Helper()
	var q schedulingv1beta1.Queue
	if err := s.Get(context.Background(), client.ObjectKey{Name: name}, &q); err != nil {
		s.t.Fatal(err)
	}
	return &q
}

func (s *stage) queueIs(name string, state schedulingv1beta1.QueueState) {
	s.t.Helper()
	s.eventually(crashPatience, fmt.Sprintf("queue %s is %s", name, state), func() error {
		if now := s.queue(name).Status.State; now != state {
			return fmt.Errorf("it is %q", now)
		}
		return nil
	})
}

func queuesAway(s *stage) {
	s.t.Helper()
	for _, name := range []string{s.name + "-child", s.name} {
		s.eventually(crashPatience, "queue "+name+" is deleted", func() error {
			return client.IgnoreNotFound(s.Delete(context.Background(), s.queue(name)))
		})
	}
}
