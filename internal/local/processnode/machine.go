package processnode

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/local/processnode/network"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// hostsDelay is how long changes to pods are collected before the hosts files are written.
const hostsDelay = 20 * time.Millisecond

// groupsFile is a file in the cluster's directory that stores the location of its control groups.
const groupsFile = ".control-groups"

// machine is the state that all process nodes of a cluster share.
type machine struct {
	directory string // directory of the cluster's nodes
	permitted sandbox.Permitted
	bridge    *network.Bridge   // nil if pods share the machine's network
	loopback  *network.Loopback // addresses for pods that share the machine's network
	groups    *cgroup.Manager
	memory    string // directory for volumes in memory; "" if none exists
	missing   []string
	roots     []string // other file systems of the machine that are visible to pods

	mu      sync.Mutex
	names   map[types.UID]*hostsEntry
	flusher *time.Timer
}

// hostsEntry is a pod's name and its hosts file.
type hostsEntry struct {
	name    network.Name
	aliases []network.Alias
	file    string
	text    string // text that was last written
}

var (
	machinesMu sync.Mutex
	machines   = map[string]*machine{}
)

// machineForNodes returns the machine for the cluster whose nodes have their state below directory.
func machineForNodes(directory string) (*machine, error) {
	machinesMu.Lock()
	defer machinesMu.Unlock()
	if m, ok := machines[directory]; ok {
		return m, nil
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	m := &machine{directory: directory, names: map[types.UID]*hostsEntry{}, permitted: sandbox.DetectPermitted(directory)}
	m.loopback = network.NewLoopback(directory)
	m.missing = append(m.missing, m.permitted.Missing...)
	if m.permitted.Shared {
		bridge, err := network.Open(directory)
		if err != nil {
			m.missing = append(m.missing, "a bridge cannot be created ("+err.Error()+"): pods share the machine's network and addresses")
		}
		m.bridge = bridge
	}
	m.groups = &cgroup.Manager{}
	if m.permitted.Level == sandbox.LevelFull {
		m.groups = cgroup.Open(directory)
		_ = os.WriteFile(filepath.Join(directory, groupsFile), []byte(strings.Join(m.groups.GroupDirectories(), "\n")), 0o600)
		if m.groups.Missing != "" {
			m.missing = append(m.missing, m.groups.Missing)
		}
	}
	m.roots = otherFileSystems(directory)
	m.memory = memoryDirectory(directory)
	machines[directory] = m
	return m, nil
}

// helperTarget is the path of the helper for batch jobs (cmd/vc-step) in images. Pods on process nodes have no image,
// so the helper that is installed next to this program is mounted at this path.
const helperTarget = "/usr/local/bin/vc-step"

// helperPath returns the path of the helper. It returns "" if the file does not exist, or if it cannot be mounted into
// pods without creating a file on the machine. The file may appear or disappear while pods are running.
func (m *machine) helperPath() string {
	program, err := os.Executable()
	if root := m.permitted.Root; err != nil || root == shim.RootNone || root == shim.RootShared {
		return ""
	}
	helper := filepath.Join(filepath.Dir(program), "vc-step")
	if info, err := os.Stat(helper); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return helper
}

// releaseAddress frees a pod's address.
func (m *machine) releaseAddress(address netip.Addr) {
	if m.bridge != nil {
		m.bridge.Release(address)
		return
	}
	m.loopback.Release(address)
}

// memoryDirectory returns the directory for volumes of medium Memory. It is below /dev/shm if that is a tmpfs;
// otherwise, it is "". A separate tmpfs would have to be mounted in the machine's own namespace, where it would
// remain after a crash.
func memoryDirectory(directory string) string {
	if fileSystemOf("/dev/shm") != "tmpfs" {
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(directory))
	return fmt.Sprintf("/dev/shm/vc-%08x", h.Sum32())
}

// registerName adds the name of a pod and writes the pod's hosts file. The files of other pods are updated soon after.
func (m *machine) registerName(uid types.UID, entry *hostsEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names[uid] = entry
	if err := m.writeHosts(entry); err != nil {
		return err
	}
	m.scheduleFlush()
	return nil
}

// unregisterName removes the name of a pod.
func (m *machine) unregisterName(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.names[uid]; known {
		delete(m.names, uid)
		m.scheduleFlush()
	}
}

func (m *machine) scheduleFlush() {
	if m.flusher == nil {
		m.flusher = time.AfterFunc(hostsDelay, m.writeAllHosts)
	}
}

func (m *machine) writeAllHosts() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flusher = nil
	for _, entry := range m.names {
		_ = m.writeHosts(entry) // the pod's directory may be about to be deleted
	}
}

func (m *machine) writeHosts(entry *hostsEntry) error {
	all := make([]network.Name, 0, len(m.names))
	for _, other := range m.names {
		if other.name.Namespace == entry.name.Namespace {
			all = append(all, other.name)
		}
	}
	text := network.FormatHosts(entry.name, all, entry.aliases)
	if text == entry.text {
		return nil
	}
	if err := overwriteFile(entry.file, text); err != nil {
		return err
	}
	entry.text = text
	return nil
}

// overwriteFile changes a file in place, because containers have bind-mounted it. The file is never empty in between,
// because containers may read it at any time.
func overwriteFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(text)))
}
