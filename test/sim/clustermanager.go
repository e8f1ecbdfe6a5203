package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/vc-batch/vc/test/apiserver"
)

// clusterManager plays the part of kube-controller-manager: the garbage collector, the deletion of namespaces, the
// eviction from lost nodes, and the removal of pods whose node is gone.
type clusterManager struct {
	world      *World
	random     *rand.Rand
	scheduled  bool
	namespaces *namespaceController
}

func newClusterManager(w *World) *clusterManager {
	return &clusterManager{world: w, random: w.randomFor("cluster manager"), namespaces: newNamespaceController(w)}
}

// Delays of the garbage collector.
const (
	shortestGarbage = 5 * time.Millisecond
	longestGarbage  = 3 * time.Second
)

// observe schedules garbage collection and the update of quotas after a change that may need them.
func (m *clusterManager) observe(c apiserver.Change) {
	m.namespaces.observe(c)
	isDeletion := c.Object == nil || c.Object.GetDeletionTimestamp() != nil
	isQuota := c.Kind == quotaKind
	if pod, ok := c.Object.(*corev1.Pod); ok && pod.Namespace == smallNamespace && isFinished(pod) {
		isQuota = true
	}
	isOrphan := c.Old == nil && m.world.server.LacksOwner(c.Object) // created after its owner was deleted
	if isDeletion || isQuota || isOrphan {
		m.schedule()
	}
}

func (m *clusterManager) schedule() {
	if m.scheduled {
		return
	}
	m.scheduled = true
	m.world.add(m.world.now.Add(between(m.random, shortestGarbage, longestGarbage)), nil, func() {
		m.scheduled = false
		if m.world.serverDown {
			m.schedule()
			return
		}
		m.collectGarbage()
	})
}

// collectGarbage sends the requests of the garbage collector and of the quota controller.
func (m *clusterManager) collectGarbage() {
	for _, r := range m.world.server.GarbageRequests() {
		m.do(r)
	}
	for _, r := range m.world.server.QuotaRequests() {
		m.do(r)
	}
	for _, pod := range m.world.pods() {
		if pod.Spec.NodeName != "" && m.world.state.nodes[pod.Spec.NodeName] == nil {
			m.removePod(pod)
		}
	}
}

// removePod deletes a pod without grace.
func (m *clusterManager) removePod(pod *corev1.Pod) {
	uid := pod.UID
	m.do(&apiserver.Request{Verb: apiserver.Delete, Kind: podKind, Namespace: pod.Namespace, Name: pod.Name, GracePeriod: ptr.To(int64(0)),
		Preconditions: &metav1.Preconditions{UID: &uid}})
}

func (m *clusterManager) do(r *apiserver.Request) {
	r.User = "kube-controller-manager"
	_, err := m.world.do(r)
	m.world.trace("%s: %s: %s", r.User, r, describeError(err))
	if err != nil {
		m.schedule()
	}
}

// Times after which a lost node is marked, and after which its pods are evicted.
const (
	nodeGrace     = 40 * time.Second
	evictionDelay = 30 * time.Second // the default is five minutes; less keeps worlds short
)

var nodeKind = corev1.SchemeGroupVersion.WithKind("Node")

// loseNode stops a node. Its pods are evicted if it does not return in time.
func (w *World) loseNode(name string) {
	k := w.kubelet(name)
	if k == nil || k.process == nil {
		return
	}
	w.trace("node %s is lost", name)
	w.cover("lost node", "node")
	k.stop()
	w.superviseNode(k)
}

// superviseNode marks a node that sends no heartbeats, and evicts its pods if it stays silent.
func (w *World) superviseNode(k *kubelet) {
	name := k.node
	w.add(w.now.Add(nodeGrace), nil, func() {
		if k.isSilent() {
			w.setNodeReady(name, corev1.ConditionUnknown)
		}
	})
	w.add(w.now.Add(nodeGrace+evictionDelay), nil, func() {
		if !k.isSilent() {
			return
		}
		for _, pod := range w.pods() {
			if pod.Spec.NodeName == name && pod.DeletionTimestamp == nil && !isFinished(pod) {
				uid := pod.UID
				w.cover("lost node", "a pod is evicted")
				w.manager.do(&apiserver.Request{Verb: apiserver.Delete, Kind: podKind, Namespace: pod.Namespace, Name: pod.Name, Preconditions: &metav1.Preconditions{UID: &uid}})
			}
		}
	})
}

