package clusterops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/drain"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// Drain evicts the pods of nodes as kubectl drain does. Its first fields are the flags of that command.
type Drain struct {
	Typed kubernetes.Interface

	IgnoreDaemonSets, DeleteEmptyDirData, Force bool
	// GracePeriod is the number of seconds that each pod has to end; -1 means the grace period in the pod's spec.
	GracePeriod int
	// Timeout is the time limit of the contexts, for use in errors; 0 means no limit.
	Timeout time.Duration
	// ServerDryRun makes the server check the evictions without carrying them out.
	ServerDryRun bool
	// RetryAfter is the delay before the next attempt to evict a pod that a disruption budget protects.
	RetryAfter time.Duration
	// Retried is called once for each pod that may not be evicted yet, and Evicted is called when a pod is gone. Both
	// may be nil.
	Retried, Evicted func(pod *corev1.Pod)
}

// RetryAfter is how long kubectl drain waits before it tries to evict a protected pod again.
const RetryAfter = 5 * time.Second

// podsPerPage is the page size for listing pods.
const podsPerPage = 500

// newHelper returns kubectl's drain helper, which decides which pods to evict and evicts them.
func (d *Drain) newHelper(ctx context.Context) *drain.Helper {
	helper := &drain.Helper{
		Ctx: ctx, Client: d.Typed, Out: io.Discard, ErrOut: io.Discard,
		Force: d.Force, IgnoreAllDaemonSets: d.IgnoreDaemonSets, DeleteEmptyDirData: d.DeleteEmptyDirData, GracePeriodSeconds: d.GracePeriod,
		ChunkSize: podsPerPage, EvictErrorRetryDelay: d.RetryAfter, AdditionalFilters: []drain.PodFilter{skipEndedPods},
	}
	if d.ServerDryRun {
		helper.DryRunStrategy = cmdutil.DryRunServer
	}
	return helper
}

// skipEndedPods excludes pods that have ended from the drain, because they use no resources and their logs may still be
// read.
func skipEndedPods(pod corev1.Pod) drain.PodDeleteStatus {
	if jobstatus.HasPodEnded(&pod) {
		return drain.MakePodDeleteStatusSkip()
	}
	return drain.MakePodDeleteStatusOkay()
}

// PodsToEvict returns the pods of a node that a drain evicts, and warnings about these pods and about pods that remain.
// It returns an error for each kind of pod that requires a flag that is not set.
func (d *Drain) PodsToEvict(ctx context.Context, node string) (pods []corev1.Pod, warnings string, err error) {
	list, errs := d.newHelper(ctx).GetPodsForDeletion(node)
	if len(errs) > 0 {
		// kubectl returns the errors in the random order of a map.
		slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		for i := range errs {
			errs[i] = fmt.Errorf("node %q: %w", node, errs[i])
		}
		return nil, "", errors.Join(errs...)
	}
	each := strings.Split(list.Warnings(), "; ")
	slices.Sort(each)
	return list.Pods(), strings.Join(each, "; "), nil
}

// ErrInterrupted and ErrTimeLimit are the causes of the error about a drain that ended before all its pods were gone.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrTimeLimit   = errors.New("time limit reached")
)

// EvictAndWait evicts pods of a node and waits until they are gone. It returns as soon as ctx ends, with a
// *usererror.Error that names the remaining pods and has the cause ErrInterrupted or ErrTimeLimit.
func (d *Drain) EvictAndWait(ctx context.Context, node string, pods []corev1.Pod) error {
	if len(pods) == 0 {
		return nil
	}
	p := &eviction{d: d, left: map[types.UID]string{}, attempts: map[types.UID]int{}}
	for i := range pods {
		p.left[pods[i].UID] = pods[i].Namespace + "/" + pods[i].Name
	}
	helper := d.newHelper(ctx)
	helper.OnPodDeletionOrEvictionStarted, helper.OnPodDeletionOrEvictionFinished = p.countAttempt, p.recordGonePod
	ended := make(chan error, 1)
	go func() { ended <- helper.DeleteOrEvictPods(pods) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done(): // do not wait for an eviction that sleeps before its next attempt
		err = ctx.Err()
	}
	if deadline, limited := ctx.Deadline(); err != nil && limited && !time.Now().Before(deadline) {
		<-ctx.Done() // the client may notice the deadline a moment before the context does
	}
	left := p.closeEviction()
	switch {
	case err == nil && d.ServerDryRun:
		for i := range pods {
			d.reportEvicted(&pods[i])
		}
		return nil
	case ctx.Err() != nil:
		return d.unfinishedError(ctx, node, left)
	case err != nil:
		return fmt.Errorf("node %q: %w", node, err)
	}
	return nil
}

func (d *Drain) reportEvicted(pod *corev1.Pod) {
	if d.Evicted != nil {
		d.Evicted(pod)
	}
}

// unfinishedError returns the error for a drain that was interrupted or that reached its time limit.
func (d *Drain) unfinishedError(ctx context.Context, node string, left []string) *usererror.Error {
	cause, why := ErrInterrupted, "was interrupted"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cause, why = ErrTimeLimit, fmt.Sprintf("ended after %s", d.Timeout)
	}
	return &usererror.Error{
		What: fmt.Sprintf("the drain of node %q %s; remaining pods: %s", node, why, strings.Join(left, ", ")),
		Hint: "the node remains cordoned; drain the node again, or allow new pods on the node with `vcctl node uncordon " + node + "`",
		Err:  cause,
	}
}

// eviction records the results of evicting pods from one node.
type eviction struct {
	d *Drain

	mu sync.Mutex
	// left holds the names of the pods that are not gone yet, and attempts counts the attempts to evict each pod.
	left     map[types.UID]string
	attempts map[types.UID]int
	closed   bool
}

// countAttempt is called before every attempt to evict a pod. A second attempt means that the pod may not be evicted
// yet.
func (e *eviction) countAttempt(pod *corev1.Pod, _ bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attempts[pod.UID]++
	if e.attempts[pod.UID] == 2 && !e.closed && e.d.Retried != nil {
		e.d.Retried(pod)
	}
}

// recordGonePod is called when a pod is gone. It removes the pod from left and reports it as evicted.
func (e *eviction) recordGonePod(pod *corev1.Pod, _ bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil || e.closed {
		return
	}
	delete(e.left, pod.UID)
	e.d.reportEvicted(pod)
}

// closeEviction prevents further calls to Retried and Evicted, and returns the names of the remaining pods.
func (e *eviction) closeEviction() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return slices.Sorted(maps.Values(e.left))
}
