package volume

import (
	"io/fs"
	"os"
	"path/filepath"

	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

// Write makes the directory contain exactly the given files, using the kubelet's writer. If group is not negative, the
// files belong to the group, which may read them.
func Write(directory string, files Files, group int64) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	// A process that was killed while it was writing the directory leaves this link behind, and the writer does not
	// replace it.
	_ = os.Remove(filepath.Join(directory, "..data_tmp"))
	writer, err := volumeutil.NewAtomicWriter(directory, "volume "+directory)
	if err != nil {
		return err
	}
	return writer.Write(files, func(fresh string) error {
		if group < 0 {
			return nil
		}
		return giveToGroup(filepath.Join(directory, fresh), group)
	})
}

// giveToGroup makes all files below a directory belong to a group, which may read them.
func giveToGroup(directory string, group int64) error {
	return filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		_ = os.Chown(path, -1, int(group))
		return os.Chmod(path, info.Mode().Perm()|0o440)
	})
}
