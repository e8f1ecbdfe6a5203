package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/bench/figures"
)

const podsPerNode = 8 // a simulated node has 8 processors, and a pod requests one

// shape is a number of jobs and a number of pods per job. Each job needs all its pods at once.
type shape struct{ jobs, pods int }

func (s shape) String() string { return fmt.Sprintf("%dx%d", s.jobs, s.pods) }

func (s shape) all() int { return s.jobs * s.pods }

// onePodShape is the shape whose floor has an excuse: see figures.Excuses.
var onePodShape = shape{jobs: 5000, pods: 1}

// skipUnlessAsked skips tests that take minutes unless VC_BENCH is set.
func skipUnlessAsked(t *testing.T) {
	t.Helper()
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("VC_BENCH is not set: see the package's comment")
	}
}

// growth returns the numbers of nodes for a line: its own number and, with VC_BENCH=all, 500 and 2,000 as well.
func growth(own int) []int {
	if os.Getenv("VC_BENCH") != "all" {
		return []int{own}
	}
	all := []int{500, 2000, own}
	slices.Sort(all)
	return slices.Compact(all)
}

// shapes returns the shapes of VC_BENCH, or all shapes with a floor.
func shapes(t *testing.T) []shape {
	t.Helper()
	skipUnlessAsked(t)
	wanted := os.Getenv("VC_BENCH")
	if wanted == "1" || wanted == "all" {
		return []shape{{20, 100}, {250, 20}, {10, 500}, {1, 5000}, {5000, 1}}
	}
	var list []shape
	for text := range strings.SplitSeq(wanted, ",") {
		var s shape
		if _, err := fmt.Sscanf(text, "%dx%d", &s.jobs, &s.pods); err != nil {
			t.Fatalf("VC_BENCH %q: want 1, all, or shapes such as 20x100", wanted)
		}
		list = append(list, s)
	}
	return list
}

func rounds() int {
	n, err := strconv.Atoi(os.Getenv("VC_BENCH_ROUNDS"))
	if err != nil {
		return 3
	}
	return n
}

// moreRounds returns the number of rounds for measurements that take seconds and vary by a half.
func moreRounds() int {
	if os.Getenv("VC_BENCH_ROUNDS") == "" {
		return 7
	}
	return rounds()
}

// fewRounds returns 1 for jobs of one pod, where a round takes minutes, unless VC_BENCH_ROUNDS is set.
func fewRounds(s shape) int {
	if os.Getenv("VC_BENCH_ROUNDS") == "" && s == onePodShape {
		return 1
	}
	return rounds()
}

// TestWholeWay measures the time from the submission of jobs to the last bind, compared with the bare loop, on 1,000
// nodes whose pods never start. Jobs of one pod are also compared with the same requests without vcd: see
// figures.Excuses.
func TestWholeWay(t *testing.T) {
	list := shapes(t)
	r := startBare(t, 1000)
	var free parts
	if slices.Contains(list, onePodShape) {
		free = r.spendParts(t, "free", nil)
	}
	daemon := r.startVCD(t, "all", "--webhook-listen-address", "127.0.0.1:0")
	for _, s := range list {
		t.Run(s.String(), func(t *testing.T) {
			done := measure(t, r, daemon, figures.Way+s.String(), s, rounds())
			if s != onePodShape {
				return
			}
			var shares []float64
			for _, f := range done {
				shares = append(shares, free.each().Seconds()*float64(s.all())/f.oursCPU.Seconds())
			}
			take(t, figures.WayOfMost, len(r.nodes), shares...)
		})
	}
	t.Logf("vcd holds %d MiB", resident(daemon.process.Process.Pid))
}

// TestWholeWayStarted does the same as TestWholeWay, but pods start as soon as they are bound. That adds two writes per
// pod for the API server on either side.
func TestWholeWayStarted(t *testing.T) {
	list := shapes(t)
	r, daemon := startWay(t, 1000)
	r.start = "1ms"
	for _, s := range list {
		t.Run(s.String(), func(t *testing.T) {
			measure(t, r, daemon, figures.Way+s.String()+figures.Started, s, fewRounds(s))
		})
	}
}

// TestWholeWayGrowth measures all shapes with other numbers of nodes if VC_BENCH=all.
func TestWholeWayGrowth(t *testing.T) {
	skipUnlessAsked(t)
	for _, count := range growth(1000) {
		if count == 1000 {
			continue // TestWholeWay
		}
		t.Run(fmt.Sprintf("%d nodes", count), func(t *testing.T) {
			r, daemon := startWay(t, count)
			for _, s := range shapes(t) {
				measure(t, r, daemon, figures.Way+s.String(), s, fewRounds(s))
			}
		})
	}
}

func startWay(t *testing.T, count int) (*rig, *vcd) {
	t.Helper()
	r := startBare(t, count)
	return r, r.startVCD(t, "all", "--webhook-listen-address", "127.0.0.1:0")
}

// startBare starts a control plane without vcd, and uses it briefly before the measurement.
func startBare(t *testing.T, count int) *rig {
	t.Helper()
	r := startRig(t, count)
	makeNamespace(t, r.core, "warm")
	r.bareLoop(t, "warm", 300)
	r.emptyNamespace(t, "warm")
	return r
}

