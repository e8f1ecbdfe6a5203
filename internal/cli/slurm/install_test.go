package slurm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestInstallMakesLinksAndShadowsNoSlurm(t *testing.T) {
	t.Parallel()
	dir, slurm := t.TempDir(), t.TempDir()
	run := func(path string, args ...string) golden.Result {
		return golden.Run{Argv: append([]string{"slurm"}, args...), Env: map[string]string{"PATH": path}}.RunAgainst(t, clitest.Start(t))
	}
	if got := run(dir, "install", "--dir", dir, "--dry-run"); got.Code != 0 || !strings.Contains(got.Out, "sbatch, ") {
		t.Errorf("dry run: %+v", got)
	}
	if _, err := os.Lstat(filepath.Join(dir, "sbatch")); err == nil {
		t.Error("a dry run makes links")
	}
	for range 2 {
		if got := run(dir, "install", "--dir", dir); got.Code != 0 || got.Err != "" {
			t.Errorf("install: %+v", got)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "squeue")); err != nil || target != self {
		t.Errorf("squeue leads to %s, %v", target, err)
	}
	if err := os.WriteFile(filepath.Join(slurm, "sinfo"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if got := run(slurm+":"+other, "install", "--dir", other); got.Code != 1 || !strings.Contains(got.Err, filepath.Join(slurm, "sinfo")+" is on PATH") {
		t.Errorf("a Slurm on PATH: %+v", got)
	}
	if got := run("", "install", "--dir", slurm); got.Code != 1 || !strings.Contains(got.Err, "exists and is not a link to vcctl") {
		t.Errorf("a Slurm in the directory: %+v", got)
	}
	if entries, _ := os.ReadDir(other); len(entries) > 0 {
		t.Errorf("links were made: %v", entries)
	}
	if err := os.Remove(filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere/vcctl", filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if got := run(dir, "install", "--dir", dir); got.Code != 1 || !strings.Contains(got.Err, "confirmation is required") {
		t.Errorf("links to another vcctl, without a yes: %+v", got)
	}
	if got := run(dir, "install", "--dir", dir, "-y"); got.Code != 0 {
		t.Errorf("links to another vcctl: %+v", got)
	}
	if err := os.Remove(filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere/vcctl", filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if got := run(dir, "uninstall", "--dir", dir); got.Code != 1 || !strings.Contains(got.Err, "These links point to another vcctl binary: confirmation is required") {
		t.Errorf("links to another vcctl are taken away without a yes: %+v", got)
	}
	if got := run(dir, "uninstall", "--dir", dir, "-y"); got.Code != 0 || !strings.Contains(got.Out, "removed from") {
		t.Errorf("uninstall: %+v", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("links are left: %v", entries)
	}
}
