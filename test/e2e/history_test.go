package e2e

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/vc-batch/vc/api/keys"
)

// history holds the watch events of all pods of a cluster.
type history struct {
	mu     sync.Mutex
	events []watch.Event
}

// watchPods watches all pods from now on. It starts again if the API server closes the watch.
func (c *cluster) watchPods() watch.Interface {
	c.t.Helper()
	pods := c.kube.CoreV1().Pods("")
	now, err := pods.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	w, err := watchtools.NewRetryWatcherWithContext(context.Background(), now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return pods.Watch(ctx, o) },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return w
}

// record records the events of pods until the test ends.
func (c *cluster) record() *history {
	c.t.Helper()
	w := c.watchPods()
	h := &history{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range w.ResultChan() {
			h.mu.Lock()
			h.events = append(h.events, e)
			h.mu.Unlock()
		}
	}()
	c.t.Cleanup(func() { w.Stop(); <-done })
	return h
}

// holder returns the gang of a pod that uses resources on a node, or "".
func holder(p *corev1.Pod) string {
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return ""
	}
	return p.Labels[keys.JobName]
}

// each replays the history. After every event, it calls f with the number of pods per job that use resources.
func (h *history) each(f func(holding map[string]int)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pods := map[string]*corev1.Pod{}
	for _, e := range h.events {
		p, ok := e.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		if e.Type == watch.Deleted {
			delete(pods, string(p.UID))
		} else {
			pods[string(p.UID)] = p
		}
		holding := map[string]int{}
		for _, p := range pods {
			if job := holder(p); job != "" {
				holding[job]++
			}
		}
		f(holding)
	}
}

// deleted returns the names of the deleted pods, in order.
func (h *history) deleted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, e := range h.events {
		if p, ok := e.Object.(*corev1.Pod); ok && e.Type == watch.Deleted {
			names = append(names, p.Name)
		}
	}
	return names
}

// starting replays the history. After every event, it calls f with the jobs for which some of n pods have been bound,
// but not all.
func (h *history) starting(n int, f func(partly map[string]int)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	bound := map[string]map[string]bool{}
	for _, e := range h.events {
		p, ok := e.Object.(*corev1.Pod)
		if !ok || p.Spec.NodeName == "" || p.Labels[keys.JobName] == "" {
			continue
		}
		job := p.Labels[keys.JobName]
		if bound[job] == nil {
			bound[job] = map[string]bool{}
		}
		bound[job][p.Name] = true
		partly := map[string]int{}
		for job, pods := range bound {
			if len(pods) < n {
				partly[job] = len(pods)
			}
		}
		f(partly)
	}
}
