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

// hostsDelay gathers pods that come or go together before hosts files are written again.
const hostsDelay = 20 * time.Millisecond

// groupsFile remembers, below the cluster's directory, where its control groups are.
const groupsFile = ".control-groups"

// machine is what the process nodes of one cluster share on this machine.
type machine struct {
	directory string // of the cluster's nodes
	permitted sandbox.Permitted
	bridge    *network.Bridge   // nil: pods share the machine's network
	loopback  *network.Loopback // addresses of pods that share the machine's network
	groups    *cgroup.Manager
	memory    string // directory for volumes in memory, or ""
	missing   []string
	roots     []string // other file systems of the machine that pods see

	mu      sync.Mutex
	names   map[types.UID]*hostsEntry
	flusher *time.Timer
}

// hostsEntry is a pod's name and the hosts file that it reads.
type hostsEntry struct {
	name    network.Name
	aliases []network.Alias
	file    string
	text    string // as last written
}

var (
	machinesMu sync.Mutex
	machines   = map[string]*machine{}
)

// machineOf returns the machine of the cluster whose nodes' state is below directory.
func machineOf(directory string) (*machine, error) {
	machinesMu.Lock()
	defer machinesMu.Unlock()
	if m, ok := machines[directory]; ok {
		return m, nil
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	m := &machine{directory: directory, names: map[types.UID]*hostsEntry{}, permitted: sandbox.Probe(directory)}
	m.loopback = network.NewLoopback(directory)
	m.missing = append(m.missing, m.permitted.Missing...)
	if m.permitted.Shared {
		bridge, err := network.Open(directory)
		if err != nil {
			m.missing = append(m.missing, "a bridge is not permitted ("+err.Error()+"): pods share the machine's network and addresses")
		}
		m.bridge = bridge
	}
	m.groups = &cgroup.Manager{}
	if m.permitted.Level == sandbox.LevelFull {
		m.groups = cgroup.Open(directory)
		_ = os.WriteFile(filepath.Join(directory, groupsFile), []byte(strings.Join(m.groups.Directories(), "\n")), 0o600)
		if m.groups.Missing != "" {
			m.missing = append(m.missing, m.groups.Missing)
		}
	}
	m.roots = otherRoots(directory)
	m.memory = memoryDirectory(directory)
	machines[directory] = m
	return m, nil
}

// helperTarget is where images have the helper of batch jobs (cmd/vc-step). A pod here, which has no image, finds there the one that lies beside this
// program.
const helperTarget = "/usr/local/bin/vc-step"

// helper is its path, "" where there is none, or no way to show it to pods without making a file on the machine. It may come and go while pods run.
func (m *machine) helper() string {
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

// release makes a pod's address free again.
func (m *machine) release(address netip.Addr) {
	if m.bridge != nil {
		m.bridge.Release(address)
		return
	}
	m.loopback.Release(address)
}

// memoryDirectory is where volumes of medium Memory are kept: /dev/shm, if it is in memory, because a tmpfs of ours would have to
// be mounted in the machine's own namespace and stay there after a crash.
func memoryDirectory(directory string) string {
	if fileSystemOf("/dev/shm") != "tmpfs" {
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(directory))
	return fmt.Sprintf("/dev/shm/vc-%08x", h.Sum32())
}

// register makes a pod's name known and writes its hosts file; the files of the others follow soon.
func (m *machine) register(uid types.UID, entry *hostsEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names[uid] = entry
	if err := m.writeHosts(entry); err != nil {
		return err
	}
	m.scheduleFlush()
	return nil
}

// unregister forgets a pod's name.
func (m *machine) unregister(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.names[uid]; known {
		delete(m.names, uid)
		m.scheduleFlush()
	}
}

func (m *machine) scheduleFlush() {
	if m.flusher == nil {
		m.flusher = time.AfterFunc(hostsDelay, m.flush)
	}
}

func (m *machine) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flusher = nil
	for _, entry := range m.names {
		_ = m.writeHosts(entry) // its directory may just be going away with the pod
	}
}

func (m *machine) writeHosts(entry *hostsEntry) error {
	all := make([]network.Name, 0, len(m.names))
	for _, other := range m.names {
		if other.name.Namespace == entry.name.Namespace {
			all = append(all, other.name)
		}
	}
	text := network.Hosts(entry.name, all, entry.aliases)
	if text == entry.text {
		return nil
	}
	if err := overwrite(entry.file, text); err != nil {
		return err
	}
	entry.text = text
	return nil
}

// overwrite changes a file in place, because containers have it bind-mounted, and never leaves it empty, because they read it at
// any moment.
func overwrite(path, text string) error {
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

// Limits says, in sentences, what this machine does not permit; empty when all is there.
func Limits() []string {
	scratch, err := os.MkdirTemp("", "vc-limits-")
	if err != nil {
		return []string{"no temporary directory: " + err.Error()}
	}
	defer os.RemoveAll(scratch)
	return sandbox.Probe(scratch).Missing
}