// returnNode starts a lost node again. Its containers have ended with the node.
func (w *World) returnNode(name string) {
	k := w.kubelet(name)
	if k == nil || k.process != nil || w.state.nodes[name] == nil {
		return
	}
	w.trace("node %s returns", name)
	k.start()
	w.setNodeReady(name, corev1.ConditionTrue)
}

// removeNode deletes the Node object of a lost node.
func (w *World) removeNode(name string) {
	k := w.kubelet(name)
	if k == nil || w.state.nodes[name] == nil {
		return
	}
	k.stop()
	w.cover("removed node", "node")
	w.manager.do(&apiserver.Request{Verb: apiserver.Delete, Kind: nodeKind, Name: name})
}

// addNode creates a node and starts its kubelet.
func (w *World) addNode(name string, milliCPU int64) {
	if w.state.nodes[name] != nil || !w.createNode(newNode(name, milliCPU)) {
		return
	}
	k := w.kubelet(name)
	if k == nil {
		k = &kubelet{world: w, node: name}
		w.kubelets = append(w.kubelets, k)
	}
	k.start()
}

// createNode creates a node with its status. It reports whether the node exists.
func (w *World) createNode(node *corev1.Node) bool {
	w.manager.do(&apiserver.Request{Verb: apiserver.Create, Kind: nodeKind, Name: node.Name, Object: node})
	if w.state.nodes[node.Name] == nil {
		return false
	}
	status := w.state.nodes[node.Name].DeepCopy()
	status.Status = node.Status
	w.manager.do(&apiserver.Request{Verb: apiserver.Update, Kind: nodeKind, Subresource: "status", Name: node.Name, Object: status})
	return true
}

// setNodeReady sets the condition Ready of a node, and its taint for lost nodes.
func (w *World) setNodeReady(name string, ready corev1.ConditionStatus) {
	node := w.state.nodes[name]
	if node == nil {
		return
	}
	update := node.DeepCopy()
	update.Spec.Taints = nil
	if ready != corev1.ConditionTrue {
		update.Spec.Taints = []corev1.Taint{
			{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
			{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
		}
	}
	w.manager.do(&apiserver.Request{Verb: apiserver.Update, Kind: nodeKind, Name: name, Object: update})
	update = w.state.nodes[name].DeepCopy()
	for i := range update.Status.Conditions {
		if update.Status.Conditions[i].Type == corev1.NodeReady {
			update.Status.Conditions[i].Status = ready
		}
	}
	w.manager.do(&apiserver.Request{Verb: apiserver.Update, Kind: nodeKind, Subresource: "status", Name: name, Object: update})
	w.add(w.now.Add(kubeletRetry), nil, func() {
		isUp := w.kubelet(name) != nil && !w.kubelet(name).isSilent()
		if node := w.state.nodes[name]; node != nil && isUp == (ready == corev1.ConditionTrue) && !hasReadiness(node, ready) {
			w.setNodeReady(name, ready)
		}
	})
}

// hasReadiness reports whether a node has this condition, and the taints that belong to it.
func hasReadiness(node *corev1.Node, ready corev1.ConditionStatus) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != ready {
			return false
		}
	}
	return (len(node.Spec.Taints) == 0) == (ready == corev1.ConditionTrue)
}

// setCordoned cordons or uncordons a node.
func (w *World) setCordoned(name string, cordoned bool) {
	if node := w.state.nodes[name]; node != nil {
		update := node.DeepCopy()
		update.Spec.Unschedulable = cordoned
		w.manager.do(&apiserver.Request{Verb: apiserver.Update, Kind: nodeKind, Name: name, Object: update})
	}
}

func newNode(name string, milliCPU int64) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(64<<30, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
	}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	node.Labels = map[string]string{corev1.LabelHostname: name}
	return node
}

// nodeName returns the name of a node.
func nodeName(index int) string { return fmt.Sprintf("node-%d", index) }
