package processnode

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"
)

func ptrTo[T any](value T) *T { return &value }

func makeTar(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(file)
	if err := archive.WriteHeader(&tar.Header{Name: "vc-copied", Mode: 0o644, Size: 7}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
