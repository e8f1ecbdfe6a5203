package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/bench/figures"
)

// onePodJobs is the number of jobs of one pod for which each kind of request is measured separately.
const onePodJobs = 2000

// spent is the cost of onePodJobs requests of one kind: wall-clock time, and processor time of the API server with its
// client. If both have the same proportions, the processors were always busy. Then no other order of the same requests
// would be faster.
type spent struct{ time, processor time.Duration }

// parts holds the cost of each kind of request that jobs of one pod need, without vcd.
type parts struct {
	create, bind spent // pods
	jobs, groups spent
	kinds        map[string]spent // Jobs with other schemas, by the figure of one create
}

// each returns the processor time for one job of one pod, with its PodGroup and its bind.
func (p parts) each() time.Duration {
	return (p.create.processor + p.bind.processor + p.jobs.processor + p.groups.processor) / onePodJobs
}

// spendParts sends the requests, one kind after the other.
func (r *rig) spendParts(t *testing.T, namespace string, kinds []jobKind) parts {
	t.Helper()
	makeNamespace(t, r.core, namespace)
	name := func(i int) string { return fmt.Sprintf("job-%d", i) }
	spec := podSpec("nobody")
	p := parts{kinds: map[string]spent{}}
	p.create = spend(t, func(ctx context.Context, i int) error {
		_, err := r.core.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name(i)}, Spec: spec}, metav1.CreateOptions{})
		return err
	})
	p.bind = spend(t, func(ctx context.Context, i int) error {
		return r.core.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)},
			Target:     corev1.ObjectReference{Kind: "Node", Name: r.nodes[i%len(r.nodes)]},
		}, metav1.CreateOptions{})
	})
	p.jobs = spend(t, func(ctx context.Context, i int) error { return r.ours.Create(ctx, newJob(namespace, name(i), 1, nil)) })
	for _, k := range kinds {
		p.kinds[k.figure] = spend(t, func(ctx context.Context, i int) error {
			return k.client.Create(ctx, newJob(namespace, name(i), 1, nil))
		})
	}
	p.groups = spend(t, func(ctx context.Context, i int) error { return r.createGang(ctx, namespace, name(i), 1) })
	r.removeGangs(t, namespace)
	r.removeJobs(t, namespace)
	return p
}

func spend(t *testing.T, do func(ctx context.Context, i int) error) spent {
	t.Helper()
	used := cpuTime(t, os.Getpid())
	took := inParallel(t, onePodJobs, do)
	return spent{took, cpuTime(t, os.Getpid()) - used}
}

// TestMostOfOnePodJobs measures the best possible speed for jobs of one pod relative to the bare loop, as limited by
// the API server. No vcd runs. For each pod, the test adds the create of its Job, the creates of its Job and PodGroup,
// or the create of a Job with a simpler schema. It fails if a line with an excuse could reach its floor.
func TestMostOfOnePodJobs(t *testing.T) {
	skipUnlessAsked(t)
	r := startBare(t, 1000)
	kinds := r.installJobKinds(t)
	var all []parts
	for n := range rounds() {
		p := r.spendParts(t, fmt.Sprintf("most-%d", n), kinds)
		t.Logf("round %d: %d pods created in %s and bound in %s, Jobs created in %s, PodGroups in %s; processor time of a job with its pod and bind %s",
			n, onePodJobs, short(p.create.time), short(p.bind.time), short(p.jobs.time), short(p.groups.time), p.each())
		all = append(all, p)
	}
	loose, blind := func(p parts) spent { return p.kinds[figures.CreateLooseJob] }, func(p parts) spent { return p.kinds[figures.CreateBlindJob] }
	create, bind := func(p parts) spent { return p.create }, func(p parts) spent { return p.bind }
	jobs, groups := func(p parts) spent { return p.jobs }, func(p parts) spent { return p.groups }
	for _, bound := range []struct {
		figure     string
		nodes      int
		bare, more []func(parts) spent
	}{
		{figures.MostAlone, len(r.nodes), sums{create, bind}, sums{jobs}},
		{figures.MostLoose, len(r.nodes), sums{create, bind}, sums{loose}},
		{figures.MostBlind, len(r.nodes), sums{create, bind}, sums{blind}},
		{figures.Most, len(r.nodes), sums{create, bind}, sums{jobs, groups}},
		{figures.MostBlindGrouped, len(r.nodes), sums{create, bind}, sums{blind, groups}},
		{figures.SmallAlone, 0, sums{create}, sums{jobs}},
		{figures.SmallBlind, 0, sums{create}, sums{blind}},
	} {
		var times, processor []float64
		for _, p := range all {
			bare, more := sums(bound.bare).of(p), sums(bound.more).of(p)
			times = append(times, bare.time.Seconds()/(bare.time+more.time).Seconds())
			processor = append(processor, bare.processor.Seconds()/(bare.processor+more.processor).Seconds())
		}
		take(t, bound.figure, bound.nodes, times...)
		take(t, bound.figure+figures.InProcessorTime, bound.nodes, processor...)
	}
}

// sums selects some of the parts.
type sums []func(parts) spent

func (s sums) of(p parts) (all spent) {
	for part := range slices.Values(s) {
		one := part(p)
		all.time, all.processor = all.time+one.time, all.processor+one.processor
	}
	return all
}
