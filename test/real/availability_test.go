package real

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// rounds is the number of times that each fault is made.
var rounds = flag.Int("real.rounds", 1, "number of times that each leader is killed, stopped and drained")

const (
	// plannedGap is the maximum time without a scheduled pod when a leader is drained.
	plannedGap = 3 * time.Second
	// crashGap is the maximum time without a scheduled pod when a leader disappears: its lease must expire first.
	crashGap = 17 * time.Second
	// stopTime is how long a stopped leader does not run.
	stopTime = 40 * time.Second
	// observation is how long placements are observed before a fault and, beyond the maximum gap, after it.
	observation = 5 * time.Second
)

// TestTheOtherReplicaTakesOver kills, stops and drains the leaders of the scheduler and of the controllers while jobs are
// created. The gap until the next pod is scheduled is limited, no gang is scheduled in part, and no job loses a pod.
func TestTheOtherReplicaTakesOver(t *testing.T) {
	c := installVC(t)
	sizes := []int{loadedCPUs, loadedCPUs, loadedCPUs}
	if err := shared.resize(t.Context(), sizes); err != nil {
		t.Fatal(err)
	}
	load := startLoad(t, c)
	for _, component := range []struct{ deployment, lease string }{{"vc-scheduler", "vc-scheduler"}, {"vc-controllers", "vc-controller-manager"}} {
		for _, fault := range []struct {
			name  string
			limit time.Duration
			make  func(t *testing.T, leader *corev1.Pod) (undo func())
		}{
			{"killed", crashGap, killLeader},
			{"stopped", crashGap, stopLeader},
			{"drained", plannedGap, drainLeader},
		} {
			t.Run(component.deployment+"-"+fault.name, func(t *testing.T) {
				var gaps, usual []time.Duration
				for range *rounds {
					waitForDeployments(t)
					// On a busy machine, there are gaps without a fault, too.
					usual = append(usual, load.longestGap(t, time.Now(), observation))
					leader := leaderOf(t, component.lease)
					begun := time.Now()
					undo := fault.make(t, leader)
					gaps = append(gaps, load.longestGap(t, begun, fault.limit+observation))
					undo()
				}
				longestUsual := slices.Max(usual)
				slices.Sort(gaps)
				longest := gaps[len(gaps)-1]
				t.Logf("leader %s, %d rounds: no pod was scheduled for %.1f s (median), %.1f s (maximum); without a fault, %.1f s (maximum)",
					fault.name, len(gaps), gaps[len(gaps)/2].Seconds(), longest.Seconds(), longestUsual.Seconds())
				if longest > fault.limit+tolerance(longestUsual) {
					t.Errorf("the longest gap is %.1f s, want at most %.0f s on an idle machine", longest.Seconds(), fault.limit.Seconds())
				}
			})
		}
	}
	load.finish(t, c)
}

// tolerance returns how much longer a gap may be on a machine whose longest gap without a fault is known. The new leader
// and the kubelet of a drained pod share the processors with the load, so each step takes longer on a busy machine.
func tolerance(longestUsual time.Duration) time.Duration { return 3 * longestUsual }

