package processnode

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/environ"
	"github.com/vc-batch/vc/internal/local/processnode/network"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
	"github.com/vc-batch/vc/internal/local/processnode/volume"
)

// podEnvironment holds the resources that the containers of a pod share: network, volumes, names.
type podEnvironment struct {
	node       *Node
	pod        *corev1.Pod
	namespaces sandbox.Namespaces
	reserved   netip.Addr // invalid if the pod uses the machine's network
	address    string
	hostname   string
	volumes    volume.Set
	services   []corev1.EnvVar // environment variables for services
	proxy      net.Listener
	cancel     context.CancelFunc // stops the refresh of volumes

	tokensMu sync.Mutex
	tokens   map[string]token // by audience and lifetime
}

// token is a service account token with the time at which it must be renewed.
type token struct {
	text    string
	renewAt time.Time
}

// tokenFor returns the cached token, or a new one if most of the lifetime of the cached token has passed.
func (s *podEnvironment) tokenFor(ctx context.Context, audience string, seconds int64) (string, error) {
	s.tokensMu.Lock()
	defer s.tokensMu.Unlock()
	key := fmt.Sprintf("%s/%d", audience, seconds)
	if kept, ok := s.tokens[key]; ok && time.Now().Before(kept.renewAt) {
		return kept.text, nil
	}
	text, err := s.node.lookups.requestToken(ctx, s.pod, audience, seconds)
	if err != nil {
		return "", err
	}
	if s.tokens == nil {
		s.tokens = map[string]token{}
	}
	s.tokens[key] = token{text: text, renewAt: time.Now().Add(time.Duration(seconds) * time.Second * 8 / 10)}
	return text, nil
}

// volumeSources returns the lookups for volumes.
func (s *podEnvironment) volumeSources(ctx context.Context) volume.Sources {
	sources := s.node.lookups.volumeSources(ctx, s.pod.Namespace)
	sources.Token = func(audience string, seconds int64) (string, error) { return s.tokenFor(ctx, audience, seconds) }
	return sources
}

// preparePodEnvironment creates the environment of the pod and posts it to the worker. It retries until this succeeds
// or ctx is done.
func (w *worker) preparePodEnvironment(ctx context.Context, api *corev1.Pod) {
	s := &podEnvironment{node: w.node, pod: api, hostname: hostnameOf(api), cancel: func() {}}
	wait := 200 * time.Millisecond
	reported := ""
	for {
		err := s.completeSetup(ctx, w)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			s.releaseAll()
			return
		}
		// Do not report the same error twice in a row.
		if text := err.Error(); text != reported {
			w.node.recordPodEvent(api, corev1.EventTypeWarning, "FailedMount", text)
			reported = text
		}
		if !sleepContext(ctx, wait) {
			s.releaseAll()
			return
		}
		wait = min(2*wait, 5*time.Second)
	}
	w.postToWorker(func() {
		if w.pod.IsStopping() {
			s.releaseAll()
			return
		}
		w.mu.Lock()
		w.podEnv = s
		w.mu.Unlock()
		w.pod.Prepared, w.pod.PodIP = true, s.address
		s.refreshPeriodically(w)
	})
}

func hostnameOf(pod *corev1.Pod) string {
	name := pod.Spec.Hostname
	name = cmp.Or(name, pod.Name)
	// The kernel and DNS permit at most 63 characters.
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return name
}

// completeSetup carries out the steps that have not been completed yet, so that it can be called again after an error.
func (s *podEnvironment) completeSetup(ctx context.Context, w *worker) error {
	if s.address == "" {
		if err := s.connectNetwork(); err != nil {
			return err
		}
	}
	services, err := s.node.lookups.listServices(ctx, s.pod.Namespace)
	if err != nil {
		return fmt.Errorf("list the services in the namespace: %w", err)
	}
	if !s.hasOwnNetwork() {
		services = withDirectAPIAddress(services, s.node.config.REST.Host)
	}
	s.services = environ.ServiceVariables(s.pod, services)
	if err := s.writeEtc(w); err != nil {
		return err
	}
	s.volumes, err = volume.PrepareVolumes(s.pod, filepath.Join(w.dir, "volumes"), w.memoryDir(), s.environFacts(), s.volumeSources(ctx))
	return err
}

// hasOwnNetwork reports whether the pod is connected to the bridge instead of using the machine's network.
func (s *podEnvironment) hasOwnNetwork() bool {
	return s.node.machine.bridge != nil && !s.pod.Spec.HostNetwork
}

