package processnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// leaveGrace is how long the processes of pods may take to end by themselves when the node's process ends.
const leaveGrace = time.Second

// statusInterval is how often an unchanged node status is written. The node's heartbeat is its lease.
const statusInterval = time.Hour

// leaseSeconds is the duration of a lease, which is renewed after a quarter of this time.
const leaseSeconds = 40

// Node is a process node.
type Node struct {
	config     Config
	client     kubernetes.Interface
	machine    *machine
	lookups    *lookups
	capacity   corev1.ResourceList
	hostIP     string
	apiService netip.AddrPort // address at which pods reach the API server; invalid if unknown
	recorder   record.EventRecorder
	pods       cache.SharedIndexInformer
	ready      chan struct{}
	ctx        context.Context // derived from the context of Run
	cancel     context.CancelFunc
	// writePatience is how long the node tries to write the last statuses of its pods when its process ends.
	writePatience time.Duration

	mu      sync.Mutex
	workers map[types.UID]*worker
	ended   map[types.UID]bool // pods that have ended but still exist in the API
	leaving bool               // no new worker may start
	running sync.WaitGroup
}

// New validates the configuration and detects what the machine permits. It does not access the API.
func New(config Config) (*Node, error) {
	if err := config.setDefaults(); err != nil {
		return nil, err
	}
	quick := rest.CopyConfig(config.REST)
	if quick.QPS == 0 {
		quick.QPS, quick.Burst = 200, 400
	}
	quick.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(quick)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", config.Name, err)
	}
	if err := os.MkdirAll(filepath.Join(config.Dir, "pods"), 0o700); err != nil {
		return nil, fmt.Errorf("node %s: state directory: %w", config.Name, err)
	}
	shared, err := machineForNodes(filepath.Dir(config.Dir))
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", config.Name, err)
	}
	if config.Warn != nil {
		for _, line := range shared.missing {
			config.Warn(line)
		}
	}
	return &Node{
		config: config, client: client, machine: shared, lookups: &lookups{client: client}, capacity: machineCapacity(config), hostIP: "127.0.0.1",
		writePatience: 3 * lookupTimeout,
		ready:         make(chan struct{}), workers: map[types.UID]*worker{}, ended: map[types.UID]bool{},
	}, nil
}

// Name returns the node's name.
func (n *Node) Name() string { return n.config.Name }

// Ready returns a channel that is closed when the node is Ready in the API and runs pods.
func (n *Node) Ready() <-chan struct{} { return n.ready }

func (n *Node) podDir(uid types.UID) string {
	return filepath.Join(n.config.Dir, "pods", string(uid))
}

func (n *Node) maskedPaths() []string {
	return append([]string{n.machine.directory}, n.config.Mask...)
}

func (n *Node) recordPodEvent(pod *corev1.Pod, kind, reason, message string) {
	n.recorder.Event(pod, kind, reason, message)
}

// Run runs the node until ctx is done. Then it ends the processes of its pods and returns. It must be called only
// once.
func (n *Node) Run(ctx context.Context) error {
	// Work for pods must continue while they are being stopped.
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	n.ctx, n.cancel = inner, cancel
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: n.client.CoreV1().Events("")})
	n.recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: n.config.Name})

	listener, err := net.Listen("tcp", n.config.Listen)
	if err != nil {
		return fmt.Errorf("node %s: kubelet port: %w", n.config.Name, err)
	}
	stopServing := n.serveRequests(listener)
	defer stopServing()
	n.findAPIService(ctx)
	if err := n.watchPods(ctx); err != nil {
		return err
	}
	failed := n.registerNode(ctx, listener.Addr().(*net.TCPAddr).Port)
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
		if ctx.Err() != nil {
			err = nil
		}
	}
	n.endAllPods()
	return err
}

// watchPods starts the informer and the workers of existing pods.
func (n *Node) watchPods(ctx context.Context) error {
	selector := "spec.nodeName=" + n.config.Name
	list := cache.NewFilteredListWatchFromClient(n.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, func(options *metav1.ListOptions) {
		options.FieldSelector = selector
	})
	n.pods = cache.NewSharedIndexInformer(list, &corev1.Pod{}, 0, cache.Indexers{})
	if err := n.pods.SetTransform(stripManagedFields); err != nil {
		return fmt.Errorf("node %s: %w", n.config.Name, err)
	}
	go n.pods.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), n.pods.HasSynced) {
		return nil
	}
	n.removeUnknownPods()
	_, err := n.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { n.handlePodObject(object.(*corev1.Pod)) },
		UpdateFunc: func(old, object any) {
			// If a pod is deleted and re-created between two events, this appears as an update.
			if before := old.(*corev1.Pod); before.UID != object.(*corev1.Pod).UID {
				n.handleDeletedPod(before)
			}
			n.handlePodObject(object.(*corev1.Pod))
		},
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				n.handleDeletedPod(pod)
			}
		},
	})
	return err
}

