package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
)

// localVolume returns a volume on a node's disk. Claims of its class are bound when their first pod is scheduled.
func localVolume(name, node, size string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  capacity: {storage: %s}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: local
  local: {path: /tmp}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]
---
`, name, size, node)
}

const localClass = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
`

func volumeClaim(name string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s, namespace: default}
spec:
  storageClassName: local
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 5Gi}}
---
`, name)
}

// member returns a pod of a gang with additional lines for volumes or claims.
func member(gang, name, more string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: default
  annotations: {scheduling.k8s.io/group-name: %s}
spec:
  schedulerName: volcano
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: none:local, command: [sleep, "600"], resources: {requests: {cpu: 1}}}]
%s---
`, name, gang, more)
}

func podGroup(name string, minMember int) string {
	return fmt.Sprintf("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: %s, namespace: default}\nspec: {minMember: %d}\n---\n", name, minMember)
}

// TestAGangWithLocalVolumes checks that two pods with unbound claims are placed on nodes with sufficiently large
// volumes, each with its own. Kubernetes' volume controller binds the volumes before the pods are bound.
func TestAGangWithLocalVolumes(t *testing.T) {
	c := startCluster(t, "--process-nodes", "0", "--simulated-nodes", "3", "--node-cpu", "4", "--node-memory", "8Gi")
	c.create(localClass + localVolume("small", "sim-1", "1Gi") + localVolume("left", "sim-2", "10Gi") + localVolume("right", "sim-3", "10Gi"))
	c.create(volumeClaim("data-0") + podGroup("pair", 2))
	mounts := func(claim string) string {
		return fmt.Sprintf("  volumes: [{name: data, persistentVolumeClaim: {claimName: %s}}]\n", claim)
	}
	c.create(member("pair", "pair-0", mounts("data-0")) + member("pair", "pair-1", mounts("data-1")))
	c.eventually(20*time.Second, "the group says which claim is missing", func() error {
		text := c.kubectl("get", "podgroup", "pair", "-o", "jsonpath={.status.conditions}{.status.explanation.message}")
		return containsAll(text, `persistentvolumeclaim \"data-1\" not found`)
	})

	c.create(volumeClaim("data-1"))
	nodes := map[string]string{}
	for _, name := range []string{"pair-0", "pair-1"} {
		nodes[name] = c.podPhase(name, corev1.PodRunning, 30*time.Second).Spec.NodeName
	}
	of := map[string]string{"left": "sim-2", "right": "sim-3"}
	for i, name := range []string{"pair-0", "pair-1"} {
		var claim corev1.PersistentVolumeClaim
		if err := c.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("data-%d", i)}, &claim); err != nil {
			t.Fatal(err)
		}
		if claim.Status.Phase != corev1.ClaimBound || of[claim.Spec.VolumeName] != nodes[name] {
			t.Errorf("%s is on %s, its claim is %s to volume %q", name, nodes[name], claim.Status.Phase, claim.Spec.VolumeName)
		}
	}

	// A bound volume stays on its node, so the next pod that uses the claim is placed there.
	c.kubectl("delete", "pod", "pair-0", "pair-1", "--wait=true")
	c.create(podGroup("next", 1) + member("next", "next-0", mounts("data-1")))
	if p := c.podPhase("next-0", corev1.PodRunning, 30*time.Second); p.Spec.NodeName != nodes["pair-1"] {
		t.Errorf("next-0 runs on %s, its volume is on %s", p.Spec.NodeName, nodes["pair-1"])
	}
}

// TestAGangWithDevices checks that claims from a template get devices of the nodes, one claim per pod. The pod for
// which no device is left waits with an explanation.
func TestAGangWithDevices(t *testing.T) {
	c := startCluster(t, "--process-nodes", "0", "--simulated-nodes", "2", "--node-cpu", "8", "--node-memory", "8Gi")
	var manifest strings.Builder
	manifest.WriteString(`apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: card}
spec: {selectors: [{cel: {expression: 'device.driver == "cards.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-card, namespace: default}
spec: {spec: {devices: {requests: [{name: card, exactly: {deviceClassName: card}}]}}}
---
`)
	for i, cards := range []string{"[{name: card0}]", "[{name: card0}, {name: card1}]"} {
		fmt.Fprintf(&manifest, `apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: cards-%d}
spec: {driver: cards.example.com, nodeName: sim-%d, pool: {name: sim-%d, generation: 1, resourceSliceCount: 1}, devices: %s}
---
`, i+1, i+1, i+1, cards)
	}
	claims := "  resourceClaims: [{name: card, resourceClaimTemplateName: one-card}]\n"
	manifest.WriteString(podGroup("trio", 3))
	for i := range 3 {
		manifest.WriteString(member("trio", fmt.Sprintf("trio-%d", i), claims))
	}
	c.create(manifest.String())
	on := map[string]int{}
	for i := range 3 {
		on[c.podPhase(fmt.Sprintf("trio-%d", i), corev1.PodRunning, 40*time.Second).Spec.NodeName]++
	}
	if on["sim-1"] != 1 || on["sim-2"] != 2 {
		t.Errorf("pods by node %v, want one where there is one card and two where there are two", on)
	}
	var all resourcev1.ResourceClaimList
	if err := c.List(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	devices := map[string]bool{}
	for i := range all.Items {
		claim := &all.Items[i]
		if claim.Status.Allocation == nil || len(claim.Status.ReservedFor) != 1 {
			t.Fatalf("claim %s has status %+v", claim.Name, claim.Status)
		}
		r := claim.Status.Allocation.Devices.Results[0]
		devices[r.Pool+"/"+r.Device] = true
	}
	if len(devices) != 3 {
		t.Errorf("devices %v, want three different ones", devices)
	}

	c.create(podGroup("late", 1) + member("late", "late-0", claims))
	c.eventually(20*time.Second, "the group says that it is for devices", func() error {
		return containsAll(c.kubectl("get", "podgroup", "late", "-o", "jsonpath={.status.explanation.message}"), " Devices")
	})
	c.kubectl("delete", "pod", "trio-0")
	c.podPhase("late-0", corev1.PodRunning, 40*time.Second)
}