// leaderOf returns the pod that holds a lease. A pod name is the first part of its identity.
func leaderOf(t *testing.T, lease string) *corev1.Pod {
	t.Helper()
	var leader *corev1.Pod
	eventually(t, "lease "+lease+" has a holder", func(ctx context.Context) error {
		found, err := shared.client.CoordinationV1().Leases(deploy.Namespace).Get(ctx, lease, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if found.Spec.HolderIdentity == nil || *found.Spec.HolderIdentity == "" {
			return fmt.Errorf("the lease has no holder")
		}
		name, _, _ := strings.Cut(*found.Spec.HolderIdentity, "_")
		leader, err = shared.client.CoreV1().Pods(deploy.Namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return leader
}

// signalContainer sends a signal to the first process of a pod's only container.
func signalContainer(t *testing.T, pod *corev1.Pod, signal syscall.Signal) {
	t.Helper()
	pid, err := shared.nodeOf(pod).containerPID(pod.Status.ContainerStatuses[0].ContainerID)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("signal process %d of pod %s: %v", pid, pod.Name, err)
	}
}

func killLeader(t *testing.T, leader *corev1.Pod) func() {
	t.Helper()
	signalContainer(t, leader, syscall.SIGKILL)
	return func() {}
}

// stopLeader stops the process of a leader for stopTime, and continues it then.
func stopLeader(t *testing.T, leader *corev1.Pod) func() {
	t.Helper()
	begun := time.Now()
	signalContainer(t, leader, syscall.SIGSTOP)
	pid, err := shared.nodeOf(leader).containerPID(leader.Status.ContainerStatuses[0].ContainerID)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		<-time.After(time.Until(begun.Add(stopTime)))
		_ = syscall.Kill(pid, syscall.SIGCONT) // the kubelet may have killed the process, because it failed its probe
	}
}

// drainLeader evicts the pod of a leader, as a drain of its node does.
func drainLeader(t *testing.T, leader *corev1.Pod) func() {
	t.Helper()
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: leader.Name, Namespace: leader.Namespace}}
	if err := shared.client.PolicyV1().Evictions(leader.Namespace).Evict(t.Context(), eviction); err != nil {
		t.Fatal(err)
	}
	return func() {}
}

// load creates gangs all the time, and records when their pods are scheduled.
type load struct {
	namespace string
	// stopCreating and stopWatching end the goroutines, which close the channels.
	stopCreating, stopWatching context.CancelFunc
	created, watched           chan struct{}

	mu        sync.Mutex
	gangs     int                   // created
	pods      map[string]*loadedPod // by UID
	names     map[string]string     // the UID of a pod, by name
	displaced map[string]bool       // the pods that Kubernetes removed from their node, by UID
	history   map[string][]string   // the states in which a pod was seen, by name
	problems  []string
	lastError error         // the last error of a request that creates gangs; nil if the last request succeeded
	changed   chan struct{} // closed when a pod was scheduled
}

// loadedPod is a pod of a gang that was seen on a node.
type loadedPod struct {
	gang, node string
	scheduled  time.Time
	hasEnded   bool
}

const (
	// gangSize is the number of pods of each gang. Each requests one CPU.
	gangSize = 2
	// gangPeriod is the time between the creation of gangs. Two processor cores can start four containers per second at
	// most, and their pods would then wait for the kubelets and not for vc.
	gangPeriod = time.Second
	// gangRuntime is how long the pods of a gang run. Without a fault, the gangs request about two thirds of all nodes.
	gangRuntime = 5 * time.Second
	// gangsAtOnce is the maximum number of gangs that have not ended. Together they request more than all nodes have.
	gangsAtOnce = 12
	// loadedCPUs is the number of CPUs that each node offers.
	loadedCPUs = 6
)

// startLoad starts to create gangs, until the test ends or finish is called.
func startLoad(t *testing.T, c client.Client) *load {
	t.Helper()
	l := &load{
		namespace: newNamespace(t, "load"), created: make(chan struct{}), watched: make(chan struct{}),
		pods: map[string]*loadedPod{}, names: map[string]string{}, displaced: map[string]bool{}, history: map[string][]string{}, changed: make(chan struct{}),
	}
	var creating, watching context.Context
	creating, l.stopCreating = context.WithCancel(context.Background())
	watching, l.stopWatching = context.WithCancel(context.Background())
	go func() {
		defer close(l.watched)
		l.watch(watching)
	}()
	go func() {
		defer close(l.created)
		l.create(creating, c)
	}()
	t.Cleanup(l.stop)
	return l
}

// stop ends the goroutines.
func (l *load) stop() {
	l.stopCreating()
	<-l.created
	l.stopWatching()
	<-l.watched
}

