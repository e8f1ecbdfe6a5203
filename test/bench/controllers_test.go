package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/bench/figures"
)

const (
	largeJob  = 10_000 // pods
	smallJobs = 1_000
	idleFor   = time.Minute
)

// TestControllers measures how fast the pods of jobs are created, compared with a bare loop of creates, and the cost of
// running them. `vcd controllers` runs alone, so its processor time is its own. The test admits every PodGroup at once
// in place of a scheduler.
func TestControllers(t *testing.T) {
	skipUnlessAsked(t)
	r := startRig(t, 1)
	makeNamespace(t, r.core, "warm")
	r.bareCreates(t, "warm", 300)
	r.emptyNamespace(t, "warm")
	makeNamespace(t, r.core, "volcano-system") // where job numbers are assigned
	r.openQueue(t)
	free := r.freeJobs(t, smallJobs)
	r.letAllIn(t)
	daemon := r.startVCD(t, "controllers")

	t.Run("1,000 jobs of one pod", func(t *testing.T) {
		s := shape{smallJobs, 1}
		var shares, inCPU, of, cpus []float64
		for round := range rounds() {
			c := r.createRound(t, daemon, s, round)
			r.removeJobs(t, ourNamespace(s, round))
			shares, inCPU = append(shares, c.share()), append(inCPU, c.shareInCPU())
			of, cpus = append(of, free.Seconds()/c.oursCPU.Seconds()), append(cpus, c.perPod())
		}
		take(t, figures.SmallJobs, 0, shares...)
		take(t, figures.SmallJobs+figures.InProcessorTime, 0, inCPU...)
		take(t, figures.SmallOfMost, 0, of...)
		take(t, figures.ControlSmall, 0, cpus...)
	})
	t.Run("a job of 10,000 pods", func(t *testing.T) {
		s := shape{1, largeJob}
		var shares, inCPU, cpus []float64
		last := rounds() - 1
		for round := range rounds() {
			c := r.createRound(t, daemon, s, round)
			shares, inCPU, cpus = append(shares, c.share()), append(inCPU, c.shareInCPU()), append(cpus, c.perPod())
			if round < last {
				r.removeJobs(t, ourNamespace(s, round))
				quiet(t, daemon)
			}
		}
		take(t, figures.LargeJob, 0, shares...)
		take(t, figures.LargeJob+figures.InProcessorTime, 0, inCPU...)
		take(t, figures.Control, 0, cpus...)
		r.finish(t, ourNamespace(s, last), s.pods)
		r.idle(t, daemon)
	})
}

func ourNamespace(s shape, round int) string { return fmt.Sprintf("ours-%s-%d", s, round) }

// creation holds the measurements of one round.
type creation struct {
	shape
	bare, ours time.Duration
	// Processor time of all processes together, and of vcd alone. It hardly depends on other load on the machine.
	bareCPU, oursCPU, vcdCPU time.Duration
}

// share returns the bare loop's time divided by ours. 1 means equally fast, and greater is better.
func (c creation) share() float64 { return c.bare.Seconds() / c.ours.Seconds() }

func (c creation) shareInCPU() float64 { return c.bareCPU.Seconds() / c.oursCPU.Seconds() }

// perPod returns the controllers' processor time per pod, in milliseconds.
func (c creation) perPod() float64 { return c.vcdCPU.Seconds() * 1000 / float64(c.all()) }

// createRound measures how long it takes until all pods of some jobs exist, compared with bare creates of as many pods.
func (r *rig) createRound(t *testing.T, daemon *vcd, s shape, round int) creation {
	t.Helper()
	c := creation{shape: s}
	bare, ours := fmt.Sprintf("bare-%s-%d", s, round), ourNamespace(s, round)
	makeNamespace(t, r.core, bare)
	makeNamespace(t, r.core, ours)
	used := cpuOf(t, daemon)
	c.bare = r.bareCreates(t, bare, s.all())
	c.bareCPU = cpuOf(t, daemon) - used
	r.emptyNamespace(t, bare)
	quiet(t, daemon)

	profiled := daemon.profile(t, ours)
	asked := r.requests(t)
	alone, all := cpuTime(t, daemon.process.Process.Pid), cpuOf(t, daemon)
	began := time.Now()
	var submitted time.Duration
	inParallel(t, s.jobs, func(ctx context.Context, i int) error {
		job := newJob(ours, fmt.Sprintf("job-%d", i), s.pods, nil)
		batchv1alpha1.SetJobID(job, int64(1+round*s.jobs+i)) // as admission does
		return r.ours.Create(ctx, job)
	})
	submitted = time.Since(began)
	t.Cleanup(func() {
		r.tellJob(t, ours)
		if text, _ := os.ReadFile(daemon.log); t.Failed() {
			t.Log(tail(string(text), 30))
		}
	})
	eventually(t, 3*time.Minute, fmt.Sprintf("all %d pods of %s exist", s.all(), ours), func() bool { return r.pods.count(ours).exist == s.all() })
	c.ours = r.pods.count(ours).lastCreated.Sub(began)
	c.oursCPU = cpuOf(t, daemon) - all
	t.Logf("requests a pod: %s", r.requests(t).since(asked, s.all()))
	quiet(t, daemon)
	c.vcdCPU = cpuTime(t, daemon.process.Process.Pid) - alone
	profiled()
	t.Logf("round %d, %s: bare creates %s, ours %s (submitted after %s), share %.2f; processor time %s and %s, share %.2f; controllers %.3f ms a pod",
		round, s, short(c.bare), short(c.ours), short(submitted), c.share(), short(c.bareCPU), short(c.oursCPU), c.shareInCPU(), c.perPod())
	return c
}

