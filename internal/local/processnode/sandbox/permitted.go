package sandbox

import (
	"os"
	"path/filepath"

	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// Permitted describes what this machine permits.
type Permitted struct {
	Level  Level
	Root   shim.Root
	Shared bool // network and IPC namespaces can be created
	// Missing contains a sentence about each feature that is not permitted.
	Missing []string
}

// DetectPermitted detects what is permitted by starting containers in a scratch directory, starting with the best
// level.
func DetectPermitted(scratch string) Permitted {
	levels := []Level{LevelUser, LevelPlain}
	if os.Geteuid() == 0 {
		levels = []Level{LevelFull, LevelUser, LevelPlain}
	}
	for _, level := range levels {
		root, ok := tryIsolationLevel(level, scratch)
		if !ok {
			continue
		}
		permitted := Permitted{Level: level, Root: root}
		if level == LevelFull {
			if namespaces, err := NewNamespaces(true); err == nil {
				namespaces.Close()
				permitted.Shared = true
			}
		}
		permitted.Missing = missingFeatures(permitted)
		return permitted
	}
	return Permitted{Level: LevelPlain, Root: shim.RootNone, Missing: missingFeatures(Permitted{Level: LevelPlain, Root: shim.RootNone})}
}

// RemoveTree deletes a directory with its contents, including unreadable directories that overlays leave behind.
func RemoveTree(directory string) {
	if os.RemoveAll(directory) == nil {
		return
	}
	_ = filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(directory)
}

func tryIsolationLevel(level Level, scratch string) (shim.Root, bool) {
	directory, err := os.MkdirTemp(scratch, "probe-")
	if err != nil {
		return "", false
	}
	defer RemoveTree(directory)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return "", false
	}
	defer null.Close()
	spec := &shim.Container{
		Root: shim.RootOverlay, Dir: filepath.Join(directory, "c"), OwnPID: true, OwnUser: level == LevelUser, Hostname: "probe",
		Process: shim.Process{Args: []string{"/bin/sh", "-c", ":"}, Env: []string{}},
	}
	if level == LevelPlain {
		spec.Root, spec.OwnPID, spec.Hostname = shim.RootNone, false, ""
	}
	container, err := Start(level, spec, Namespaces{}, Files{null, null, null}, nil)
	if err != nil {
		return "", false
	}
	<-container.Main().Done()
	return container.Root(), container.Main().Exit().Code == 0
}

func missingFeatures(p Permitted) []string {
	var lines []string
	switch p.Level {
	case LevelUser:
		lines = append(lines, "not running as root: pods share the machine's network (each pod has its own loopback address, so two pods can listen on the same port only if "+
			"they bind to their own addresses), /tmp is empty and private to each pod, resource limits are not enforced, and pods cannot change files that belong to root")
	case LevelPlain:
		lines = append(lines, "namespaces are not permitted: pods are plain processes that see the machine's files and network, volumes are not mounted "+
			"(VC_VOLUMES names their directory), names of other pods do not resolve, and sbatch, sacct and sinfo fail in jobs, because they cannot find "+
			"the token of their service account")
	case LevelFull:
		if !p.Shared {
			lines = append(lines, "network namespaces are not permitted: pods share the machine's network and addresses")
		}
	}
	switch p.Root {
	case shim.RootMemory:
		lines = append(lines, "the file system of the state directory does not support overlays: files that pods write to their root file system are kept in memory")
	case shim.RootShared:
		if p.Level != LevelPlain {
			lines = append(lines, "overlay mounts are not permitted: outside their volumes, pods write to the machine's own files")
		}
	}
	return lines
}
