package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/local/metricsapi"
	"github.com/vc-batch/vc/internal/local/processnode"
	"github.com/vc-batch/vc/internal/local/processnode/processtree"
)

// measureInterval is the time between two measurements of the process nodes.
const measureInterval = 10 * time.Second

// usesPerMeasurement is the maximum number of pods, of all nodes, whose use is written after a measurement.
const usesPerMeasurement = 100

// metricsReaders is the role that lets users who may view a namespace read metrics. metrics-server creates the same one.
const metricsReaders = "system:aggregated-metrics-reader"

// metricsPart measures the process nodes and serves the metrics API.
type metricsPart struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// startMetrics starts to measure the process nodes, and to serve the metrics API. Errors are only logged, because no
// other part depends on it.
func startMetrics(ctx context.Context, config *rest.Config, client kubernetes.Interface, nodes *nodeSet) (*metricsPart, error) {
	if err := createMetricsRole(ctx, client); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.Background()))
	p := &metricsPart{cancel: cancel}
	store := &metricsapi.Store{}
	p.running.Go(func() { nodes.measureUntilDone(running, store) })
	p.running.Go(func() {
		nodeLabels := func(ctx context.Context) (map[string]labels.Set, error) { return listNodeLabels(ctx, client) }
		options := aggregatedapi.Options{ListenAddress: "127.0.0.1:0", Namespace: daemon.Namespace}
		if err := aggregatedapi.Run(running, config, metricsapi.Group, options, metricsapi.NewHandler(store, nodeLabels)); err != nil {
			klog.FromContext(running).Error(err, "The metrics API is not available")
		}
	})
	return p, nil
}

// stop ends the measurements and removes the API group.
func (p *metricsPart) stop() {
	if p == nil {
		return
	}
	p.cancel()
	p.running.Wait()
}

// measureUntilDone measures the process nodes at intervals, and lets them write the use of their pods.
func (s *nodeSet) measureUntilDone(ctx context.Context, store *metricsapi.Store) {
	ticker := time.NewTicker(measureInterval)
	defer ticker.Stop()
	for {
		nodes := s.processNodes()
		for _, node := range nodes {
			node.PublishUses(max(1, usesPerMeasurement/len(nodes)))
		}
		measurement, err := measureNodes(nodes)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Process nodes cannot be measured")
		} else {
			store.Add(measurement)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// measureNodes measures all nodes at the same time. Without nodes, the measurement is empty, so that the metrics of
// removed nodes disappear.
func measureNodes(nodes []*processnode.Node) (metricsapi.Measurement, error) {
	m := metricsapi.Measurement{At: time.Now(), Nodes: map[string][]processnode.ContainerUse{}}
	if len(nodes) == 0 {
		return m, nil
	}
	processes, err := processtree.Read()
	if err != nil {
		return m, err
	}
	for _, node := range nodes {
		m.Nodes[node.Name()] = node.MeasureContainers(processes)
	}
	return m, nil
}

// processNodes returns the running process nodes.
func (s *nodeSet) processNodes() []*processnode.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := make([]*processnode.Node, 0, len(s.process))
	for _, run := range s.process {
		nodes = append(nodes, run.node)
	}
	return nodes
}

func listNodeLabels(ctx context.Context, client kubernetes.Interface) (map[string]labels.Set, error) {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: processnode.KindLabel + "=process"})
	if err != nil {
		return nil, err
	}
	all := map[string]labels.Set{}
	for i := range list.Items {
		all[list.Items[i].Name] = list.Items[i].Labels
	}
	return all, nil
}

// createMetricsRole creates the role for readers of metrics. An existing role is not changed.
func createMetricsRole(ctx context.Context, client kubernetes.Interface) error {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: metricsReaders, Labels: map[string]string{
			"rbac.authorization.k8s.io/aggregate-to-view": "true", "rbac.authorization.k8s.io/aggregate-to-edit": "true", "rbac.authorization.k8s.io/aggregate-to-admin": "true",
		}},
		Rules: []rbacv1.PolicyRule{policyRule(metricsapi.Group.Name, []string{"pods", "nodes"}, "get", "list", "watch")},
	}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cluster role %s: %w", metricsReaders, err)
	}
	return nil
}
