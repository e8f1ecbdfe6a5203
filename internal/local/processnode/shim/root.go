package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// oldRoot is the path of the machine's root inside the new root while mounts are set up.
const oldRoot = "/.vc-machine"

// buildRoot creates the container's file system and moves the process into it. It returns the way that was used.
func buildRoot(c *Container) (Root, error) {
	if c.Hostname != "" {
		_ = syscall.Sethostname([]byte(c.Hostname))
	}
	if c.Root == RootNone || c.Root == "" {
		return RootNone, nil
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("mount propagation: %w", err)
	}
	root := filepath.Join(c.Dir, "root")
	way, layers, err := mountRoot(c, root)
	if err != nil {
		return "", err
	}
	if way == RootShared {
		return way, mountInside(c, "")
	}
	mountSubRoots(c, root, layers, way)
	if err := pivotToRoot(root); err != nil {
		return "", err
	}
	if err := mountInside(c, oldRoot); err != nil {
		return "", err
	}
	if err := syscall.Unmount(oldRoot, syscall.MNT_DETACH); err != nil {
		return "", fmt.Errorf("machine's root: %w", err)
	}
	_ = os.Remove(oldRoot)
	if c.ReadOnly {
		if err := syscall.Mount("", "/", "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
			return "", fmt.Errorf("read-only root: %w", err)
		}
	}
	return way, nil
}

// mountRoot tries the requested way and then worse ones. layers is the directory where overlays store their changes.
func mountRoot(c *Container, root string) (way Root, layers string, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", "", err
	}
	disk := filepath.Join(c.Dir, "layers")
	switch c.Root {
	case RootOverlay:
		if mountOverlay("/", disk, "main", root, c.OwnUser) == nil {
			return RootOverlay, disk, nil
		}
		fallthrough
	case RootMemory:
		if layers, ok := memoryLayers(c); ok {
			if mountOverlay("/", layers, "main", root, c.OwnUser) == nil {
				return RootMemory, layers, nil
			}
			_ = syscall.Unmount(layers, syscall.MNT_DETACH)
		}
		fallthrough
	case RootPieces:
		if mountPieces(c, root, disk) == nil {
			return RootPieces, disk, nil
		}
	}
	return RootShared, "", nil
}

// memoryLayers creates a directory in memory where overlays can store their changes.
func memoryLayers(c *Container) (string, bool) {
	layers := filepath.Join(c.Dir, "memory")
	if os.MkdirAll(layers, 0o700) != nil {
		return "", false
	}
	return layers, syscall.Mount("tmpfs", layers, "tmpfs", 0, "mode=700") == nil
}

// freshDirectories are empty in a root made of pieces, because they are mounted later or hold temporary files.
var freshDirectories = map[string]os.FileMode{
	"proc": 0o755, "sys": 0o755, "dev": 0o755, "run": 0o755, "tmp": 0o777 | os.ModeSticky, "lost+found": 0o700,
}

// mountPieces creates a root in memory. In a user namespace, the kernel rejects an overlay over the whole root,
// because it would reveal files that other mounts hide, but it permits an overlay over a directory without mounts.
// Directories that cannot be read appear empty.
func mountPieces(c *Container, root, layers string) error {
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		source, target := "/"+name, filepath.Join(root, name)
		if mode, fresh := freshDirectories[name]; fresh {
			if err := os.Mkdir(target, 0o755); err == nil {
				_ = os.Chmod(target, mode)
			}
			continue
		}
		switch {
		case entry.Type()&os.ModeSymlink != 0:
			if link, err := os.Readlink(source); err == nil {
				_ = os.Symlink(link, target)
			}
		case entry.IsDir():
			mountPiece(c, source, target, layers, name)
		}
	}
	return nil
}

func mountPiece(c *Container, source, target, layers, name string) {
	if os.Mkdir(target, 0o755) != nil {
		return
	}
	if _, err := os.ReadDir(source); err != nil {
		return
	}
	if mountOverlay(source, layers, "piece-"+name, target, c.OwnUser) != nil {
		_ = syscall.Mount(source, target, "", syscall.MS_BIND|syscall.MS_REC, "")
	}
}

