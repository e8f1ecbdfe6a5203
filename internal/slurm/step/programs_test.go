package step

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestInstallMakesTheCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := InstallPrograms(context.Background(), []string{filepath.Join(dir, "bin")}); err != nil {
		t.Fatal(err)
	}
	for _, name := range CommandNames {
		if link, err := os.Readlink(filepath.Join(dir, "bin", name)); err != nil || link != "vc-step" {
			t.Errorf("%s: %s %v", name, link, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "run")); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("%v %v", info, err)
	}
}
