package local

import (
	"context"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/local/simnode"
	"github.com/vc-batch/vc/internal/usererror"
)

// nodeSet runs the nodes of a cluster. The list of nodes is stored in the API server, so a start without a list of
// nodes continues with the existing Node objects.
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

// startNodes runs exactly the given nodes; nil means the nodes from the last run.
func (s *nodeSet) startNodes(ctx context.Context, nodes []nodespec.Node) error {
	existing, err := s.existingNodes(ctx)
	if err != nil {
		return err
	}
	if nodes == nil {
		nodes = existing
	}
	if err := s.deleteUnwanted(ctx, existing, nodes); err != nil {
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
	return s.startNewNodes(ctx, nodes)
}

// existingNodes returns the nodes that vc-local has created in the API server.
func (s *nodeSet) existingNodes(ctx context.Context) ([]nodespec.Node, error) {
	list, err := s.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: simnode.KindLabel})
	if err != nil {
		return nil, err
	}
	nodes := []nodespec.Node{}
	for _, node := range list.Items {
		nodes = append(nodes, nodeFromObject(&node))
	}
	return nodes, nil
}

// stateTaints are the keys of the taints that Kubernetes adds and removes depending on a node's state.
var stateTaints = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable}

// nodeFromObject returns the configuration of a node, derived from its Node object.
func nodeFromObject(node *corev1.Node) nodespec.Node {
	labels := maps.Clone(node.Labels)
	for _, own := range []string{simnode.KindLabel, corev1.LabelHostname, corev1.LabelOSStable, corev1.LabelArchStable} {
		delete(labels, own)
	}
	n := nodespec.Node{Name: node.Name, Kind: nodespec.KindProcess, Capacity: node.Status.Capacity.DeepCopy(), Labels: labels}
	if node.Labels[simnode.KindLabel] == simnode.KindSimulated {
		n.Kind = nodespec.KindSimulated
	}
	for _, taint := range node.Spec.Taints {
		if taint.TimeAdded == nil && !slices.Contains(stateTaints, taint.Key) {
			n.Taints = append(n.Taints, taint)
		}
	}
	return n
}

// deleteUnwanted deletes the Node objects of nodes that are no longer wanted, or that are wanted with another kind.
func (s *nodeSet) deleteUnwanted(ctx context.Context, existing, wanted []nodespec.Node) error {
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
			if node.Kind == nodespec.KindSimulated {
				return simnode.RemoveNodes(ctx, s.client, node.Name)
			}
			return s.forgetProcess(ctx, node.Name)
		})
	}
	return group.Wait()
}

// startNewNodes starts nodes. It returns when all of them accept pods.
func (s *nodeSet) startNewNodes(ctx context.Context, nodes []nodespec.Node) error {
	var simulated []simnode.Spec
	var process []nodespec.Node
	for _, node := range nodes {
		if node.Kind == nodespec.KindSimulated {
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
	s.report.Ready(countWithNoun(len(simulated), "simulated node"), time.Since(begun))
	return nil
}

func simulatedSpec(node nodespec.Node) simnode.Spec {
	capacity := simnode.DefaultCapacity()
	maps.Copy(capacity, node.Capacity)
	return simnode.Spec{Name: node.Name, Capacity: capacity, Labels: node.Labels, Taints: node.Taints}
}

func acceptsPods(node *corev1.Node) bool {
	isExcluded := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable
	})
	return !isExcluded && simnode.IsReady(node)
}

// removeNode removes a node and the pods on it.
func (s *nodeSet) removeNode(ctx context.Context, name string) error {
	node, err := s.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return usererror.Wrapf("list the existing nodes with: vc-local nodes list", "node %q does not exist", name)
	}
	if err != nil {
		return err
	}
	if node.Labels[simnode.KindLabel] == simnode.KindSimulated {
		return s.fleet.RemoveNodes(ctx, name)
	}
	return s.removeProcess(ctx, name)
}

// stopAllNodes stops all nodes. Pods on process nodes end with them.
func (s *nodeSet) stopAllNodes() {
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

func countWithNoun(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// capacityText formats a capacity for the status.
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
