package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vc-batch/vc/test/bench/figures"
)

// apart holds the components of vcd, each in its own process, so that the processor time of each can be measured.
type apart struct{ scheduler, controllers, admission *vcd }

func (r *rig) startApart(t *testing.T) apart {
	t.Helper()
	return apart{
		scheduler:   r.startVCDAt(t, 18080, "scheduler"),
		controllers: r.startVCDAt(t, 18082, "controllers"),
		admission:   r.startVCDAt(t, 18084, "admission", "--webhook-listen-address", "127.0.0.1:0"),
	}
}

func (a apart) quiet(t *testing.T) {
	t.Helper()
	for _, one := range []*vcd{a.scheduler, a.controllers, a.admission} {
		quiet(t, one)
	}
}

// TestSchedulerWay measures the scheduler's processor time per pod, from the submission of jobs to the last bind.
// Webhooks, controllers and scheduler all work, as in TestWholeWay, but in separate processes.
func TestSchedulerWay(t *testing.T) {
	skipUnlessAsked(t)
	for _, count := range growth(1000) {
		t.Run(fmt.Sprintf("%d nodes", count), func(t *testing.T) {
			r := startBare(t, count)
			daemons := r.startApart(t)
			var cpus []float64
			for n := range rounds() {
				cpus = append(cpus, r.wayRound(t, daemons, shape{jobs: 20, pods: 100}, n))
			}
			take(t, figures.ProcessorWay, count, cpus...)
		})
	}
}

// wayRound submits jobs and returns the scheduler's processor time until their last bind, in milliseconds per pod.
func (r *rig) wayRound(t *testing.T, daemons apart, s shape, round int) float64 {
	t.Helper()
	ns := fmt.Sprintf("way-%d", round)
	makeNamespace(t, r.core, ns)
	daemons.quiet(t)
	profiled := daemons.scheduler.profile(t, ns)
	pid := daemons.scheduler.process.Process.Pid
	before, controlled := cpuTime(t, pid), cpuTime(t, daemons.controllers.process.Process.Pid)
	began := time.Now()
	inParallel(t, s.jobs, func(ctx context.Context, i int) error {
		job := newJob(ns, fmt.Sprintf("job-%d", i), s.pods, r.annotations())
		job.Spec.Tasks[0].Template.Spec = r.podSpec("volcano")
		return r.ours.Create(ctx, job)
	})
	eventually(t, 5*time.Minute, "all pods are bound", func() bool { return r.pods.count(ns).bound == s.all() })
	cpu := (cpuTime(t, pid) - before).Seconds() * 1000 / float64(s.all())
	controlled = cpuTime(t, daemons.controllers.process.Process.Pid) - controlled
	profiled()
	if over := r.pods.overCommitted(ns, r.podsPerNode()); over != "" {
		t.Error(over)
	}
	t.Logf("round %d, %s: last bind %s after the first submit, scheduler %.3f ms a pod, controllers %s",
		round, s, short(r.pods.count(ns).lastBound.Sub(began)), cpu, perPod(controlled, s))
	r.removeJobs(t, ns)
	return cpu
}
