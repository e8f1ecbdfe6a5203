package real

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/vc-batch/vc/deploy"
)

// processors is the number of processors that each kubelet sees. In fact, all nodes share those of the machine.
const processors = 20

// nodeCPUs is the number of CPUs that each node offers to jobs unless a test sets another one.
const nodeCPUs = 16

// resizeTimeout is the maximum time until a kubelet that was started again has reported its resources.
const resizeTimeout = time.Minute

// resize sets the number of CPUs that each node offers to jobs. The number for a node is the one in sizes with the same
// index. All other nodes are cordoned. The allocatable CPUs also
// include the requests of vc's own pods on the node.
func (c *cluster) resize(ctx context.Context, sizes []int) error {
	if len(sizes) > len(c.nodes) {
		return fmt.Errorf("there are %d nodes, not %d", len(c.nodes), len(sizes))
	}
	for i, n := range c.nodes {
		isUsed := i < len(sizes)
		if isUsed {
			if err := n.offer(ctx, sizes[i]); err != nil {
				return fmt.Errorf("%s: offer %d CPUs: %w", n.name, sizes[i], err)
			}
		}
		if err := c.cordon(ctx, n.name, !isUsed); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) cordon(ctx context.Context, name string, cordoned bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, cordoned)
	_, err := c.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// offer starts the kubelet again so that the node has a number of CPUs for jobs, and waits until the node reports it.
func (n *node) offer(ctx context.Context, cpus int) error {
	used, err := n.requestsOfVC(ctx)
	if err != nil {
		return err
	}
	want := used.DeepCopy()
	want.Add(*resource.NewQuantity(int64(cpus), resource.DecimalSI))
	reserved := resource.NewQuantity(processors, resource.DecimalSI)
	reserved.Sub(want)
	if n.reserved == nil || n.reserved.Cmp(*reserved) != 0 {
		n.reserved = reserved
		if err := n.restartKubelet(); err != nil {
			return err
		}
	}
	var reported string
	err = wait.PollUntilContextTimeout(ctx, poll, resizeTimeout, true, func(ctx context.Context) (bool, error) {
		found, err := n.cluster.client.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		reported = fmt.Sprintf("allocatable %s, ready %s", found.Status.Allocatable.Cpu(), readyCondition(found).Status)
		return found.Status.Allocatable.Cpu().Cmp(want) == 0 && readyCondition(found).Status == corev1.ConditionTrue, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, reported)
	}
	return nil
}

// requestsOfVC returns the CPUs that the pods of vc on a node request.
func (n *node) requestsOfVC(ctx context.Context) (resource.Quantity, error) {
	var sum resource.Quantity
	pods, err := n.cluster.client.CoreV1().Pods(deploy.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.name})
	if err != nil {
		return sum, err
	}
	for i := range pods.Items {
		for j := range pods.Items[i].Spec.Containers {
			sum.Add(*pods.Items[i].Spec.Containers[j].Resources.Requests.Cpu())
		}
	}
	return sum, nil
}

// restartKubelet stops the kubelet and starts it with the current configuration. Containers run on.
func (n *node) restartKubelet() error {
	if err := n.kubelet.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = n.kubelet.Wait() // ended by the signal
	return n.startKubelet()
}

// serveResize serves requests that resize the nodes at a socket, until ctx is done: PUT /nodes with the list of sizes as
// JSON. The end-to-end tests call it, because each of their tests needs nodes of a certain size.
func (c *cluster) serveResize(ctx context.Context, socket string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /nodes", func(w http.ResponseWriter, r *http.Request) {
		var sizes []int
		err := json.NewDecoder(r.Body).Decode(&sizes)
		if err == nil {
			err = c.resize(r.Context(), sizes)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	go func() { _ = server.Serve(listener) }() // ends when the server is closed
	return nil
}

// resizeSocket is the socket at which requests that resize the nodes are served, in the directory of the cluster.
func (c *cluster) resizeSocket() string { return filepath.Join(c.dir, "nodes.sock") }

// simulateProcessors makes the kubelet of a node see processors that the machine does not have.
func (n *node) simulateProcessors() error {
	output, err := n.command("sh", "-ec", `
		mount -t tmpfs tmpfs /sys/devices/system/node
		mount -t tmpfs tmpfs /sys/devices/system/cpu
		for i in $(seq 0 $(($1 - 1))); do
			mkdir -p /sys/devices/system/cpu/cpu$i/topology
			echo $i >/sys/devices/system/cpu/cpu$i/topology/core_id
			echo 0 >/sys/devices/system/cpu/cpu$i/topology/physical_package_id
		done`, "sh", strconv.Itoa(processors)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: simulate processors: %w: %s", n.name, err, output)
	}
	return nil
}