// freeJobs sends the writes of jobs of one pod without vcd, as if controllers had no cost: each Job, its PodGroup, the
// PodGroup's phase and the pod, as fast as the API server accepts them. It returns the processor time of these writes
// and deletes the objects again.
func (r *rig) freeJobs(t *testing.T, jobs int) time.Duration {
	t.Helper()
	var shares, used []float64
	spec := podSpec("nobody")
	for round := range rounds() {
		namespace, bare := fmt.Sprintf("free-%d", round), fmt.Sprintf("free-bare-%d", round)
		makeNamespace(t, r.core, namespace)
		makeNamespace(t, r.core, bare)
		alone := r.bareCreates(t, bare, jobs)
		r.emptyNamespace(t, bare)
		before := cpuTime(t, os.Getpid())
		all := inParallel(t, jobs, func(ctx context.Context, i int) error {
			job := newJob(namespace, fmt.Sprintf("job-%d", i), 1, nil)
			if err := r.ours.Create(ctx, job); err != nil {
				return err
			}
			if err := r.createGang(ctx, namespace, job.Name, 1); err != nil {
				return err
			}
			if err := letIn(ctx, r.ours, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: job.Name}}); err != nil {
				return err
			}
			_, err := r.core.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: job.Name}, Spec: spec}, metav1.CreateOptions{})
			return err
		})
		cpu := cpuTime(t, os.Getpid()) - before
		t.Logf("round %d, without vcd: bare creates %s, with a Job and a PodGroup each %s, %s of processor time", round, short(alone), short(all), short(cpu))
		shares, used = append(shares, alone.Seconds()/all.Seconds()), append(used, cpu.Seconds())
		r.removeGangs(t, namespace)
		r.removeJobs(t, namespace)
	}
	take(t, figures.SmallMost, 0, shares...)
	slices.Sort(used)
	return time.Duration(used[len(used)/2] * float64(time.Second))
}

