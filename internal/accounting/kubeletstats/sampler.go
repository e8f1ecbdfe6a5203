package kubeletstats

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
)

const (
	// requestTimeout limits a request to a kubelet.
	requestTimeout = 10 * time.Second
	// parallelRequests is the maximum number of requests to kubelets at the same time.
	parallelRequests = 16
	// longestPause is the longest pause between two requests to a kubelet that fails.
	longestPause = 10 * time.Minute
	// writePeriod is the time between two rounds of writes, and writesPerRound the maximum number of pods in one.
	writePeriod    = time.Second
	writesPerRound = 10
	// minWritePause is the minimum time between two writes for the same running pod.
	minWritePause = 30 * time.Second
	// parallelWrites is the maximum number of writes at the same time.
	parallelWrites = 4
)

// Reader measures the running containers of a node.
type Reader interface {
	// ReadSamples sends the token to the node.
	ReadSamples(ctx context.Context, node *corev1.Node, token string) (map[types.UID][]podmeasure.Sample, error)
}

// TokenSource returns the token for kubelets. It is used by one goroutine.
type TokenSource interface {
	Token(ctx context.Context, now time.Time) (string, error)
}

// Options configures a Sampler.
type Options struct {
	// Interval is the time between two measurements.
	Interval time.Duration
	Kubelets Reader
	Tokens   TokenSource
	// Nodes is kept up to date by a watch.
	Nodes client.Reader
	// API writes annotations.
	API     client.Client
	Tracker *podmeasure.Tracker
	Log     logr.Logger
}

// Sampler measures pods at intervals.
type Sampler struct {
	Options
	// isWithoutToken is true if there was no valid token for the last measurement.
	isWithoutToken bool

	mu       sync.Mutex
	failures map[string]failure
}

// failure describes a node whose kubelet failed.
type failure struct {
	count int
	next  time.Time // when the node is measured again
}

// New returns a Sampler.
func New(o Options) *Sampler { return &Sampler{Options: o, failures: map[string]failure{}} }

// Start measures pods, and writes what they used, until ctx is done.
func (s *Sampler) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		repeatUntilDone(ctx, s.Interval, s.measureNodes)
		return nil
	})
	group.Go(func() error {
		repeatUntilDone(ctx, writePeriod, s.writeDueUses)
		return nil
	})
	return group.Wait()
}

// repeatUntilDone calls do at intervals until ctx is done.
func repeatUntilDone(ctx context.Context, interval time.Duration, do func(context.Context, time.Time)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			do(ctx, now)
		}
	}
}

// measureNodes reads samples from the kubelets of all nodes with running pods of jobs.
func (s *Sampler) measureNodes(ctx context.Context, now time.Time) {
	nodes, pods := s.Tracker.RunningNodes()
	measuredPods.Set(float64(pods))
	s.forgetFailures(nodes)
	if len(nodes) == 0 {
		return
	}
	token, err := s.Tokens.Token(ctx, time.Now()) // the tick may have waited for a long measurement
	if ctx.Err() != nil {
		return
	}
	if s.recordTokenResult(err); err != nil {
		return
	}
	var group errgroup.Group
	group.SetLimit(parallelRequests)
	for _, name := range nodes {
		if !s.isDue(name, now) {
			continue
		}
		group.Go(func() error {
			err := s.measureNode(ctx, name, token)
			if ctx.Err() == nil {
				s.recordResult(name, now, err)
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
}

// measureNode adds the samples of a node. Nodes of vc-local measure their pods themselves.
func (s *Sampler) measureNode(ctx context.Context, name, token string) error {
	node := &corev1.Node{}
	if err := s.Nodes.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	if node.Labels[keys.NodeKind] != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	kubeletRequests.Inc()
	samples, err := s.Kubelets.ReadSamples(ctx, node, token)
	if err != nil {
		kubeletErrors.Inc()
		return err
	}
	for uid, list := range samples {
		s.Tracker.AddSamples(uid, list)
	}
	return nil
}

// recordTokenResult stores whether there is a token. Only the first error is logged by default.
func (s *Sampler) recordTokenResult(err error) {
	wasWithoutToken := s.isWithoutToken
	s.isWithoutToken = err != nil
	switch {
	case err == nil && wasWithoutToken:
		s.Log.Info("There is a token for kubelets again")
	case err == nil:
	case wasWithoutToken:
		tokenErrors.Inc()
		s.Log.V(1).Info("The usage of pods still cannot be measured, because there is no token for kubelets", "err", err.Error())
	default:
		tokenErrors.Inc()
		s.Log.Error(err, "The usage of pods cannot be measured, because there is no token for kubelets; trying again")
	}
}

// isDue reports whether a node is to be measured now.
func (s *Sampler) isDue(node string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !now.Before(s.failures[node].next)
}

// recordResult stores the result for a node. After the first failure, the node is measured again at the next interval,
// and then after pauses that double. Only the first failure is logged by default.
func (s *Sampler) recordResult(node string, now time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, hadFailed := s.failures[node]
	if err == nil {
		if delete(s.failures, node); hadFailed {
			s.Log.Info("The usage of pods is measured again", "node", node)
		}
		return
	}
	pause := min(longestPause, s.Interval<<min(before.count, 10))
	s.failures[node] = failure{count: before.count + 1, next: now.Add(pause - s.Interval/2)}
	if !hadFailed {
		s.Log.Error(err, "The usage of pods cannot be measured; trying again", "node", node)
		return
	}
	s.Log.V(1).Info("The usage of pods still cannot be measured", "node", node, "err", err.Error(), "after", pause)
}

// forgetFailures removes the failures of nodes without running pods.
func (s *Sampler) forgetFailures(nodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := map[string]bool{}
	for _, name := range nodes {
		current[name] = true
	}
	for name := range s.failures {
		if !current[name] {
			delete(s.failures, name)
		}
	}
}

// writeDueUses writes the use of the pods that are due.
func (s *Sampler) writeDueUses(ctx context.Context, now time.Time) {
	var group errgroup.Group
	group.SetLimit(parallelWrites)
	for _, w := range s.Tracker.DueWrites(now, minWritePause, writesPerRound) {
		group.Go(func() error {
			err := s.writeUse(ctx, w)
			switch {
			case err == nil:
				useWrites.Inc()
				s.Tracker.ConfirmWrite(w)
			case ctx.Err() == nil:
				s.Log.V(1).Info("The usage of a pod could not be written; trying again", "pod", w.Pod.String(), "err", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
}

// writeUse writes a use to the annotation of a pod, through its status: this needs no permission to change the pod itself.
// A pod that is gone is not an error.
func (s *Sampler) writeUse(ctx context.Context, w podmeasure.Write) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": w.UID, "annotations": map[string]string{keys.Used: w.Use.Encode()}},
	})
	if err != nil {
		return err
	}
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = w.Pod.Namespace, w.Pod.Name
	err = s.API.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another pod may have the name now
		return nil
	}
	return err
}

// nanoseconds returns a duration. A number that is too large becomes the longest duration.
func nanoseconds(n uint64) time.Duration { return time.Duration(min(n, math.MaxInt64)) }