func stripManagedFields(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

// handlePodObject processes the current object for a pod.
func (n *Node) handlePodObject(pod *corev1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w, ok := n.workers[pod.UID]; ok {
		w.postToWorker(func() { w.storeNewerPod(pod) })
		return
	}
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case n.leaving || isMirror(pod):
	case (over || n.ended[pod.UID]) && pod.DeletionTimestamp != nil:
		go n.deletePod(pod)
	case over || n.ended[pod.UID]:
		n.ended[pod.UID] = true
	default:
		w := newWorker(n, pod)
		if pod.DeletionTimestamp != nil {
			w.storeNewerPod(pod)
		}
		n.workers[pod.UID] = w
		n.running.Go(func() {
			w.runUntilDone(n.ctx)
			n.handleWorkerEnd(w)
		})
	}
}

// isMirror reports whether a pod mirrors a static pod of another kubelet.
func isMirror(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}

// handleWorkerEnd removes a worker and processes the pod's object again, because the worker may have missed the last
// change.
func (n *Node) handleWorkerEnd(w *worker) {
	n.mu.Lock()
	delete(n.workers, w.uid)
	if !w.gone && !w.leaving {
		n.ended[w.uid] = true
	}
	n.mu.Unlock()
	if w.leaving {
		return
	}
	key := w.pod.API.Namespace + "/" + w.pod.API.Name
	object, exists, _ := n.pods.GetStore().GetByKey(key)
	pod, ok := object.(*corev1.Pod)
	switch {
	case w.deleting && !w.gone:
		n.deletePod(w.pod.API)
	case exists && ok && pod.UID == w.uid:
		n.handlePodObject(pod)
	default:
		n.removeLogs(w.uid)
	}
}

// handleDeletedPod ends a pod whose object was deleted.
func (n *Node) handleDeletedPod(pod *corev1.Pod) {
	n.mu.Lock()
	w, ok := n.workers[pod.UID]
	n.mu.Unlock()
	if ok {
		w.postToWorker(w.endDeletedPod)
		return
	}
	n.removeLogs(pod.UID)
}

// removeLogs removes the logs of a pod.
func (n *Node) removeLogs(uid types.UID) {
	n.mu.Lock()
	delete(n.ended, uid)
	n.mu.Unlock()
	sandbox.RemoveTree(n.podDir(uid))
}

// deletePod deletes the object from the API after the pod's processes have ended and its resources are released.
func (n *Node) deletePod(pod *corev1.Pod) {
	options := metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		err := n.client.CoreV1().Pods(pod.Namespace).Delete(n.ctx, pod.Name, options)
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		if !sleepContext(n.ctx, wait) {
			return
		}
	}
}

// removeUnknownPods deletes the directories of pods that no longer exist in the API, and the remains of the file
// systems of other pods.
func (n *Node) removeUnknownPods() {
	known := map[string]bool{}
	for _, object := range n.pods.GetStore().List() {
		known[string(object.(*corev1.Pod).UID)] = true
	}
	entries, _ := os.ReadDir(filepath.Join(n.config.Dir, "pods"))
	for _, entry := range entries {
		directory := filepath.Join(n.config.Dir, "pods", entry.Name())
		if !known[entry.Name()] {
			sandbox.RemoveTree(directory)
			continue
		}
		sandbox.RemoveTree(filepath.Join(directory, "containers"))
	}
}

// endAllPods ends the processes of all pods and waits for them. If the API server is unavailable, the last statuses of the
// pods are not written.
func (n *Node) endAllPods() {
	n.mu.Lock()
	n.leaving = true
	for _, w := range n.workers {
		w.postToWorker(func() { w.endForNodeExit(leaveGrace) })
	}
	n.mu.Unlock()
	giveUp := time.AfterFunc(leaveGrace+n.writePatience, n.cancel)
	defer giveUp.Stop()
	n.running.Wait()
}

// registerNode creates the Node object and renews the node's lease. The returned channel receives an error when this
// ends.
func (n *Node) registerNode(ctx context.Context, port int) <-chan error {
	failed := make(chan error, 1)
	provider := vknode.NaiveNodeProvider{}
	controller, err := vknode.NewNodeController(provider, n.nodeObject(port), n.client.CoreV1().Nodes(),
		vknode.WithNodeEnableLeaseV1(n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), leaseSeconds),
		vknode.WithNodeStatusUpdateInterval(statusInterval))
	if err != nil {
		failed <- fmt.Errorf("node %s: %w", n.config.Name, err)
		return failed
	}
	go func() {
		err := controller.Run(ctx)
		if err == nil {
			err = errors.New("registration ended")
		}
		failed <- fmt.Errorf("node %s: %w", n.config.Name, err)
	}()
	go func() {
		select {
		case <-controller.Ready():
		case <-ctx.Done():
			return
		}
		if err := n.removeNotReadyTaint(ctx); err != nil {
			n.config.Log.Error(err, "Could not remove the taint from the new node")
		}
		close(n.ready)
	}()
	return failed
}

// RemoveFromAPI deletes the node and its lease from the API. It must be called after Run has returned.
func (n *Node) RemoveFromAPI(ctx context.Context) error {
	err := n.client.CoreV1().Nodes().Delete(ctx, n.config.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("node %s: %w", n.config.Name, err)
	}
	err = n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(ctx, n.config.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("node %s: lease: %w", n.config.Name, err)
	}
	return nil
}