// connectNetwork sets up the pod's network.
func (s *podEnvironment) connectNetwork() error {
	machine := s.node.machine
	own := s.hasOwnNetwork()
	if machine.permitted.Shared {
		namespaces, err := sandbox.NewNamespaces(own)
		if err != nil {
			return err
		}
		s.namespaces = namespaces
	}
	if s.pod.Spec.HostNetwork {
		s.address = s.node.hostIP
		return nil
	}
	if !own {
		address, err := machine.loopback.Reserve()
		if err != nil {
			s.disconnectNetwork()
			return err
		}
		s.reserved, s.address = address, address.String()
		return nil
	}
	address, err := machine.bridge.Reserve()
	if err == nil {
		s.reserved = address
		err = machine.bridge.Attach(s.namespaces.Net, address, s.node.apiService.Addr())
	}
	if err != nil {
		s.disconnectNetwork()
		return err
	}
	s.address = address.String()
	s.proxy = s.node.forwardAPIConnections(s.namespaces)
	return nil
}

func (s *podEnvironment) disconnectNetwork() {
	if s.proxy != nil {
		_ = s.proxy.Close()
		s.proxy = nil
	}
	s.namespaces.Close()
	s.namespaces = sandbox.Namespaces{}
	if s.reserved.IsValid() {
		s.node.machine.releaseAddress(s.reserved)
		s.reserved = netip.Addr{}
	}
	s.address = ""
}

func (s *podEnvironment) environFacts() environ.Facts {
	return environ.Facts{HostIP: s.node.hostIP, PodIP: s.address, Allocatable: s.node.capacity}
}

// writeEtc writes the pod's own files for /etc.
func (s *podEnvironment) writeEtc(w *worker) error {
	etc := filepath.Join(w.dir, "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(etc, "hostname"), []byte(s.hostname+"\n"), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(etc, "resolv.conf"), []byte(resolvConfText(s.pod)), 0o644); err != nil {
		return err
	}
	entry := &hostsEntry{
		name: network.Name{Namespace: s.pod.Namespace, Hostname: s.hostname, Subdomain: s.pod.Spec.Subdomain, Address: s.address},
		file: filepath.Join(etc, "hosts"),
	}
	for _, alias := range s.pod.Spec.HostAliases {
		entry.aliases = append(entry.aliases, network.Alias{Address: alias.IP, Names: alias.Hostnames})
	}
	return s.node.machine.registerName(s.pod.UID, entry)
}

// resolvConfText returns the content of the pod's resolv.conf: the machine's file, followed by the pod's dnsConfig.
// With dnsPolicy None, it consists only of the dnsConfig.
func resolvConfText(pod *corev1.Pod) string {
	text := ""
	if pod.Spec.DNSPolicy != corev1.DNSNone {
		machine, _ := os.ReadFile("/etc/resolv.conf")
		text = string(machine)
	}
	config := pod.Spec.DNSConfig
	if config == nil {
		return text
	}
	var more strings.Builder
	for _, server := range config.Nameservers {
		more.WriteString("nameserver " + server + "\n")
	}
	if len(config.Searches) > 0 {
		more.WriteString("search " + strings.Join(config.Searches, " ") + "\n")
	}
	for _, option := range config.Options {
		more.WriteString("options " + option.Name)
		if option.Value != nil {
			more.WriteString(":" + *option.Value)
		}
		more.WriteString("\n")
	}
	return text + more.String()
}

// containerMounts returns the mounts for the files in /etc and for the container's volumes.
func (s *podEnvironment) containerMounts(w *worker, container *corev1.Container, env []string) ([]shim.Mount, error) {
	mounts, err := s.volumes.Mounts(container, func(expression string) (string, error) {
		return environ.ExpandArguments([]string{expression}, env)[0], nil
	})
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, m := range mounts {
		taken[m.Target] = true
	}
	for _, name := range []string{"hosts", "hostname", "resolv.conf"} {
		if target := "/etc/" + name; !taken[target] {
			mounts = append(mounts, shim.Mount{Source: filepath.Join(w.dir, "etc", name), Target: target})
		}
	}
	if helper := s.node.machine.helperPath(); helper != "" && !taken[helperTarget] {
		mounts = append(mounts, shim.Mount{Source: helper, Target: helperTarget, ReadOnly: true, Optional: true})
	}
	return mounts, nil
}

// refreshEvery is how often projected volumes are refreshed from the API server.
const refreshEvery = time.Minute

// refreshPeriodically refreshes projected volumes until the pod ends.
func (s *podEnvironment) refreshPeriodically(w *worker) {
	projected := false
	for _, v := range s.volumes {
		projected = projected || v.Projected
	}
	if !projected {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() {
		for sleepContext(ctx, refreshEvery) {
			// If a source cannot be read, its files are left unchanged until the next refresh.
			_, _ = volume.PrepareVolumes(w.latest.Load(), filepath.Join(w.dir, "volumes"), w.memoryDir(), s.environFacts(), s.volumeSources(ctx))
		}
	}()
}

// releaseAll frees all resources.
func (s *podEnvironment) releaseAll() {
	s.cancel()
	s.node.machine.unregisterName(s.pod.UID)
	s.disconnectNetwork()
}
