package local

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/processnode"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// kindProcess is the value of simnode.KindLabel on process nodes.
const kindProcess = "process"

// nodeReadyTimeout is how long a node may take until it accepts pods.
const nodeReadyTimeout = 90 * time.Second

// nodeSet runs the nodes of a cluster. The API is its only memory: at a start
// without nodes named, it goes on with those the API server knows.
type nodeSet struct {
	dir       Dir
	plane     *controlplane.ControlPlane
	client    kubernetes.Interface
	authority *x509.CertPool
	report    Reporter

	ctx    context.Context
	cancel context.CancelFunc

	fleet     *simnode.Fleet
	fleetDone chan error

	mu      sync.Mutex
	process map[string]*processRun
	warned  bool
}

// processRun is a process node and its goroutine.
type processRun struct {
	node   *processnode.Node
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func newNodeSet(s Settings, plane *controlplane.ControlPlane, report Reporter) (*nodeSet, error) {
	client, err := kubernetes.NewForConfig(plane.RESTConfig())
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(plane.PKI().CACert())
	if err != nil {
		return nil, err
	}
	set := &nodeSet{
		dir: s.Dir, plane: plane, client: client, report: report,
		authority: x509.NewCertPool(), process: map[string]*processRun{}, fleetDone: make(chan error, 1),
	}
	set.authority.AppendCertsFromPEM(authority)
	set.ctx, set.cancel = context.WithCancel(context.Background())
	set.fleet, err = simnode.New(simnode.Config{
		RESTConfig: plane.RESTConfig(),
		StartDelay: s.SimulatedStart,
		Logger:     klog.Background().WithName("simulated-nodes"),
	})
	return set, err
}

// start runs the given nodes and no others; nil means those of the last run.
func (s *nodeSet) start(ctx context.Context, nodes []Node) error {
	existing, err := s.existing(ctx)
	if err != nil {
		return err
	}
	if nodes == nil {
		nodes = existing
	}
	if err := s.forget(ctx, existing, nodes); err != nil {
		return err
	}
	go func() { s.fleetDone <- s.fleet.Run(s.ctx) }()
	select {
	case <-s.fleet.Ready():
	case err := <-s.fleetDone:
		s.fleetDone <- err
		return fmt.Errorf("simulated nodes: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.add(ctx, nodes)
}

// existing are the nodes that the API server knows and that are ours.
func (s *nodeSet) existing(ctx context.Context) ([]Node, error) {
	list, err := s.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: simnode.KindLabel})
	if err != nil {
		return nil, err
	}
	nodes := []Node{}
	for _, node := range list.Items {
		nodes = append(nodes, nodeOf(&node))
	}
	return nodes, nil
}

// nodeOf is what has to be run for a Node to be as the API has it.
func nodeOf(node *corev1.Node) Node {
	labels := maps.Clone(node.Labels)
	for _, own := range []string{simnode.KindLabel, corev1.LabelHostname, corev1.LabelOSStable, corev1.LabelArchStable} {
		delete(labels, own)
	}
	n := Node{Name: node.Name, Kind: KindProcess, Capacity: node.Status.Capacity.DeepCopy(), Labels: labels}
	if node.Labels[simnode.KindLabel] == simnode.KindSimulated {
		n.Kind = KindSimulated
	}
	for _, taint := range node.Spec.Taints {
		if taint.TimeAdded == nil && taint.Key != corev1.TaintNodeNotReady && taint.Key != corev1.TaintNodeUnreachable && taint.Key != corev1.TaintNodeUnschedulable {
			n.Taints = append(n.Taints, taint)
		}
	}
	return n
}

// forget deletes the Node objects that are no longer wanted, or wanted as another kind.
func (s *nodeSet) forget(ctx context.Context, existing, wanted []Node) error {
	kinds := map[string]string{}
	for _, node := range wanted {
		kinds[node.Name] = node.Kind
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, node := range existing {
		if kinds[node.Name] == node.Kind {
			continue
		}
		group.Go(func() error {
			err := s.client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// add runs nodes and returns when all of them accept pods.
func (s *nodeSet) add(ctx context.Context, nodes []Node) error {
	var simulated []simnode.Spec
	var process []Node
	for _, node := range nodes {
		if node.Kind == KindSimulated {
			simulated = append(simulated, simulatedSpec(node))
		} else {
			process = append(process, node)
		}
	}
	if err := s.addProcess(ctx, process); err != nil {
		return err
	}
	if len(simulated) == 0 {
		return nil
	}
	begun := time.Now()
	if err := s.fleet.Add(ctx, simulated...); err != nil {
		return err
	}
	s.report.Ready(plural(len(simulated), "simulated node"), time.Since(begun))
	return nil
}

func simulatedSpec(node Node) simnode.Spec {
	capacity := simnode.DefaultCapacity()
	maps.Copy(capacity, node.Capacity)
	return simnode.Spec{Name: node.Name, Capacity: capacity, Labels: node.Labels, Taints: node.Taints}
}

func (s *nodeSet) addProcess(ctx context.Context, nodes []Node) error {
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
	s.report.Ready(plural(len(nodes), "process node"), time.Since(begun))
	return nil
}

// runProcess starts a process node.
func (s *nodeSet) runProcess(node Node) error {
	certPEM, keyPEM, err := s.plane.PKI().Serving(node.Name, "127.0.0.1", "localhost", node.Name)
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
		Name: node.Name, REST: s.plane.RESTConfig(), Dir: s.dir.join("nodes", node.Name), Mask: []string{string(s.dir)},
		Capacity: node.Capacity, Labels: node.Labels, Taints: node.Taints,
		Serving: serving, ClientCA: s.authority,
		Log: klog.Background().WithName("node").WithValues("node", node.Name), Warn: s.warn(),
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

// warn passes on what the machine does not permit, from the first node only:
// it is the same for all. The caller holds mu.
func (s *nodeSet) warn() func(string) {
	if s.warned {
		return func(string) {}
	}
	s.warned = true
	return s.report.Note
}

// waitProcess returns when the API server has the node as one that takes pods.
func (s *nodeSet) waitProcess(ctx context.Context, name string) error {
	run := s.running(name)
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

func acceptsPods(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	return nodeReady(node)
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (s *nodeSet) running(name string) *processRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process[name]
}

// remove takes a node away, and what runs on it with it.
func (s *nodeSet) remove(ctx context.Context, name string) error {
	node, err := s.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return hinted("vc-local nodes list shows them", "node %q does not exist", name)
	}
	if err != nil {
		return err
	}
	if node.Labels[simnode.KindLabel] == simnode.KindSimulated {
		return s.fleet.Remove(ctx, name)
	}
	s.mu.Lock()
	run := s.process[name]
	delete(s.process, name)
	s.mu.Unlock()
	if run == nil {
		return hinted("remove it with: kubectl delete node "+name, "node %q is not one of this process", name)
	}
	run.cancel()
	<-run.done
	return run.node.Remove(ctx)
}

// stop ends all nodes; what runs on process nodes ends with them.
func (s *nodeSet) stop() {
	if s == nil {
		return
	}
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range s.process {
		<-run.done
	}
}

func plural(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// capacityText is a capacity as status shows it.
func capacityText(list corev1.ResourceList, name corev1.ResourceName) string {
	quantity, found := list[name]
	if !found {
		return ""
	}
	if name == corev1.ResourceMemory {
		return resource.NewQuantity(quantity.Value(), resource.BinarySI).String()
	}
	return quantity.String()
}