// create creates a gang every gangPeriod, unless there are gangsAtOnce already, until ctx is done. It does not cancel
// requests, because it would not know whether they succeeded.
func (l *load) create(ctx context.Context, c client.Client) {
	ticker := time.NewTicker(gangPeriod)
	defer ticker.Stop()
	for ctx.Err() == nil {
		request, cancel := context.WithTimeout(context.WithoutCancel(ctx), podPatience)
		active, err := l.countActive(request, c)
		if err == nil && active < gangsAtOnce {
			err = l.createGang(request, c)
		}
		cancel()
		l.mu.Lock()
		l.lastError = err
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// countActive returns the number of gangs that are not completed.
func (l *load) countActive(ctx context.Context, c client.Client) (int, error) {
	var jobs batchv1alpha1.JobList
	if err := c.List(ctx, &jobs, client.InNamespace(l.namespace)); err != nil {
		return 0, err
	}
	active := 0
	for i := range jobs.Items {
		if jobs.Items[i].Status.State.Phase != batchv1alpha1.Completed {
			active++
		}
	}
	return active, nil
}

// createGang creates the next gang. A request whose answer was lost may have succeeded, so a gang that exists already
// counts as created.
func (l *load) createGang(ctx context.Context, c client.Client) error {
	container := shell(fmt.Sprintf("exec sleep %.0f", gangRuntime.Seconds()))
	container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	// Jobs are deleted after their end, so that the test can run for long.
	job := newJob(l.namespace, fmt.Sprintf("gang-%d", l.gangs), gangSize, corev1.PodSpec{Containers: []corev1.Container{container}})
	job.Spec.TTLSecondsAfterFinished = new(int32(30))
	if err := c.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		return err // the next attempt follows
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gangs++
	return nil
}

// watch records the changes of pods until ctx is done.
func (l *load) watch(ctx context.Context) {
	for ctx.Err() == nil {
		changes, err := shared.client.CoreV1().Pods(l.namespace).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for change := range changes.ResultChan() {
			if pod, ok := change.Object.(*corev1.Pod); ok {
				l.record(change.Type, pod)
			}
		}
	}
}

// record records a pod. A pod with the name of an earlier one means that its job was started again, unless Kubernetes
// displaced the earlier one. A pod that changes its node means that two schedulers have placed it.
func (l *load) record(change watch.EventType, pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	uid, node := string(pod.UID), pod.Spec.NodeName
	l.history[pod.Name] = append(l.history[pod.Name], describeChange(change, pod))
	if earlier, ok := l.names[pod.Name]; ok && earlier != uid && !l.displaced[earlier] {
		l.problems = append(l.problems, fmt.Sprintf("pod %s was created twice:\n%s", pod.Name, strings.Join(l.history[pod.Name], "\n")))
	}
	if plan.WasRejectedByNode(pod) || wasPreempted(pod) {
		l.displaced[uid] = true
	}
	l.names[pod.Name] = uid
	if node == "" {
		return
	}
	known := l.pods[uid]
	if known == nil {
		known = &loadedPod{gang: pod.Labels[keys.JobName], node: node, scheduled: time.Now()}
		l.pods[uid] = known
		close(l.changed)
		l.changed = make(chan struct{})
	}
	known.hasEnded = pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if known.node != node {
		l.problems = append(l.problems, fmt.Sprintf("pod %s was on %s, then on %s", pod.Name, known.node, node))
	}
	running := 0
	for _, other := range l.pods {
		if other.node == node && !other.hasEnded {
			running++
		}
	}
	if running > loadedCPUs {
		l.problems = append(l.problems, fmt.Sprintf("%s offers %d CPUs, and has %d pods that request one each", node, loadedCPUs, running))
	}
}

// wasPreempted reports whether the scheduler of Kubernetes has preempted a pod. It does so when a new pod of vc, which has
// a high priority, finds no room on a full node.
func wasPreempted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// describeChange returns a line about a pod as a watch reports it.
func describeChange(change watch.EventType, pod *corev1.Pod) string {
	line := fmt.Sprintf("%s %s %s on %q: %s", time.Now().Format(time.StampMilli), pod.UID, change, pod.Spec.NodeName, pod.Status.Phase)
	if pod.Status.Reason != "" {
		line += fmt.Sprintf(", %s: %s", pod.Status.Reason, pod.Status.Message)
	}
	if pod.DeletionTimestamp != nil {
		line += ", is being deleted"
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget {
			line += fmt.Sprintf(", %s: %s", condition.Reason, condition.Message)
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			line += fmt.Sprintf(", exit code %d, %s: %s", ended.ExitCode, ended.Reason, ended.Message)
		}
	}
	return line
}

// waitForNext waits until a pod is scheduled after a time, and returns how long after it.
func (l *load) waitForNext(t *testing.T, after time.Time, limit time.Duration) time.Duration {
	t.Helper()
	timeout := time.After(limit)
	for {
		l.mu.Lock()
		changed := l.changed
		var first time.Time
		for _, pod := range l.pods {
			if pod.scheduled.After(after) && (first.IsZero() || pod.scheduled.Before(first)) {
				first = pod.scheduled
			}
		}
		l.mu.Unlock()
		if !first.IsZero() {
			return first.Sub(after)
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("no pod was scheduled within %s:\n%s", limit, l.describeStall(t))
		}
	}
}

// describeStall describes what could explain that no pod is scheduled: the last error when a gang was created, the holders
// of the leases, the pods of vc, and the gangs that are not completed.
func (l *load) describeStall(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	l.mu.Lock()
	fmt.Fprintf(&b, "last error when a gang was created: %v\n", l.lastError)
	l.mu.Unlock()
	for _, lease := range []string{"vc-scheduler", "vc-controller-manager"} {
		fmt.Fprintf(&b, "leader of %s: %s\n", lease, leaderOf(t, lease).Name)
	}
	for _, namespace := range []string{deploy.Namespace, l.namespace} {
		pods, err := shared.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return b.String() + err.Error()
		}
		for i := range pods.Items {
			fmt.Fprintf(&b, "pod %s: %s\n", pods.Items[i].Name, describeChange(watch.Modified, &pods.Items[i]))
		}
	}
	output, err := vcctl(t.Context(), "job", "list", "-n", l.namespace, "-o", "wide")
	fmt.Fprintf(&b, "%s%v\n", output, err)
	output, err = vcctl(t.Context(), "job", "explain", "-n", l.namespace)
	fmt.Fprintf(&b, "%s%v\n", output, err)
	return b.String()
}

// longestGap waits until a time span has passed after a fault, and returns the longest time without a scheduled pod in it.
// If the gap has not ended by then, it waits for its end.
func (l *load) longestGap(t *testing.T, fault time.Time, span time.Duration) time.Duration {
	t.Helper()
	<-time.After(time.Until(fault.Add(span)))
	last := l.waitForNext(t, fault.Add(span), podPatience)
	l.mu.Lock()
	defer l.mu.Unlock()
	times := []time.Time{fault, fault.Add(span + last)}
	for _, pod := range l.pods {
		if pod.scheduled.After(fault) {
			times = append(times, pod.scheduled)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	var longest time.Duration
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]))
	}
	return longest
}

