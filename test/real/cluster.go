package real

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	componentconfig "k8s.io/component-base/config/v1alpha1"

	"github.com/vc-batch/vc/internal/local/controlplane"
)

const (
	nodeCount = 3
	// startTimeout is the maximum time until all nodes are ready on a busy machine.
	startTimeout = 5 * time.Minute
	poll         = 200 * time.Millisecond
)

// cluster is a Kubernetes cluster with real nodes.
type cluster struct {
	dir        string
	kubernetes string // the program with the components of the nodes
	server     string // the URL of the API server for the nodes and pods
	heartbeat  time.Duration
	plane      *controlplane.ControlPlane
	client     kubernetes.Interface
	nodes      []*node
}

// startCluster starts a control plane and nodes with the given images, and waits until all nodes are ready.
func startCluster(ctx context.Context, dir, program string, archives []string) (*cluster, error) {
	c := &cluster{dir: dir, kubernetes: program, heartbeat: 2 * time.Second}
	if err := c.startControlPlane(ctx); err != nil {
		return nil, err
	}
	bridge, err := createBridge()
	if err != nil {
		return nil, err
	}
	for number := 1; number <= nodeCount; number++ {
		n := &node{cluster: c, number: number, name: fmt.Sprintf("node-%d", number)}
		n.dir = filepath.Join(dir, n.name)
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
		if err := n.startHolder(); err != nil {
			return nil, err
		}
		if err := connectNode(bridge, number, nodeCount, n.holder.Process.Pid); err != nil {
			return nil, err
		}
	}
	for _, n := range c.nodes {
		if err := errors.Join(n.startContainerd(), n.waitForContainerd(ctx)); err != nil {
			return nil, err
		}
		for _, archive := range archives {
			if err := n.importImage(archive); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(n.startKubelet(), n.startProxy()); err != nil {
			return nil, err
		}
	}
	if err := c.waitForNodes(ctx); err != nil {
		return nil, err
	}
	return c, c.serveResize(ctx, c.resizeSocket())
}

// startControlPlane starts the API server where the nodes can reach it, the default scheduler and the DNS server.
func (c *cluster) startControlPlane(ctx context.Context) error {
	var err error
	c.plane, err = controlplane.Start(ctx, controlplane.Options{
		Dir: filepath.Join(c.dir, "plane"), Ephemeral: true, ExtraHosts: []string{gateway},
		APIServerFlags: []string{
			"--bind-address=0.0.0.0", "--advertise-address=" + gateway, "--endpoint-reconciler-type=lease",
			// The API server has no kube-proxy beside it, so it calls webhooks at the addresses of their pods.
			"--enable-aggregator-routing=true",
		},
		ControllerManagerFlags: []string{"--node-monitor-grace-period=20s"},
	})
	if err != nil {
		return err
	}
	c.server = fmt.Sprintf("https://%s:%d", gateway, c.plane.Port())
	if c.client, err = kubernetes.NewForConfig(c.plane.RESTConfig()); err != nil {
		return err
	}
	return errors.Join(c.startScheduler(), c.startDNS())
}

// startScheduler starts the default scheduler, which places the pods of vc itself.
func (c *cluster) startScheduler() error {
	kubeconfig := filepath.Join(c.dir, "kube-scheduler.kubeconfig")
	if err := c.plane.WriteKubeconfig(kubeconfig, c.plane.APIServerURL(), "system:kube-scheduler"); err != nil {
		return err
	}
	return c.start("kube-scheduler", "--kubeconfig="+kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1",
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig)
}

const clusterDomain = "cluster.local"

// startDNS starts CoreDNS, which resolves the names of services and of pods with a host name.
func (c *cluster) startDNS() error {
	kubeconfig := filepath.Join(c.dir, "coredns.kubeconfig")
	if err := c.plane.WriteKubeconfig(kubeconfig, c.plane.APIServerURL(), "system:coredns", "system:masters"); err != nil {
		return err
	}
	config := fmt.Sprintf(".:53 {\n\terrors\n\tkubernetes %s in-addr.arpa {\n\t\tkubeconfig %s\n\t}\n}\n", clusterDomain, kubeconfig)
	file := filepath.Join(c.dir, "Corefile")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return err
	}
	if err := c.start("coredns", "-conf", file); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(context.Background(), poll, time.Minute, true, func(ctx context.Context) (bool, error) {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:53")
		if err != nil {
			return false, nil
		}
		return true, connection.Close()
	})
	if err != nil {
		return fmt.Errorf("CoreDNS does not listen: %w (log: %s)", err, filepath.Join(c.dir, "coredns.log"))
	}
	return nil
}

// start starts a component of the control plane. Its log has the name of the component. The component ends with the
// test, because the test has a PID namespace of its own.
func (c *cluster) start(component string, args ...string) error {
	log, err := os.Create(filepath.Join(c.dir, component+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(c.kubernetes, append([]string{component}, args...)...)
	command.Stdout, command.Stderr = log, log
	return command.Start()
}

func (n *node) waitForContainerd(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, poll, time.Minute, true, func(context.Context) (bool, error) {
		output, err := n.command("ctr", "--address", containerdSocket, "version").CombinedOutput()
		if err != nil {
			last = fmt.Errorf("%w: %s", err, output)
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: containerd does not answer: %w (log: %s)", n.name, last, filepath.Join(n.dir, "containerd.log"))
	}
	return nil
}

// waitForNodes waits until all nodes are ready.
func (c *cluster) waitForNodes(ctx context.Context) error {
	var state string
	err := wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(ctx context.Context) (bool, error) {
		nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		ready := 0
		state = ""
		for i := range nodes.Items {
			condition := readyCondition(&nodes.Items[i])
			if condition.Status == corev1.ConditionTrue {
				ready++
			}
			state += fmt.Sprintf("%s: ready %s (%s)\n", nodes.Items[i].Name, condition.Status, condition.Message)
		}
		return ready == nodeCount, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %d nodes: %w\n%s", nodeCount, err, state)
	}
	return nil
}

// nodeOf returns the node of a pod.
func (c *cluster) nodeOf(pod *corev1.Pod) *node {
	for _, n := range c.nodes {
		if n.name == pod.Spec.NodeName {
			return n
		}
	}
	return nil
}

func readyCondition(n *corev1.Node) corev1.NodeCondition {
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition
		}
	}
	return corev1.NodeCondition{Status: corev1.ConditionUnknown, Message: "no condition"}
}

func clientConnection(kubeconfig string) componentconfig.ClientConnectionConfiguration {
	return componentconfig.ClientConnectionConfiguration{Kubeconfig: kubeconfig}
}
