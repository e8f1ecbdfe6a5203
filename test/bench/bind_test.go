package bench

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/bench/figures"
)

// TestBindPhase measures how fast pending pods are bound, compared with a bare loop of binds. The PodGroups are created
// last, so that all pods may be bound from one moment on. The measured time is that from the first bind to the last.
// The scheduler runs alone, so its processor time from the creation of the first pod to the last bind is its own. A
// large part of it is spent on reporting for each pod, one second after its creation, that its PodGroup does not exist.
func TestBindPhase(t *testing.T) {
	skipUnlessAsked(t)
	for _, count := range growth(1000) {
		t.Run(fmt.Sprintf("%d nodes", count), func(t *testing.T) {
			shares, inCPU, cpus := startRig(t, count).bindRounds(t)
			take(t, figures.Binds, count, shares...)
			take(t, figures.Binds+figures.InProcessorTime, count, inCPU...)
			take(t, figures.Processor, count, cpus...)
		})
	}
}

// TestBindPhaseStarted does the same as TestBindPhase, but pods start as soon as they are bound, also in the bare loop.
func TestBindPhaseStarted(t *testing.T) {
	skipUnlessAsked(t)
	r := startRig(t, 1000)
	r.start = "1ms"
	shares, _, _ := r.bindRounds(t)
	take(t, figures.Binds+figures.Started, len(r.nodes), shares...)
}

func (r *rig) bindRounds(t *testing.T) (shares, inCPU, cpus []float64) {
	t.Helper()
	makeNamespace(t, r.core, "warm")
	r.bareLoop(t, "warm", 300)
	r.emptyNamespace(t, "warm")
	daemon := r.startVCD(t, "scheduler")
	for round := range moreRounds() {
		share, shareInCPU, cpu := r.bindRound(t, daemon, shape{jobs: 20, pods: 100}, round)
		shares, inCPU, cpus = append(shares, share), append(inCPU, shareInCPU), append(cpus, cpu)
	}
	return shares, inCPU, cpus
}

func (r *rig) bindRound(t *testing.T, daemon *vcd, s shape, round int) (share, shareInCPU, cpu float64) {
	t.Helper()
	bare, ours := fmt.Sprintf("bare-%d", round), fmt.Sprintf("ours-%d", round)
	makeNamespace(t, r.core, bare)
	makeNamespace(t, r.core, ours)
	times := r.bareLoop(t, bare, s.all())
	r.emptyNamespace(t, bare)
	quiet(t, daemon)

	profiled := daemon.profile(t, ours)
	before := cpuTime(t, daemon.process.Process.Pid)
	inParallel(t, s.all(), func(ctx context.Context, i int) error {
		return r.createMember(ctx, ours, fmt.Sprintf("gang-%d", i/s.pods), i, r.podSpec("volcano"))
	})
	quiet(t, daemon)
	began, beforeBinds := time.Now(), cpuOf(t, daemon)
	inParallel(t, s.jobs, func(ctx context.Context, i int) error {
		return r.createGang(ctx, ours, fmt.Sprintf("gang-%d", i), s.pods)
	})
	eventually(t, 2*time.Minute, "all pods are bound", func() bool { return r.pods.count(ours).bound == s.all() })
	cpu = (cpuTime(t, daemon.process.Process.Pid) - before).Seconds() * 1000 / float64(s.all())
	shareInCPU = times.bindCPU.Seconds() / (cpuOf(t, daemon) - beforeBinds).Seconds()
	profiled()
	c := r.pods.count(ours)
	if over := r.pods.overCommitted(ours, r.podsPerNode()); over != "" {
		t.Error(over)
	}
	took := c.lastBound.Sub(c.firstBound)
	share = times.bind.Seconds() / took.Seconds()
	t.Logf("round %d: bare binds %s, ours %s from the first bind to the last (%s from the first PodGroup on), share %.2f, in processor time %.2f, scheduler %.3f ms a pod",
		round, short(times.bind), short(took), short(c.lastBound.Sub(began)), share, shareInCPU, cpu)
	r.emptyNamespace(t, ours)
	r.removeGangs(t, ours)
	quiet(t, daemon)
	return share, shareInCPU, cpu
}

// createMember creates a pod of a gang, as a controller does.
func (r *rig) createMember(ctx context.Context, namespace, gang string, i int, spec corev1.PodSpec) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), Annotations: map[string]string{keys.GroupName: gang}},
		Spec:       spec,
	}
	maps.Copy(pod.Annotations, r.annotations())
	_, err := r.core.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// createGang creates the PodGroup of a gang.
func (r *rig) createGang(ctx context.Context, namespace, name string, members int) error {
	return r.ours.Create(ctx, &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       schedulingv1beta1.PodGroupSpec{MinMember: int32(members), Queue: "default"},
	})
}

func (r *rig) removeGangs(t *testing.T, namespace string) {
	t.Helper()
	if err := r.ours.DeleteAllOf(t.Context(), &schedulingv1beta1.PodGroup{}, inNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
}

// TestFirstBind measures the time from the creation of the last pod of a gang of 1,000 to the bind of the first one, on
// an empty cluster. It also measures the scheduler's processor time from the creation of the PodGroup to the last bind.
// The test itself does the work of the controllers.
func TestFirstBind(t *testing.T) {
	skipUnlessAsked(t)
	const members = 1000
	for _, count := range growth(5000) {
		t.Run(fmt.Sprintf("%d nodes", count), func(t *testing.T) {
			r := startRig(t, count)
			daemon := r.startVCD(t, "scheduler")
			var waits, cpus []float64
			for round := range rounds() {
				wait, cpu := r.firstBindRound(t, daemon, fmt.Sprintf("first-%d", round), members)
				waits, cpus = append(waits, wait), append(cpus, cpu)
			}
			take(t, figures.FirstBind, count, waits...)
			take(t, figures.ProcessorJobs, count, cpus...)
		})
	}
}

// firstBindRound returns the wait for the first bind of a gang and the processor time until its last bind, in
// milliseconds.
func (r *rig) firstBindRound(t *testing.T, daemon *vcd, ns string, members int) (wait, cpu float64) {
	t.Helper()
	makeNamespace(t, r.core, ns)
	profiled := daemon.profile(t, ns)
	before := cpuTime(t, daemon.process.Process.Pid)
	inParallel(t, 1, func(ctx context.Context, _ int) error { return r.createGang(ctx, ns, "gang", members) })
	eventually(t, time.Minute, "the gang is let in", func() bool {
		var g schedulingv1beta1.PodGroup
		err := r.ours.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "gang"}, &g)
		return err == nil && g.Status.Phase == schedulingv1beta1.PodGroupInqueue
	})
	inParallel(t, members, func(ctx context.Context, i int) error {
		return r.createMember(ctx, ns, "gang", i, podSpec("volcano"))
	})
	exists := time.Now()
	eventually(t, time.Minute, "all pods are bound", func() bool { return r.pods.count(ns).bound == members })
	cpu = (cpuTime(t, daemon.process.Process.Pid) - before).Seconds() * 1000 / float64(members)
	profiled()
	c := r.pods.count(ns)
	first := c.firstBound.Sub(exists)
	t.Logf("%s: first bind %s after the last pod was created, %s after it was seen; last bind %s after it, scheduler %.3f ms a pod",
		ns, short(first), short(c.firstBound.Sub(c.lastCreated)), short(c.lastBound.Sub(exists)), cpu)
	r.emptyNamespace(t, ns)
	r.removeGangs(t, ns)
	quiet(t, daemon)
	return first.Seconds() * 1000, cpu
}
