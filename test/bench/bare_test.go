package bench

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workers is the number of workers of the bare loop.
const workers = 50

// podSpec is the spec of the pods in all measurements. Eight of them fill a simulated node.
func podSpec(scheduler string) corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName: scheduler,
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name: "main", Image: "busybox", Command: []string{"sleep", "1000"},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}},
		}},
	}
}

// podSpec returns the spec of the pods for this cluster. Their requests are halved if 5,000 of them would not fit.
func (r *rig) podSpec(scheduler string) corev1.PodSpec {
	spec := podSpec(scheduler)
	if r.podsPerNode() != podsPerNode {
		spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("500m")
	}
	return spec
}

// podsPerNode returns how many of these pods fit on a node. It is doubled on small clusters, so that the largest shape
// fits on 500 nodes.
func (r *rig) podsPerNode() int {
	if len(r.nodes)*podsPerNode < 5000 {
		return 2 * podsPerNode
	}
	return podsPerNode
}

// bareTimes holds the times of the two halves of the bare loop.
type bareTimes struct{ create, bind, bindCPU time.Duration }

func (b bareTimes) sum() time.Duration { return b.create + b.bind }

// bareLoop creates pods and then binds them round-robin, as fast as possible.
func (r *rig) bareLoop(t *testing.T, namespace string, pods int) bareTimes {
	t.Helper()
	client, annotations := r.core, r.annotations()
	spec := r.podSpec("nobody")
	var times bareTimes
	times.create = inParallel(t, pods, func(ctx context.Context, i int) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bare-%d", i), Annotations: annotations}, Spec: spec}
		_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	before := cpuTime(t, os.Getpid())
	times.bind = inParallel(t, pods, func(ctx context.Context, i int) error {
		return client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("bare-%d", i)},
			Target:     corev1.ObjectReference{Kind: "Node", Name: r.nodes[i%len(r.nodes)]},
		}, metav1.CreateOptions{})
	})
	times.bindCPU = cpuTime(t, os.Getpid()) - before
	return times
}

func inParallel(t *testing.T, count int, do func(ctx context.Context, i int) error) time.Duration {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	next := make(chan int)
	began := time.Now()
	for range workers {
		group.Go(func() error {
			for i := range next {
				if err := do(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(next)
		for i := range count {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		t.Fatalf("bare loop: %v", err)
	}
	return time.Since(began)
}
