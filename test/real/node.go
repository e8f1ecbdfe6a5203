package real

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	proxyconfig "k8s.io/kube-proxy/config/v1alpha1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
)

// node is a machine of the cluster: processes in a mount and a network namespace.
type node struct {
	cluster *cluster
	number  int
	name    string
	dir     string // its configuration, its images and its logs

	holder     *exec.Cmd // keeps the namespaces; it does nothing else
	containerd *exec.Cmd
	kubelet    *exec.Cmd
	proxy      *exec.Cmd

	reserved *resource.Quantity // CPUs that the kubelet does not offer; nil if it offers all
}

// pauseImage is the image of the container that keeps the namespaces of a pod. The tests build it.
const pauseImage = "localhost/pause:1"

// containerdSocket is the same path on each node, because each has its own /run.
const containerdSocket = "/run/containerd/containerd.sock"

// containerdRoot is the directory of the node's images and containers. It is in memory, because the images of three nodes
// would otherwise be written to the same disk at the same time.
func (n *node) containerdRoot() string { return filepath.Join(n.dir, "containerd") }

// startHolder starts the process that keeps the namespaces of the node, and prepares its mounts. The kubelet writes
// symbolic links to /var/log/containers, and containerd keeps its state in /run.
func (n *node) startHolder() error {
	n.holder = exec.Command("sleep", "infinity")
	n.holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := n.holder.Start(); err != nil {
		return err
	}
	// Volumes that the kubelet mounts must appear in containers, so mounts are shared inside the node.
	prepare := n.command("sh", "-ec", `
		mount --make-rshared /
		mount -t tmpfs -o mode=755 tmpfs /run
		mount -t tmpfs -o mode=755 tmpfs /var/log
		mkdir -p /run/netns "$1"
		mount -t tmpfs -o mode=755 tmpfs "$1"
		echo 1 >/proc/sys/net/ipv4/ip_forward`, "sh", n.containerdRoot())
	if output, err := prepare.CombinedOutput(); err != nil {
		return fmt.Errorf("prepare the mounts of %s: %w: %s", n.name, err, output)
	}
	return n.simulateProcessors()
}

// command returns a command that runs in the namespaces of the node. Its process is the program itself.
func (n *node) command(program string, args ...string) *exec.Cmd {
	target := strconv.Itoa(n.holder.Process.Pid)
	return exec.Command("nsenter", append([]string{"--target", target, "--mount", "--net", "--", program}, args...)...)
}

// start starts a program in the namespaces of the node. Its output goes to a file with the given name.
func (n *node) start(logName, program string, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(n.dir, logName+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := n.command(program, args...)
	c.Stdout, c.Stderr = log, log
	return c, c.Start()
}

func (n *node) startContainerd() error {
	config := fmt.Sprintf(`version = 2
root = %q
state = "/run/containerd"
[grpc]
  address = %q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q
`, n.containerdRoot(), containerdSocket, pauseImage, filepath.Join(n.dir, "cni"))
	if err := n.writeNetworkConfig(); err != nil {
		return err
	}
	file := filepath.Join(n.dir, "containerd.toml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return err
	}
	var err error
	n.containerd, err = n.start("containerd", "containerd", "--config", file)
	return err
}

// writeNetworkConfig writes the configuration of the network plugins: the node routes each packet of a pod, also to a pod
// of the same node. With a bridge, answers to requests to a service would bypass kube-proxy.
func (n *node) writeNetworkConfig() error {
	config := map[string]any{
		"cniVersion": "0.4.0", "name": "pods",
		"plugins": []any{
			map[string]any{
				"type": "ptp",
				"ipam": map[string]any{
					"type": "host-local", "dataDir": "/run/addresses",
					"ranges": []any{[]any{map[string]any{"subnet": podSubnet(n.number).String()}}},
					"routes": []any{map[string]any{"dst": "0.0.0.0/0"}},
				},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}},
		},
	}
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join(n.dir, "cni")
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "10-pods.conflist"), data, 0o644))
}

// importImage loads the archive of an image into the node's containerd.
func (n *node) importImage(archive string) error {
	output, err := n.command("ctr", "--address", containerdSocket, "--namespace", "k8s.io", "images", "import", archive).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: import %s: %w: %s", n.name, archive, err, output)
	}
	return nil
}

// containerPID returns the process ID of the first process of a container. The test has the PID namespace of the nodes.
func (n *node) containerPID(id string) (int, error) {
	id = strings.TrimPrefix(id, "containerd://")
	output, err := n.command("ctr", "--address", containerdSocket, "--namespace", "k8s.io", "tasks", "list").Output()
	if err != nil {
		return 0, fmt.Errorf("%s: list containers: %w", n.name, err)
	}
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == id {
			return strconv.Atoi(fields[1])
		}
	}
	return 0, fmt.Errorf("%s has no running container %s", n.name, id)
}

