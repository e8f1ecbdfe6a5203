package processnode

import (
	"bufio"
	"context"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// KindLabel is the label that identifies process nodes.
const KindLabel = "vc-batch.dev/node-kind"

// maxPods is the default maximum number of pods on a node, as in the kubelet.
const maxPods = 110

// machineCapacity returns the machine's capacity, with overrides from the configuration.
func machineCapacity(config Config) corev1.ResourceList {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(runtime.NumCPU()), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memoryBytes(), resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(maxPods, resource.DecimalSI),
	}
	if size := diskBytes(config.Dir); size > 0 {
		capacity[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(size, resource.BinarySI)
	}
	maps.Copy(capacity, config.Capacity)
	return capacity
}

func memoryBytes() int64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// nodeObject returns the Node object to register.
func (n *Node) nodeObject(port int) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname: n.config.Name, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH, KindLabel: "process",
	}
	maps.Copy(labels, n.config.Labels)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.config.Name, Labels: labels, Annotations: maps.Clone(n.config.Annotations)},
		Spec:       corev1.NodeSpec{Taints: n.config.Taints},
		Status: corev1.NodeStatus{
			Capacity: n.capacity, Allocatable: n.capacity, Conditions: nodeConditions(time.Now()),
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.hostIP}, {Type: corev1.NodeHostName, Address: n.config.Name}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
			NodeInfo:        systemInfo(),
		},
	}
}

func nodeConditions(now time.Time) []corev1.NodeCondition {
	stamp := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: stamp, LastTransitionTime: stamp}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "process nodes do not monitor the machine's memory"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "process nodes do not monitor the machine's disks"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "process nodes do not monitor the machine's process IDs"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "the process node runs pods as processes of this machine"),
	}
}

func systemInfo() corev1.NodeSystemInfo {
	info := corev1.NodeSystemInfo{
		OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH, ContainerRuntimeVersion: "process://1", KubeletVersion: "v1.37.2-vc",
		KernelVersion: readFirstLine("/proc/sys/kernel/osrelease"), MachineID: readFirstLine("/etc/machine-id"), BootID: readFirstLine("/proc/sys/kernel/random/boot_id"),
	}
	text, _ := os.ReadFile("/etc/os-release")
	for line := range strings.SplitSeq(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			info.OSImage = strings.Trim(value, `"`)
		}
	}
	return info
}

func readFirstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// removeNotReadyTaint removes the taint that new nodes get, because this node is already ready.
func (n *Node) removeNotReadyTaint(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := n.client.CoreV1().Nodes().Get(ctx, n.config.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		before := len(node.Spec.Taints)
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable
		})
		if len(node.Spec.Taints) == before {
			return nil
		}
		_, err = n.client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
}
