package real

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/vishvananda/netlink"
)

// checkMachine tries what containers need, and returns an error that names what this machine does not permit. It runs in
// the namespaces of the test, with an empty directory.
func checkMachine(dir string) error {
	return errors.Join(tryOverlay(dir), tryCgroup(), tryInterfaces(), tryFirewall())
}

// tryOverlay mounts an overlay file system in memory, as containerd does for each container.
func tryOverlay(dir string) error {
	memory := filepath.Join(dir, "probe")
	if err := os.MkdirAll(memory, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", memory, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount a file system in memory: %w", err)
	}
	defer syscall.Unmount(memory, syscall.MNT_DETACH)
	for _, part := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(memory, part), 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", memory)
	merged := filepath.Join(memory, "merged")
	if err := syscall.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return fmt.Errorf("mount an overlay file system: %w", err)
	}
	return syscall.Unmount(merged, 0)
}

// tryCgroup creates a control group for memory, or one of version 2.
func tryCgroup() error {
	group := "/sys/fs/cgroup/memory/vc-real-probe"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		group = "/sys/fs/cgroup/vc-real-probe"
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		return fmt.Errorf("create a control group: %w", err)
	}
	return os.Remove(group)
}

// tryInterfaces creates the kinds of interfaces that connect nodes and pods.
func tryInterfaces() error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "probe"
	for _, link := range []netlink.Link{&netlink.Bridge{LinkAttrs: attributes}, &netlink.Veth{LinkAttrs: attributes, PeerName: "peer"}} {
		if err := netlink.LinkAdd(link); err != nil {
			return fmt.Errorf("create an interface of type %s: %w", link.Type(), err)
		}
		if err := netlink.LinkDel(link); err != nil {
			return err
		}
	}
	return nil
}

// tryFirewall adds and deletes a table of nftables, which kube-proxy uses.
func tryFirewall() error {
	for _, action := range []string{"add", "delete"} {
		if output, err := exec.Command("nft", action, "table", "ip", "probe").CombinedOutput(); err != nil {
			return fmt.Errorf("%s a table of nftables: %w: %s", action, err, output)
		}
	}
	return nil
}
