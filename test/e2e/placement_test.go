package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestScenario16PodsFollowLabelsTaintsAndOtherPods places pods by the labels and taints of nodes and by other pods.
func TestScenario16PodsFollowLabelsTaintsAndOtherPods(t *testing.T) {
	c := startCluster(t, "--process-nodes", "2", "--node-cpu", "4", "--node-memory", "8Gi")
	var nodes []string
	var list corev1.NodeList
	if err := c.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	for _, node := range list.Items {
		if !node.Spec.Unschedulable {
			nodes = append(nodes, node.Name)
		}
	}
	if len(nodes) != 2 {
		t.Fatalf("nodes %v, want two", nodes)
	}
	plain, reserved := nodes[0], nodes[1]
	c.kubectl("label", "node", plain, "disk=fast")
	c.kubectl("taint", "node", reserved, "team=physics:NoSchedule")
	t.Cleanup(func() {
		c.kubectl("label", "node", plain, "disk-")
		c.kubectl("taint", "node", reserved, "team-")
	})
	const (
		selectsFast  = "nodeSelector: {disk: fast}"
		tolerates    = "tolerations: [{key: team, value: physics, effect: NoSchedule}]"
		notFast      = tolerates + "\n        affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: NotIn, values: [fast]}]}]}}}"
		besideOther  = tolerates + "\n        affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {volcano.sh/job-name: not-fast}}, topologyKey: kubernetes.io/hostname}]}}"
		apartOfOther = tolerates + "\n        affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {volcano.sh/job-name: not-fast}}, topologyKey: kubernetes.io/hostname}]}}"
	)
	for _, placed := range []struct{ name, pod, node string }{
		{"label", selectsFast, plain},
		{"taint", "", plain},
		{"not-fast", notFast, reserved},
		{"beside", besideOther, reserved},
		{"apart", apartOfOther, plain},
	} {
		c.create(fmt.Sprintf(`apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: %s, namespace: default}
spec:
  minAvailable: 1
  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 2
        containers: [{name: main, image: none:local, command: [sleep, "600"], resources: {requests: {cpu: 1}}}]
        %s
`, placed.name, placed.pod))
		pods := c.running(placed.name, 1, 60*time.Second)
		if node := pods[placed.name+"-main-0"].Spec.NodeName; node != placed.node {
			t.Errorf("job %s is on %s, want %s", placed.name, node, placed.node)
		}
	}
}
