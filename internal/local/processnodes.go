package local

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/local/processnode"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// nodeReadyTimeout is the maximum time until a new node accepts pods.
	nodeReadyTimeout = 90 * time.Second
	// drainTimeout is how long to wait for the pods of a removed node to end. After that, they are killed together
	// with the node.
	drainTimeout = 40 * time.Second
)

// processRun is a process node and its goroutine.
type processRun struct {
	node   *processnode.Node
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func (s *nodeSet) addProcess(ctx context.Context, nodes []nodespec.Node) error {
	if len(nodes) == 0 {
		return nil
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, nodeReadyTimeout)
	defer cancel()
	for _, node := range nodes {
		if err := s.runProcess(node); err != nil {
			return fmt.Errorf("process node %s: %w", node.Name, err)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, node := range nodes {
		group.Go(func() error { return s.waitProcess(ctx, node.Name) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.report.Ready(countWithNoun(len(nodes), "process node"), time.Since(begun))
	return nil
}

// runProcess starts a process node.
func (s *nodeSet) runProcess(node nodespec.Node) error {
	certPEM, keyPEM, err := s.plane.PKI().NewServingCert(node.Name, "127.0.0.1", "localhost", node.Name)
	if err != nil {
		return err
	}
	serving, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process[node.Name] != nil {
		return errors.New("runs already")
	}
	n, err := processnode.New(processnode.Config{
		Name: node.Name, REST: s.plane.RESTConfig(), Dir: s.dir.pathInDir("nodes", node.Name), Mask: []string{string(s.dir)},
		Capacity: node.Capacity, Labels: node.Labels, Taints: node.Taints,
		Serving: serving, ClientCA: s.authority,
		Log: klog.Background().WithName("node").WithValues("node", node.Name), Warn: s.newLimitWarner(),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	run := &processRun{node: n, cancel: cancel, done: make(chan struct{})}
	s.process[node.Name] = run
	go func() {
		defer close(run.done)
		run.err = n.Run(ctx)
	}()
	return nil
}

// newLimitWarner returns a function that reports features that the machine does not permit. Only the first node reports
// them, because they are the same for all nodes. The caller must hold mu.
func (s *nodeSet) newLimitWarner() func(string) {
	if s.warned {
		return func(string) {}
	}
	s.warned = true
	return s.report.Note
}

// waitProcess waits until the node is ready and schedulable, according to the API server.
func (s *nodeSet) waitProcess(ctx context.Context, name string) error {
	run := s.findRunningProcess(name)
	select {
	case <-run.node.Ready():
	case <-run.done:
		return fmt.Errorf("process node %s ended: %w", name, run.err)
	case <-ctx.Done():
		return fmt.Errorf("process node %s is not ready: %w", name, ctx.Err())
	}
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		node, err := s.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return err == nil && acceptsPods(node), err
	})
	if err != nil {
		return fmt.Errorf("process node %s is not ready: %w", name, err)
	}
	return nil
}

func (s *nodeSet) findRunningProcess(name string) *processRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process[name]
}

// removeProcess drains a process node and then stops it.
func (s *nodeSet) removeProcess(ctx context.Context, name string) error {
	s.mu.Lock()
	run := s.process[name]
	delete(s.process, name)
	s.mu.Unlock()
	if run == nil {
		return usererror.Wrapf("remove the node with: kubectl delete node "+name, "node %q does not belong to this process", name)
	}
	err := s.drainProcessNode(ctx, name)
	run.cancel()
	<-run.done
	return errors.Join(err, run.node.RemoveFromAPI(ctx), s.forgetProcess(ctx, name))
}

// drainProcessNode cordons a node, deletes its pods, and waits until they have ended.
func (s *nodeSet) drainProcessNode(ctx context.Context, name string) error {
	cordon := []byte(`{"spec":{"unschedulable":true}}`)
	if _, err := s.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, cordon, metav1.PatchOptions{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		left, err := s.deletePods(ctx, name, metav1.DeleteOptions{})
		return left == 0, err
	})
	if wait.Interrupted(err) {
		return nil // these pods are killed together with the node
	}
	return err
}

// forgetProcess removes a node that is not running, and the pods that are bound to it in the API server.
func (s *nodeSet) forgetProcess(ctx context.Context, name string) error {
	err := s.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	_, err = s.deletePods(ctx, name, *metav1.NewDeleteOptions(0))
	return err
}

// deletePods deletes the pods of a node, each only once, and returns the number of pods that still exist.
func (s *nodeSet) deletePods(ctx context.Context, name string, options metav1.DeleteOptions) (left int, err error) {
	pods, err := s.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
	if err != nil {
		return 0, err
	}
	atOnce := options.GracePeriodSeconds != nil
	for _, pod := range pods.Items {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Kind == "DaemonSet" && !atOnce {
			continue // the controller would re-create the pod; the pod ends together with the node
		}
		left++
		if pod.DeletionTimestamp != nil && !atOnce {
			continue
		}
		err := s.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
		if err != nil && !apierrors.IsNotFound(err) {
			return 0, err
		}
	}
	return left, nil
}
