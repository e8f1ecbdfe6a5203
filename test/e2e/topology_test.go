package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// hyperNodes returns manifests in the form of Volcano's documentation: two switches with two nodes each, below one
// spine.
func hyperNodes(nodes []string) string {
	var b strings.Builder
	for i := range 2 {
		fmt.Fprintf(&b, `apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata:
  name: s%d
spec:
  tier: 1
  members:
  - type: Node
    selector:
      exactMatch:
        name: "%s"
  - type: Node
    selector:
      regexMatch:
        pattern: "^%s$"
---
`, i, nodes[2*i], nodes[2*i+1])
	}
	return b.String() + `apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata:
  name: spine
spec:
  tier: 2
  tierName: spine
  members:
  - type: HyperNode
    selector:
      exactMatch:
        name: "s0"
  - type: HyperNode
    selector:
      exactMatch:
        name: "s1"
`
}

// nearJob returns a job whose pods must stay within a tier.
func nearJob(name string, replicas, tier int) string {
	return fmt.Sprintf(`apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: %s, namespace: default}
spec:
  schedulerName: volcano
  minAvailable: %d
  networkTopology: {mode: hard, highestTierAllowed: %d}
  tasks:
  - name: w
    replicas: %d
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: none:local, command: [sleep, "600"], resources: {requests: {cpu: 2}}}]
`, name, replicas, tier, replicas)
}

// TestAJobWithAHardTopologyStaysInsideOneHyperNode applies manifests from Volcano's documentation with kubectl.
func TestAJobWithAHardTopologyStaysInsideOneHyperNode(t *testing.T) {
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=4", "--node-cpu=4")
	nodes := strings.Fields(c.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"))
	if len(nodes) != 4 {
		t.Fatalf("nodes %q, want 4", nodes)
	}
	c.must(hyperNodes(nodes), "kubectl", "apply", "-f", "-")
	c.eventually(20*time.Second, "the scheduler says what it made of the hyperNodes", func() error {
		var h topologyv1alpha1.HyperNode
		if err := c.Get(context.Background(), types.NamespacedName{Name: "spine"}, &h); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(h.Status.Conditions, topologyv1alpha1.HyperNodeReady) || h.Status.NodeCount != 4 {
			return fmt.Errorf("status %+v", h.Status)
		}
		return nil
	})

	c.create(nearJob("near", 4, 1))
	on := map[string]int{}
	for _, p := range c.running("near", 4, 30*time.Second) {
		for i, name := range nodes {
			if p.Spec.NodeName == name {
				on[fmt.Sprintf("s%d", i/2)]++
			}
		}
	}
	if len(on) != 1 {
		t.Errorf("pods by switch: %v, want them behind one", on)
	}
	pg, err := c.podGroupOf("near")
	if err != nil {
		t.Fatal(err)
	}
	if in := pg.Annotations[keys.AllocatedHyperNode]; on[in] != 4 {
		t.Errorf("annotation says %q, the pods are in %v", in, on)
	}

	c.kubectl("delete", "jobs.batch.volcano.sh", "near")
	c.running("near", 0, 30*time.Second)
	c.create(nearJob("wide", 5, 1))
	c.waits("wide", 20*time.Second, "in HyperNode", "4 of 5 fit")

	r := c.run(strings.Replace(hyperNodes(nodes), `exactMatch:`, `labelMatch: {matchLabels: {a: b}}, exactMatch:`, 1), "kubectl", "apply", "-f", "-")
	if r.code == 0 {
		t.Error("a member that is selected in two ways was accepted")
	}
}
