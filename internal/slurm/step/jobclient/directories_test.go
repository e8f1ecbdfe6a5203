package jobclient

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Images are pulled between the start of the pod and the start of the launcher. The start of the pod is therefore the
// creation time of the tools directory, not its modification time or that of its files.
func TestAJobBeganWhenTheDirectoryOfItsToolsWasMade(t *testing.T) {
	t.Parallel()
	before := time.Now()
	d := Directories{tools: t.TempDir()}
	made := time.Now()
	helper := filepath.Join(d.ProgramDirectory(), "vc-step")
	if err := os.MkdirAll(d.ProgramDirectory(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(helper, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	const clockTick = 20 * time.Millisecond // resolution of a file system's clock
	later := made.Add(3 * time.Minute)
	if err := os.Chtimes(d.tools, later, later); err != nil {
		t.Fatal(err)
	}
	if got := d.PodStart(later); got.Before(before.Add(-clockTick)) || got.After(made.Add(clockTick)) {
		t.Errorf("it began at %s, and was made between %s and %s", got, before, made)
	}
	if early := before.Add(-time.Hour); !d.PodStart(early).Equal(early) {
		t.Error("a job began after the moment that it is asked at")
	}
	gone := Directories{tools: filepath.Join(d.tools, "nowhere")}
	if !gone.PodStart(later).Equal(later) {
		t.Error("where nothing is known a job begins now")
	}
}