func (n *node) startKubelet() error {
	plane := n.cluster.plane
	kubeconfig := filepath.Join(n.dir, "kubelet.kubeconfig")
	if err := plane.WriteKubeconfig(kubeconfig, n.cluster.server, "system:node:"+n.name, "system:nodes"); err != nil {
		return err
	}
	certPEM, keyPEM, err := plane.PKI().NewServingCert(n.name, n.name, nodeAddress(n.number))
	if err != nil {
		return err
	}
	certificate, key := filepath.Join(n.dir, "kubelet.crt"), filepath.Join(n.dir, "kubelet.key")
	resolver := filepath.Join(n.dir, "resolv.conf")
	err = errors.Join(
		os.WriteFile(certificate, certPEM, 0o600), os.WriteFile(key, keyPEM, 0o600),
		os.WriteFile(resolver, []byte("nameserver "+gateway+"\n"), 0o644), n.writeKubeletConfig(certificate, key, resolver),
	)
	if err != nil {
		return err
	}
	n.kubelet, err = n.start("kubelet", n.cluster.kubernetes, "kubelet",
		"--config="+filepath.Join(n.dir, "kubelet.json"), "--kubeconfig="+kubeconfig, "--root-dir="+filepath.Join(n.dir, "kubelet"),
		"--hostname-override="+n.name, "--node-ip="+nodeAddress(n.number))
	return err
}

func (n *node) writeKubeletConfig(certificate, key, resolver string) error {
	config := kubeletconfig.KubeletConfiguration{
		TypeMeta:                 metav1.TypeMeta{APIVersion: kubeletconfig.SchemeGroupVersion.String(), Kind: "KubeletConfiguration"},
		ContainerRuntimeEndpoint: "unix://" + containerdSocket,
		Authentication: kubeletconfig.KubeletAuthentication{
			Anonymous: kubeletconfig.KubeletAnonymousAuthentication{Enabled: new(false)},
			Webhook:   kubeletconfig.KubeletWebhookAuthentication{Enabled: new(true)},
			X509:      kubeletconfig.KubeletX509Authentication{ClientCAFile: n.cluster.plane.PKI().CACert()},
		},
		Authorization:     kubeletconfig.KubeletAuthorization{Mode: kubeletconfig.KubeletAuthorizationModeWebhook},
		TLSCertFile:       certificate,
		TLSPrivateKeyFile: key,
		ResolverConfig:    new(resolver),
		ClusterDNS:        []string{gateway},
		ClusterDomain:     clusterDomain,
		PodLogsDir:        filepath.Join(n.dir, "pods"),
		VolumePluginDir:   filepath.Join(n.dir, "volumeplugins"),
		MaxPods:           100,
		// The three kubelets share the machine's cgroups, so none of them creates cgroups for classes of service.
		CgroupDriver:                "cgroupfs",
		CgroupsPerQOS:               new(false),
		EnforceNodeAllocatable:      []string{"none"},
		FailCgroupV1:                new(false),
		FailSwapOn:                  new(false),
		OOMScoreAdj:                 new(int32(0)),
		ImageGCHighThresholdPercent: new(int32(100)),
		EvictionHard:                map[string]string{"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
		// Tests kill containers often, and do not wait for minutes until they start again.
		CrashLoopBackOff:          kubeletconfig.CrashLoopBackOffConfig{MaxContainerRestartPeriod: &metav1.Duration{Duration: time.Second}},
		NodeStatusUpdateFrequency: metav1.Duration{Duration: n.cluster.heartbeat},
		NodeLeaseDurationSeconds:  int32(4 * n.cluster.heartbeat.Seconds()),
	}
	if n.reserved != nil {
		config.SystemReserved = map[string]string{string(corev1.ResourceCPU): n.reserved.String()}
	}
	return writeJSON(filepath.Join(n.dir, "kubelet.json"), &config)
}

func (n *node) startProxy() error {
	kubeconfig := filepath.Join(n.dir, "kube-proxy.kubeconfig")
	if err := n.cluster.plane.WriteKubeconfig(kubeconfig, n.cluster.server, "system:kube-proxy"); err != nil {
		return err
	}
	config := proxyconfig.KubeProxyConfiguration{
		TypeMeta:         metav1.TypeMeta{APIVersion: proxyconfig.SchemeGroupVersion.String(), Kind: "KubeProxyConfiguration"},
		ClientConnection: clientConnection(kubeconfig),
		HostnameOverride: n.name,
		Mode:             "nftables",
		ClusterCIDR:      "10.71.0.0/16",
		// The limits of connection tracking belong to the machine.
		Conntrack: proxyconfig.KubeProxyConntrackConfiguration{
			MaxPerCore: new(int32(0)), Min: new(int32(0)), TCPEstablishedTimeout: &metav1.Duration{}, TCPCloseWaitTimeout: &metav1.Duration{},
		},
	}
	file := filepath.Join(n.dir, "kube-proxy.json")
	if err := writeJSON(file, &config); err != nil {
		return err
	}
	var err error
	n.proxy, err = n.start("kube-proxy", n.cluster.kubernetes, "kube-proxy", "--config="+file)
	return err
}

func writeJSON(file string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
