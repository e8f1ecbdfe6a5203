package filecopy

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// An archive cannot write outside its own directory.
func TestAnArchiveStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../escaped", "out/escaped", "/escaped"} {
		dir := t.TempDir()
		var archive bytes.Buffer
		to := tar.NewWriter(&archive)
		for _, header := range []*tar.Header{{Name: "out", Typeflag: tar.TypeSymlink, Linkname: dir}, {Name: name, Typeflag: tar.TypeReg, Mode: 0o600}} {
			if err := to.WriteHeader(header); err != nil {
				t.Fatal(err)
			}
		}
		_ = to.Close()
		tree, err := createTree(filepath.Join(dir, "copy"), false, false, protocol.FileStamp{})
		if err != nil {
			t.Fatal(err)
		}
		err = tree.unpackArchive(&archive)
		tree.discard()
		if left, _ := os.ReadDir(dir); err == nil || len(left) > 0 {
			t.Errorf("%s: %v, and there are %v", name, err, left)
		}
	}
}

// Nodes that share a disk, as process nodes do, write the same file at the same time.
func TestNodesThatShareADiskDoNotFail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy")
	begun := func(text string) *newFile {
		t.Helper()
		file, err := createFile(path, false, protocol.FileStamp{Mode: 0o600})
		if err == nil {
			_, err = file.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	first, second, other := begun("same"), begun("same"), begun("more")
	if err := errors.Join(first.complete(), second.complete()); err != nil {
		t.Errorf("two nodes: %v", err)
	}
	if err := other.complete(); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("another file: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "same" {
		t.Errorf("%q %v", text, err)
	}
}

// An interrupted copy leaves no files behind.
func TestAnInterruptedCopyLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := createFile(filepath.Join(dir, "copy"), false, protocol.FileStamp{Mode: 0o600})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "copy")); !os.IsNotExist(err) {
		t.Errorf("half of it is there: %v", err)
	}
	file.discard()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v", left)
	}
}