// finish stops the creation of gangs, waits until all are completed, and checks what was recorded.
func (l *load) finish(t *testing.T, c client.Client) {
	t.Helper()
	l.stopCreating()
	<-l.created
	eventually(t, "all gangs are completed", func(ctx context.Context) error {
		active, err := l.countActive(ctx, c)
		if err == nil && active > 0 {
			err = fmt.Errorf("%d gangs are still active", active)
		}
		return err
	})
	l.stop()
	for _, problem := range l.problems {
		t.Error(problem)
	}
	if want := l.gangs*gangSize + len(l.displaced); len(l.pods) != want {
		t.Errorf("%d pods of %d gangs were scheduled, want %d", len(l.pods), l.gangs, want)
	}
	longest := l.longestStart()
	t.Logf("%d gangs, %d pods rejected by a kubelet or preempted for a pod of vc, and created again; at most %.2f s between the first and the last pod of a gang", l.gangs, len(l.displaced), longest.Seconds())
	if longest > crashGap {
		t.Errorf("a gang was scheduled in part for %s, want at most %s", longest, crashGap)
	}
}

// longestStart returns the longest time between the placement of the first and of the last pod of a gang.
func (l *load) longestStart() time.Duration {
	first, last := map[string]time.Time{}, map[string]time.Time{}
	for _, pod := range l.pods {
		if begun, ok := first[pod.gang]; !ok || pod.scheduled.Before(begun) {
			first[pod.gang] = pod.scheduled
		}
		if pod.scheduled.After(last[pod.gang]) {
			last[pod.gang] = pod.scheduled
		}
	}
	var longest time.Duration
	for gang := range first {
		longest = max(longest, last[gang].Sub(first[gang]))
	}
	return longest
}
