package processnode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/local/processnode/network"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// CleanUpNodes removes the remains that a killed process may have left of the nodes whose state is below nodesDir.
// These are the bridge, the control groups, and the roots and volumes of pods. Processes, mounts and addresses have
// already been removed by the kernel. Logs are kept until the directory is removed. Cleanup is idempotent. It must not
// be called while a node is running.
func CleanUpNodes(nodesDir string) error {
	absolute, err := filepath.Abs(nodesDir)
	if err != nil {
		return err
	}
	machinesMu.Lock()
	delete(machines, absolute)
	machinesMu.Unlock()
	text, _ := os.ReadFile(filepath.Join(absolute, groupsFile))
	cgroup.RemoveGroups(strings.Fields(string(text)))
	_ = os.Remove(filepath.Join(absolute, groupsFile))
	var failure error
	if os.Geteuid() == 0 {
		failure = network.RemoveBridge(absolute)
	}
	if memory := memoryDirectory(absolute); memory != "" {
		sandbox.RemoveTree(memory)
	}
	pods, _ := filepath.Glob(filepath.Join(absolute, "*", "pods", "*"))
	for _, pod := range pods {
		for _, name := range []string{"containers", "volumes", "etc"} {
			sandbox.RemoveTree(filepath.Join(pod, name))
		}
	}
	scratch, _ := filepath.Glob(filepath.Join(absolute, "probe-*"))
	for _, directory := range scratch {
		sandbox.RemoveTree(directory)
	}
	if errors.Is(failure, os.ErrPermission) {
		return nil
	}
	return failure
}
