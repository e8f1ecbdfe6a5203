package simnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	nodeutil "k8s.io/component-helpers/node/util"
)

const (
	kubeletVersion = "v1.37.2-simulated"
	defaultPods    = "110"
	// closedPort is a port on which no machine listens.
	closedPort = 1
)

// AddNodes creates simulated nodes, which accept pods as soon as a fleet is running. It returns when all of them
// exist without the not-ready taint. If a simulated node with the name already exists, it gets the new capacity,
// labels and taints. If the existing node is not simulated, AddNodes returns an error. If progress is not nil, it is
// called with the number of finished nodes, from several goroutines but never concurrently.
func AddNodes(ctx context.Context, client kubernetes.Interface, progress func(done, total int), specs ...Spec) error {
	if err := validateSpecs(specs); err != nil {
		return err
	}
	counted := newCounter(len(specs), progress)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultWriters)
	for _, spec := range specs {
		group.Go(func() error {
			if err := addNode(ctx, client, Config{}.completeSpec(spec)); err != nil {
				return fmt.Errorf("simulated node %s: %w", spec.Name, err)
			}
			counted.countAndReport()
			return nil
		})
	}
	return group.Wait()
}

func addNode(ctx context.Context, client kubernetes.Interface, spec Spec) error {
	want := nodeObject(spec, time.Now())
	node, err := client.CoreV1().Nodes().Create(ctx, want, metav1.CreateOptions{})
	if err == nil && sameTaints(node.Spec.Taints, spec.Taints) {
		return nil
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, spec.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return updateNode(ctx, client, node, want)
	})
}

// updateNode updates the parts of an existing node that differ from the wanted node.
func updateNode(ctx context.Context, client kubernetes.Interface, node, want *corev1.Node) error {
	if node.Labels[KindLabel] != KindSimulated {
		return errors.New("already exists and is not a simulated node")
	}
	if !sameTaints(node.Spec.Taints, want.Spec.Taints) || !labels.SelectorFromSet(want.Labels).Matches(labels.Set(node.Labels)) {
		changed := node.DeepCopy()
		changed.Spec.Taints = want.Spec.Taints
		maps.Copy(changed.Labels, want.Labels)
		updated, err := client.CoreV1().Nodes().Update(ctx, changed, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		node = updated
	}
	if IsReady(node) && sameResources(node.Status.Capacity, want.Status.Capacity) {
		return nil
	}
	return patchNodeStatus(ctx, client, node.Name, want.Status)
}

func patchNodeStatus(ctx context.Context, client kubernetes.Interface, name string, status corev1.NodeStatus) error {
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("status patch: %w", err)
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}

// RemoveNodes deletes simulated nodes, and ends and deletes their pods. It is not an error if a node does not exist,
// but it is an error if a node is not simulated.
func RemoveNodes(ctx context.Context, client kubernetes.Interface, names ...string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultWriters)
	for _, name := range names {
		group.Go(func() error {
			if err := removeNode(ctx, client, name); err != nil {
				return fmt.Errorf("simulated node %s: %w", name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func removeNode(ctx context.Context, client kubernetes.Interface, name string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if node.Labels[KindLabel] != KindSimulated {
		return errors.New("is not a simulated node")
	}
	if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name).String()})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Spec.NodeName == name {
			if err := failAndDeletePod(ctx, client, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// failAndDeletePod marks a pod as Kubernetes' pod garbage collector marks the pods of a deleted node, and deletes it.
func failAndDeletePod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	pods := client.CoreV1().Pods(pod.Namespace)
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		body, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": pod.UID},
			"status": map[string]any{"phase": corev1.PodFailed, "conditions": []corev1.PodCondition{{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC",
				Message: "PodGC: node no longer exists", LastTransitionTime: metav1.NewTime(time.Now())}}},
		})
		if err != nil {
			return fmt.Errorf("pod %s/%s: status patch: %w", pod.Namespace, pod.Name, err)
		}
		if _, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status"); err != nil &&
			!apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	err := pods.Delete(ctx, pod.Name, deleteNow(pod.UID))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// nodeObject returns a simulated node with a ready status.
func nodeObject(spec Spec, now time.Time) *corev1.Node {
	own := map[string]string{
		KindLabel:                 KindSimulated,
		corev1.LabelHostname:      spec.Name,
		corev1.LabelOSStable:      "linux",
		corev1.LabelArchStable:    runtime.GOARCH,
		"beta.kubernetes.io/os":   "linux", // otherwise the node lifecycle controller adds these two
		"beta.kubernetes.io/arch": runtime.GOARCH,
	}
	maps.Copy(own, spec.Labels)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: spec.Name, Labels: own},
		Spec:       corev1.NodeSpec{Taints: spec.Taints},
		Status:     readyStatus(spec, now),
	}
}

func readyStatus(spec Spec, now time.Time) corev1.NodeStatus {
	capacity := spec.Capacity.DeepCopy()
	if _, ok := capacity[corev1.ResourcePods]; !ok {
		capacity[corev1.ResourcePods] = resource.MustParse(defaultPods)
	}
	since := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message,
			LastHeartbeatTime: since, LastTransitionTime: since}
	}
	return corev1.NodeStatus{
		Capacity: capacity, Allocatable: capacity.DeepCopy(),
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "the node is simulated"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "the node is simulated"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "the node is simulated"),
			condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "the node is simulated"),
		},
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: nodeAddress(spec.Name)},
			{Type: corev1.NodeHostName, Address: spec.Name},
		},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: closedPort}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: spec.Name, KubeletVersion: kubeletVersion, OSImage: "simulated", ContainerRuntimeVersion: "simulated://1",
			OperatingSystem: "linux", Architecture: runtime.GOARCH, KernelVersion: "simulated",
		},
	}
}

// nodeAddress returns a loopback address derived from the node's name. No process listens on it, so that a request
// for logs is refused at once instead of timing out. Two nodes may have the same address.
func nodeAddress(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	n := h.Sum32()
	return fmt.Sprintf("127.%d.%d.%d", 64+n>>16&63, n>>8&255, n&255)
}

// IsReady reports whether a node is ready.
func IsReady(node *corev1.Node) bool {
	_, ready := nodeutil.GetNodeCondition(&node.Status, corev1.NodeReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

func internalIP(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}

func sameTaints(have, want []corev1.Taint) bool {
	return slices.EqualFunc(have, want, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value })
}

func sameResources(have, want corev1.ResourceList) bool {
	return maps.EqualFunc(have, want, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}
