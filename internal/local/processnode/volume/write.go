package volume

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// dataLink is the name of a symbolic link. Switching the link replaces all files at once.
const dataLink = "..data"

// Write makes the directory contain exactly the given files. If group is not negative, the files belong to the group,
// which may read them.
func Write(directory string, files Files, group int64) error {
	if hasSameFiles(directory, files) {
		return nil
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(directory, "..v")
	if err != nil {
		return err
	}
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	for name, file := range files {
		if err := writeFile(filepath.Join(fresh, name), file, group); err != nil {
			return fmt.Errorf("volume file %s: %w", name, err)
		}
	}
	old, _ := os.Readlink(filepath.Join(directory, dataLink))
	if err := replaceDataLink(directory, filepath.Base(fresh)); err != nil {
		return err
	}
	if err := linkTopLevel(directory, files); err != nil {
		return err
	}
	if old != "" {
		_ = os.RemoveAll(filepath.Join(directory, old))
	}
	return nil
}

func writeFile(path string, file File, group int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(file.Mode & 0o777)
	if group >= 0 {
		mode |= 0o440
	}
	if err := os.WriteFile(path, file.Data, 0o600); err != nil {
		return err
	}
	if group >= 0 {
		_ = os.Chown(path, -1, int(group))
	}
	return os.Chmod(path, mode)
}

func replaceDataLink(directory, target string) error {
	temporary := filepath.Join(directory, "..data_tmp")
	_ = os.Remove(temporary)
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(directory, dataLink))
}

// linkTopLevel creates a link to the data for the first element of each path, and removes obsolete links.
func linkTopLevel(directory string, files Files) error {
	tops := map[string]bool{}
	for name := range files {
		top, _, _ := strings.Cut(name, "/")
		tops[top] = true
	}
	for top := range tops {
		link := filepath.Join(directory, top)
		if _, err := os.Lstat(link); err == nil {
			continue
		}
		if err := os.Symlink(filepath.Join(dataLink, top), link); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "..") && !tops[entry.Name()] {
			_ = os.Remove(filepath.Join(directory, entry.Name()))
		}
	}
	return nil
}

// hasSameFiles reports whether the directory already contains exactly these files, so that an unchanged volume is not
// rewritten.
func hasSameFiles(directory string, files Files) bool {
	data := filepath.Join(directory, dataLink)
	count := 0
	err := filepath.WalkDir(data+"/", func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			count++
		}
		return err
	})
	if err != nil || count != len(files) {
		return false
	}
	for name, file := range files {
		content, err := os.ReadFile(filepath.Join(data, name))
		if err != nil || !bytes.Equal(content, file.Data) {
			return false
		}
	}
	return true
}
