package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// discoveryConfig is the ConfigMap of Volcano's chart for discovery from node labels.
const discoveryConfig = `apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-controller-configmap, namespace: volcano-system}
data:
  volcano-controller.conf: |
    networkTopologyDiscovery:
    - source: label
      enabled: true
      config:
        networkTopologyTypes:
          eth:
          - nodeLabel: example.com/spine
          - nodeLabel: example.com/rack
          - nodeLabel: kubernetes.io/hostname
`

// found lists the ready HyperNodes: tier, label, and number of nodes.
func (c *cluster) found() ([]string, error) {
	var list topologyv1alpha1.HyperNodeList
	if err := c.List(context.Background(), &list); err != nil {
		return nil, err
	}
	lines := []string{}
	for i := range list.Items {
		h := &list.Items[i]
		if !meta.IsStatusConditionTrue(h.Status.Conditions, topologyv1alpha1.HyperNodeReady) {
			return nil, fmt.Errorf("hyperNode %s is not ready: %+v", h.Name, h.Status)
		}
		lines = append(lines, fmt.Sprintf("%d %s: %d", h.Spec.Tier, h.Labels[h.Spec.TierName], h.Status.NodeCount))
	}
	slices.Sort(lines)
	return lines, nil
}

// finds waits for HyperNodes.
func (c *cluster) finds(what string, want ...string) {
	c.t.Helper()
	c.eventually(30*time.Second, what, func() error {
		got, err := c.found()
		if err != nil {
			return err
		}
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			return fmt.Errorf("hyperNodes (-want +got):\n%s", diff)
		}
		return nil
	})
}

// TestHyperNodesAreFoundFromLabelsOfNodes labels nodes with kubectl, configures discovery as in Volcano's
// documentation, and changes labels of nodes.
func TestHyperNodesAreFoundFromLabelsOfNodes(t *testing.T) {
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=4", "--node-cpu=4")
	nodes := strings.Fields(c.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"))
	for i, name := range nodes {
		c.kubectl("label", "node", name, "example.com/spine=s1", fmt.Sprintf("example.com/rack=r%d", i/2))
	}
	c.must(discoveryConfig, "kubectl", "apply", "-f", "-")
	c.finds("racks and their spine are found", "1 r0: 2", "1 r1: 2", "2 s1: 4")
	names := c.kubectl("get", "hypernodes", "-o", "jsonpath={.items[*].metadata.name}")

	c.create(nearJob("near", 4, 1))
	c.running("near", 4, 30*time.Second)
	c.kubectl("delete", "jobs.batch.volcano.sh", "near")

	c.kubectl("label", "--overwrite", "node", nodes[1], "example.com/rack=r1")
	c.finds("a node that moves is where it is", "1 r0: 1", "1 r1: 3", "2 s1: 4")
	if now := c.kubectl("get", "hypernodes", "-o", "jsonpath={.items[*].metadata.name}"); now != names {
		t.Errorf("names changed from %s to %s", names, now)
	}

	c.must(strings.Replace(discoveryConfig, "kubernetes.io/hostname", "example.com/row", 1), "kubectl", "apply", "-f", "-")
	c.eventually(20*time.Second, "what is wrong is told on the ConfigMap", func() error {
		if out := c.kubectl("get", "events", "-n", "volcano-system"); !strings.Contains(out, "NetworkTopologyConfigInvalid") || !strings.Contains(out, "networkTopologyTypes[eth]") {
			return fmt.Errorf("events:\n%s", out)
		}
		return nil
	})
	c.finds("a faulty configuration takes nothing away", "1 r0: 1", "1 r1: 3", "2 s1: 4")

	c.must(discoveryConfig, "kubectl", "apply", "-f", "-")
	c.kubectl("delete", "node", nodes[0])
	c.finds("a rack goes with its last node", "1 r1: 3", "2 s1: 3")
	c.kubectl("delete", "hypernode", "--all", "--wait=false")
	c.finds("what is deleted is found again", "1 r1: 3", "2 s1: 3")
}