// mountOverlay mounts lower at target and stores changes in layers/name.
func mountOverlay(lower, layers, name, target string, ownUser bool) error {
	upper, work := filepath.Join(layers, name, "upper"), filepath.Join(layers, name, "work")
	for _, directory := range []string{upper, work} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return err
		}
	}
	base := "lowerdir=" + escapeOption(lower) + ",upperdir=" + escapeOption(upper) + ",workdir=" + escapeOption(work)
	// volatile skips syncs of the upper directory, because the directory is not used after the container has ended.
	extras := []string{",volatile", ""}
	if ownUser {
		extras = []string{",volatile,userxattr", ",userxattr"}
	}
	var err error
	for _, extra := range extras {
		if err = syscall.Mount("overlay", target, "overlay", 0, base+extra); err == nil {
			return nil
		}
	}
	return fmt.Errorf("overlay over %s: %w", lower, err)
}

func escapeOption(path string) string {
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`, `:`, `\:`).Replace(path)
}

// mountSubRoots mounts the machine's other file systems. If an overlay is not possible, it mounts the file system
// read-only.
func mountSubRoots(c *Container, root, layers string, way Root) {
	for i, path := range c.SubRoots {
		target := filepath.Join(root, path)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if way == RootPieces {
			_ = os.MkdirAll(target, 0o755) // the parent directory may be one that appears empty
		}
		if info.IsDir() && mountOverlay(path, layers, fmt.Sprintf("sub%d", i), target, c.OwnUser) == nil {
			continue
		}
		if syscall.Mount(path, target, "", syscall.MS_BIND, "") == nil {
			_ = syscall.Mount("", target, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
		}
	}
}

func pivotToRoot(root string) error {
	if err := os.MkdirAll(root+oldRoot, 0o700); err != nil {
		return err
	}
	if err := syscall.PivotRoot(root, root+oldRoot); err != nil {
		return fmt.Errorf("pivot to the container's root: %w", err)
	}
	return os.Chdir("/")
}

// mountInside mounts /dev, /proc, /sys, the masks and the volumes. machine is the path of the machine's root.
func mountInside(c *Container, machine string) error {
	if machine != "" {
		if err := bindMountPath(machine+"/dev", "/dev", false); err != nil {
			return err
		}
		mountSys(c, machine)
	}
	if err := mountProc(c, machine); err != nil {
		return err
	}
	_ = syscall.Mount("shm", "/dev/shm", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=1777")
	for _, directory := range c.Masked {
		if info, err := os.Stat(directory); err == nil && info.IsDir() && machine != "" {
			_ = syscall.Mount("masked", directory, "tmpfs", syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, "size=4k,mode=000")
		}
	}
	mounts := append([]Mount(nil), c.Mounts...)
	// Mount parents before children.
	depth := func(m Mount) int { return strings.Count(filepath.Clean(m.Target), "/") }
	slices.SortStableFunc(mounts, func(a, b Mount) int { return depth(a) - depth(b) })
	for _, mount := range mounts {
		err := mountVolume(mount, machine)
		if err != nil && !mount.Optional {
			return fmt.Errorf("mount at %s: %w", mount.Target, err)
		}
	}
	return nil
}

// mountProc mounts a /proc that shows the container's own processes. If that is not permitted (in user namespaces
// inside containers), it uses the machine's /proc, which shows too much but is better than none.
func mountProc(c *Container, machine string) error {
	if c.OwnPID {
		if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err == nil {
			return nil
		}
	}
	if machine == "" {
		return nil
	}
	return bindMountPath(machine+"/proc", "/proc", false)
}

func mountSys(c *Container, machine string) {
	if c.OwnNet {
		if syscall.Mount("sysfs", "/sys", "sysfs", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC|syscall.MS_RDONLY, "") == nil {
			return
		}
	}
	_ = bindMountPath(machine+"/sys", "/sys", false)
}

func bindMountPath(source, target string, readOnly bool) error {
	if err := syscall.Mount(source, target, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", source, err)
	}
	if !readOnly {
		return nil
	}
	// A remount must keep the flags of the original mount; otherwise user namespaces reject it.
	var stat syscall.Statfs_t
	flags := uintptr(syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY)
	if syscall.Statfs(target, &stat) == nil {
		flags |= uintptr(stat.Flags) & (syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC)
	}
	return syscall.Mount("", target, "", flags, "")
}