// bareCreates creates pods as fast as possible.
func (r *rig) bareCreates(t *testing.T, namespace string, pods int) time.Duration {
	t.Helper()
	spec := podSpec("nobody")
	return inParallel(t, pods, func(ctx context.Context, i int) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bare-%d", i)}, Spec: spec}
		_, err := r.core.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// openQueue creates the default queue, which a scheduler would create.
func (r *rig) openQueue(t *testing.T) {
	t.Helper()
	q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: schedulingv1beta1.QueueSpec{Weight: 1, Parent: "root"}}
	if err := r.ours.Create(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

// letAllIn admits every PodGroup until the test ends.
func (r *rig) letAllIn(t *testing.T) {
	t.Helper()
	fast := rest.CopyConfig(r.config)
	fast.QPS = -1
	c, err := client.NewWithWatch(fast, client.Options{Scheme: r.ours.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(t.Context(), &schedulingv1beta1.PodGroupList{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	waiting := make(chan *schedulingv1beta1.PodGroup, 10_000)
	for range 16 {
		go func() {
			for g := range waiting {
				// An error is ignored: the PodGroup may have been deleted.
				_ = letIn(t.Context(), c, g)
			}
		}()
	}
	go func() {
		defer close(waiting)
		for e := range w.ResultChan() {
			if g, ok := e.Object.(*schedulingv1beta1.PodGroup); ok && e.Type == watch.Added {
				waiting <- g
			}
		}
	}()
}

// letIn admits a PodGroup, as a scheduler does.
func letIn(ctx context.Context, c client.Client, g *schedulingv1beta1.PodGroup) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"phase": schedulingv1beta1.PodGroupInqueue}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, g, client.RawPatch(types.MergePatchType, patch))
}

// finish makes all pods of a job succeed and waits until the job has ended.
func (r *rig) finish(t *testing.T, namespace string, pods int) {
	t.Helper()
	patch := []byte(`{"status":{"phase":"Succeeded"}}`)
	inParallel(t, pods, func(ctx context.Context, i int) error {
		_, err := r.core.CoreV1().Pods(namespace).Patch(ctx, fmt.Sprintf("job-0-worker-%d", i), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	eventually(t, 2*time.Minute, "the job is Completed", func() bool {
		var j batchv1alpha1.Job
		err := r.ours.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "job-0"}, &j)
		return err == nil && j.Status.State.Phase == batchv1alpha1.Completed && int(j.Status.Succeeded) == pods
	})
}

// idle measures the work of vcd in a minute without any changes.
func (r *rig) idle(t *testing.T, daemon *vcd) {
	t.Helper()
	quiet(t, daemon)
	written, used := daemon.written(t), cpuTime(t, daemon.process.Process.Pid)
	waitFor(t, idleFor)
	used = cpuTime(t, daemon.process.Process.Pid) - used
	writes := daemon.written(t) - written
	t.Logf("in %s: %.0f writes, %s of processor time", idleFor, writes, used)
	take(t, figures.IdleWrites, 0, writes)
	take(t, figures.IdleProcessor, 0, float64(used.Milliseconds()))
}

// TestPendingPods checks that vcd writes nothing for a minute while 5,000 pods wait and nothing changes.
func TestPendingPods(t *testing.T) {
	skipUnlessAsked(t)
	const gangs, members = 40, 100
	r := startRig(t, 2)
	makeNamespace(t, r.core, "volcano-system")
	makeNamespace(t, r.core, "waiting")
	spec := podSpec("volcano")
	inParallel(t, gangs, func(ctx context.Context, i int) error {
		return r.createGang(ctx, "waiting", fmt.Sprintf("gang-%d", i), members)
	})
	inParallel(t, gangs*members, func(ctx context.Context, i int) error {
		return r.createMember(ctx, "waiting", fmt.Sprintf("gang-%d", i/members), i, spec)
	})
	daemon := r.startVCD(t, "all", "--webhook-listen-address", "127.0.0.1:0")
	elastic := newJob("waiting", "elastic", 1000, nil) // a few of its pods get a node
	elastic.Spec.MinAvailable = 1
	eventually(t, time.Minute, "the job is taken", func() bool { return r.ours.Create(t.Context(), elastic.DeepCopy()) == nil })
	eventually(t, 3*time.Minute, "5,000 pods exist, and the nodes are full", func() bool {
		c := r.pods.count("waiting")
		return c.exist == gangs*members+1000 && c.bound == len(r.nodes)*podsPerNode
	})
	r.settled(t)
	asked, used := r.requests(t), cpuTime(t, daemon.process.Process.Pid)
	waitFor(t, idleFor)
	written := r.requests(t).writesSince(asked)
	t.Logf("in %s vcd took %s of processor time; written: %v", idleFor, cpuTime(t, daemon.process.Process.Pid)-used, written)
	sum := 0.0
	for _, n := range written {
		sum += n
	}
	take(t, figures.PendingWrites, 0, sum)
}

// settled waits until nothing has been written for longer than a minute. That is how long the scheduler waits before it
// reports numbers that have changed under an unchanged reason. Such a write still belongs to the earlier change.
func (r *rig) settled(t *testing.T) {
	t.Helper()
	last, since := r.requests(t), time.Now()
	eventually(t, 5*time.Minute, "nothing is written any more", func() bool {
		time.Sleep(500 * time.Millisecond)
		now := r.requests(t)
		if len(now.writesSince(last)) > 0 {
			last, since = now, time.Now()
		}
		return time.Since(since) > 65*time.Second
	})
}

// waitFor waits for a duration. Nothing should happen during that time.
func waitFor(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// written returns the number of writes that vcd has sent, according to its own metrics. Reads are not counted: an idle
// vcd still renews watches that have ended.
func (v *vcd) written(t *testing.T) float64 {
	t.Helper()
	response, err := http.Get("http://127.0.0.1:18080/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	sum, lines := 0.0, bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		labels, ok := strings.CutPrefix(lines.Text(), "rest_client_requests_total{")
		if !ok || label(labels, "method") == http.MethodGet {
			continue
		}
		_, value, _ := strings.Cut(labels, "} ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum == 0 {
		t.Fatal("vcd does not count its requests")
	}
	return sum
}

// tellJob logs the first job of a namespace if a test has failed.
func (r *rig) tellJob(t *testing.T, namespace string) {
	if !t.Failed() {
		return
	}
	var j batchv1alpha1.Job
	var groups schedulingv1beta1.PodGroupList
	err1 := r.ours.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: "job-0"}, &j)
	err2 := r.ours.List(context.Background(), &groups, inNamespace(namespace))
	t.Logf("%d of its pods exist; job-0: %+v %v; %d PodGroups, %v", r.pods.count(namespace).exist, j.Status, err1, len(groups.Items), err2)
	for _, g := range groups.Items[:min(1, len(groups.Items))] {
		t.Logf("%+v", g)
	}
	events, err := r.core.CoreV1().Events(namespace).List(context.Background(), metav1.ListOptions{Limit: 5})
	if err != nil {
		t.Log(err)
		return
	}
	for _, e := range events.Items {
		t.Logf("%s %s: %s", e.InvolvedObject.Name, e.Reason, e.Message)
	}
}
