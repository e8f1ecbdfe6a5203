package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubectl/pkg/drain"

	"github.com/vc-batch/vc/internal/cli"
)

// evict evicts pods of a node and waits until they are gone. It returns at once when ctx ends, and names the pods that are left.
func (o *drainOptions) evict(ctx context.Context, helper *drain.Helper, node *corev1.Node, pods []corev1.Pod) error {
	if len(pods) == 0 {
		return nil
	}
	p := &progress{f: o.f, suffix: o.dryRun.Suffix(), quiet: o.out.Machine(), left: map[types.UID]string{}, attempts: map[types.UID]int{}}
	for i := range pods {
		p.left[pods[i].UID] = pods[i].Namespace + "/" + pods[i].Name
	}
	if o.dryRun.Client() {
		p.finishAll(pods)
		return nil
	}
	one := *helper
	one.Ctx, one.OnPodDeletionOrEvictionStarted, one.OnPodDeletionOrEvictionFinished = ctx, p.start, p.finish
	ended := make(chan error, 1)
	go func() { ended <- one.DeleteOrEvictPods(pods) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done(): // an eviction that sleeps before it is tried again would be waited for
		err = ctx.Err()
	}
	if deadline, limited := ctx.Deadline(); err != nil && limited && !time.Now().Before(deadline) {
		<-ctx.Done() // the client may notice the deadline a moment before the context does
	}
	left := p.close()
	switch {
	case err == nil && o.dryRun.Server():
		p.finishAll(pods)
		return nil
	case ctx.Err() != nil:
		return o.endedEarly(ctx, node, left)
	case err != nil:
		return &cli.Error{What: fmt.Sprintf("node %q: %v", node.Name, err), Hint: "the node is cordoned; drain it again to evict the pods that are left", Err: err}
	}
	return nil
}

// endedEarly is the error of a drain that was interrupted, or that --timeout ended.
func (o *drainOptions) endedEarly(ctx context.Context, node *corev1.Node, left []string) error {
	why := "was interrupted"
	code := cli.ExitInterrupted
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why, code = fmt.Sprintf("ended after %s", o.timeout), cli.ExitPending
	}
	return &cli.Error{What: fmt.Sprintf("the drain of node %q %s: pods that are left: %s", node.Name, why, strings.Join(left, ", ")),
		Hint: "the node stays cordoned; drain it again, or let pods onto it with `vcctl node uncordon " + node.Name + "`", Code: code}
}

// progress prints what becomes of the pods that are evicted.
type progress struct {
	f      *cli.Factory
	suffix string
	// quiet prints no lines for people to standard output.
	quiet bool

	mu sync.Mutex
	// left are the pods that are not gone yet, attempts counts how often each was to be evicted.
	left     map[types.UID]string
	attempts map[types.UID]int
	closed   bool
}

// start is called before every attempt to evict a pod. At the second one a note says that the pod may not be evicted yet.
func (p *progress) start(pod *corev1.Pod, _ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts[pod.UID]++
	if p.attempts[pod.UID] == 2 && !p.closed {
		p.f.Notef("pod %s/%s may not be evicted yet: it is tried again until its PodDisruptionBudget allows it", pod.Namespace, pod.Name)
	}
}

// finish is called when a pod is gone.
func (p *progress) finish(pod *corev1.Pod, _ bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.closed {
		return
	}
	delete(p.left, pod.UID)
	p.print(pod)
}

// finishAll prints the pods of a dry run.
func (p *progress) finishAll(pods []corev1.Pod) {
	for i := range pods {
		p.print(&pods[i])
	}
}

func (p *progress) print(pod *corev1.Pod) {
	if !p.quiet {
		fmt.Fprintf(p.f.Streams.Out, "pod %s/%s evicted%s\n", pod.Namespace, pod.Name, p.suffix)
	}
}

// close ends the printing, and returns the pods that are left.
func (p *progress) close() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var names []string
	for _, name := range p.left {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
