package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestScenario15ServersAndWorkersOfAJobShareANode submits three jobs at once, each with two parameter servers and four
// workers that attract each other. Each job runs on a node of its own.
func TestScenario15ServersAndWorkersOfAJobShareANode(t *testing.T) {
	c := startCluster(t, "--process-nodes=3", "--node-cpu=8", "--node-memory=16Gi",
		"--scheduler-conf="+schedulerConf(t, "  - name: binpack\n  - name: task-topology\n    arguments:\n      task-topology.weight: 10\n"))
	var manifests strings.Builder
	for i := range 3 {
		manifests.WriteString(job{
			name: fmt.Sprintf("train%d", i), min: 6, annotations: `{volcano.sh/task-topology-affinity: "ps,worker"}`,
			tasks: []task{{name: "ps", replicas: 2, cpu: "1", command: "exec sleep 600"}, {name: "worker", replicas: 4, cpu: "1", command: "exec sleep 600"}},
		}.String())
	}
	c.create(manifests.String())
	jobOnNode := map[string]string{}
	for i := range 3 {
		name := fmt.Sprintf("train%d", i)
		pods := c.running(name, 6, 60*time.Second)
		node := pods[name+"-ps-0"].Spec.NodeName
		for _, pod := range pods {
			if pod.Spec.NodeName != node {
				t.Errorf("pod %s is on %s, want %s, which runs %s-ps-0", pod.Name, pod.Spec.NodeName, node, name)
			}
		}
		if other, isTaken := jobOnNode[node]; isTaken {
			t.Errorf("%s and %s are both on %s", other, name, node)
		}
		jobOnNode[node] = name
	}
}

// TestScenario16PodsFollowLabelsTaintsAndOtherPods places pods by the labels and taints of nodes and by other pods.
func TestScenario16PodsFollowLabelsTaintsAndOtherPods(t *testing.T) {
	c := startCluster(t, "--process-nodes", "2", "--node-cpu", "4", "--node-memory", "8Gi")
	var nodes []string
	for _, node := range c.usableNodes() {
		nodes = append(nodes, node.Name)
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
