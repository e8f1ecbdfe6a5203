package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/bench/figures"
)

// podsEach is the number of pods per node in TestSize.
const podsEach = 10

// TestSize measures the memory of vcd, with all components, for ten bound pods per node, and the time from its start to
// the bind of a pending pod. The pods belong to gangs of a hundred, with PodGroups.
func TestSize(t *testing.T) {
	skipUnlessAsked(t)
	for _, count := range growth(5000) {
		t.Run(fmt.Sprintf("%d nodes", count), func(t *testing.T) {
			r := startRig(t, count)
			makeNamespace(t, r.core, "full")
			r.fill(t, count)
			for round := range rounds() { // before vcd starts, because its webhooks are not reachable without it
				makeNamespace(t, r.core, waiting(round))
				if err := r.createGang(t.Context(), waiting(round), "gang", 1); err != nil {
					t.Fatal(err)
				}
			}
			var memory, restarts []float64
			for round := range rounds() {
				ns := waiting(round)
				if err := r.createMember(t.Context(), ns, "gang", 0, smallPod()); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				daemon := r.startVCD(t, "all", "--webhook-listen-address", "127.0.0.1:0")
				eventually(t, 2*time.Minute, "the pod that waited is bound", func() bool { return r.pods.count(ns).bound == 1 })
				restarts = append(restarts, r.pods.count(ns).lastBound.Sub(began).Seconds())
				steady(t, daemon)
				daemon.heap(t, fmt.Sprintf("size-%d", count))
				memory = append(memory, float64(resident(daemon.process.Process.Pid)))
				t.Logf("round %d: first bind %.2f s after the start, %.0f MiB once quiet, %d MiB at most",
					round, restarts[round], memory[round], residentPeak(daemon.process.Process.Pid))
				daemon.stop(t)
			}
			take(t, figures.Memory, count, memory...)
			take(t, figures.Restart, count, restarts...)
		})
	}
}

// steady waits until the memory of vcd has changed by less than one percent for five seconds: after its start, vcd
// releases memory.
func steady(t *testing.T, daemon *vcd) {
	t.Helper()
	last, since := 0, time.Now()
	eventually(t, 2*time.Minute, "vcd's memory is steady", func() bool {
		if now := resident(daemon.process.Process.Pid); max(now, last)-min(now, last) > last/100 {
			last, since = now, time.Now()
		}
		return time.Since(since) > 5*time.Second
	})
}

func waiting(round int) string { return fmt.Sprintf("new-%d", round) }

// smallPod is a pod of which eleven fit on a simulated node.
func smallPod() corev1.PodSpec {
	spec := podSpec("volcano")
	spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("500m")
	spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("256Mi")
	return spec
}

// fill creates gangs of a hundred bound pods, ten pods per node.
func (r *rig) fill(t *testing.T, count int) {
	t.Helper()
	all, spec := count*podsEach, smallPod()
	inParallel(t, all/100, func(ctx context.Context, i int) error {
		return r.createGang(ctx, "full", fmt.Sprintf("gang-%d", i), 100)
	})
	inParallel(t, all, func(ctx context.Context, i int) error {
		if err := r.createMember(ctx, "full", fmt.Sprintf("gang-%d", i/100), i, spec); err != nil {
			return err
		}
		return r.core.CoreV1().Pods("full").Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "full", Name: fmt.Sprintf("pod-%d", i)},
			Target:     corev1.ObjectReference{Kind: "Node", Name: r.nodes[i%len(r.nodes)]},
		}, metav1.CreateOptions{})
	})
}