// round holds the measurements of one round.
type round struct {
	bare    bareTimes
	ours    time.Duration
	created time.Duration // until the last pod existed
	// Processor time of all processes together (API server, etcd, clients, vcd), and of vcd alone. Unlike the times
	// above, it hardly depends on other load on the machine.
	bareCPU, oursCPU, vcdCPU time.Duration
}

// share returns the bare loop's time divided by ours. 1 means equally fast, and greater is better.
func (f round) share() float64 { return float64(f.bare.sum()) / float64(f.ours) }

// measure runs a number of rounds of a shape and prints their medians.
func measure(t *testing.T, r *rig, daemon *vcd, line string, s shape, rounds int) []round {
	t.Helper()
	var all []round
	var shares, cpuShares []float64
	for n := range rounds {
		bare, ours := fmt.Sprintf("bare-%s-%d", s, n), fmt.Sprintf("ours-%s-%d", s, n)
		makeNamespace(t, r.core, bare)
		makeNamespace(t, r.core, ours)
		f := round{}
		used := cpuOf(t, daemon)
		f.bare = r.bareLoop(t, bare, s.all())
		f.bareCPU = cpuOf(t, daemon) - used
		r.emptyNamespace(t, bare)
		quiet(t, daemon)
		r.submit(t, daemon, ours, s, &f)
		if over := r.pods.overCommitted(ours, r.podsPerNode()); over != "" {
			t.Error(over)
		}
		r.removeJobs(t, ours)
		quiet(t, daemon)
		t.Logf("round %d: bare %s (create %s + bind %s), ours %s (last pod after %s), share %.2f; processor time %s and %s, share %.2f; vcd %s a pod",
			n, short(f.bare.sum()), short(f.bare.create), short(f.bare.bind), short(f.ours), short(f.created), f.share(),
			short(f.bareCPU), short(f.oursCPU), float64(f.bareCPU)/float64(f.oursCPU), perPod(f.vcdCPU, s))
		shares, cpuShares = append(shares, f.share()), append(cpuShares, float64(f.bareCPU)/float64(f.oursCPU))
		all = append(all, f)
	}
	take(t, line+figures.InProcessorTime, len(r.nodes), cpuShares...)
	take(t, line, len(r.nodes), shares...)
	return all
}

func perPod(d time.Duration, s shape) time.Duration {
	return (d / time.Duration(s.all())).Round(time.Microsecond)
}

// submit creates the jobs and waits for the last bind.
func (r *rig) submit(t *testing.T, daemon *vcd, namespace string, s shape, f *round) {
	t.Helper()
	profiled := daemon.profile(t, namespace)
	asked := r.requests(t)
	vcdBefore, allBefore := cpuTime(t, daemon.process.Process.Pid), cpuOf(t, daemon)
	began := time.Now()
	inParallel(t, s.jobs, func(ctx context.Context, i int) error {
		job := newJob(namespace, fmt.Sprintf("job-%d", i), s.pods, r.annotations())
		job.Spec.Tasks[0].Template.Spec = r.podSpec("volcano")
		return r.ours.Create(ctx, job)
	})
	eventually(t, 5*time.Minute, fmt.Sprintf("all %d pods of %s are bound", s.all(), namespace), func() bool {
		c := r.pods.count(namespace)
		if f.created == 0 && c.exist == s.all() {
			f.created = time.Since(began)
		}
		return c.bound == s.all()
	})
	f.ours = r.pods.count(namespace).lastBound.Sub(began)
	f.vcdCPU = cpuTime(t, daemon.process.Process.Pid) - vcdBefore
	f.oursCPU = cpuOf(t, daemon) - allBefore
	t.Logf("requests a pod until the last bind: %s", r.requests(t).since(asked, s.all()))
	profiled()
}

func newJob(namespace, name string, pods int, annotations map[string]string) *batchv1alpha1.Job {
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1alpha1.JobSpec{
			SchedulerName: "volcano", MinAvailable: int32(pods), Queue: "default",
			Tasks: []batchv1alpha1.TaskSpec{{
				Name: "worker", Replicas: int32(pods),
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Spec: podSpec("volcano")},
			}},
		},
	}
}

func (r *rig) removeJobs(t *testing.T, namespace string) {
	t.Helper()
	var jobs batchv1alpha1.JobList
	if err := r.ours.List(t.Context(), &jobs, inNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	inParallel(t, len(jobs.Items), func(ctx context.Context, i int) error {
		return r.ours.Delete(ctx, &jobs.Items[i], inBackground)
	})
	eventually(t, 5*time.Minute, "pods of deleted jobs are gone", func() bool {
		if r.pods.count(namespace).exist == 0 {
			return true
		}
		r.forceAway(t, namespace)
		time.Sleep(time.Second)
		return false
	})
}

// quiet waits until the daemon has nothing left to do, including pod events.
func quiet(t *testing.T, daemon *vcd) {
	t.Helper()
	calm, last := 0, cpuTime(t, daemon.process.Process.Pid)
	eventually(t, 3*time.Minute, "vcd is quiet", func() bool {
		time.Sleep(200 * time.Millisecond)
		now := cpuTime(t, daemon.process.Process.Pid)
		calm++
		if now-last > 10*time.Millisecond {
			calm = 0
		}
		last = now
		return calm >= 5
	})
}

func short(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
