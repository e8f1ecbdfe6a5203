package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestLocalBudget checks the performance targets of vc-local: ready in 10 s, 600 MB at rest, 5,000 simulated nodes on
// one machine. The first start reads the program from disk, so the best of three starts counts.
func TestLocalBudget(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("VC_BENCH is not set: see the package's comment")
	}
	program := filepath.Join(t.TempDir(), "vc-local")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/vc-batch/vc/cmd/vc-local").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Run("one process node and vcd", func(t *testing.T) {
		best, memory := time.Hour, int64(0)
		for range 3 {
			took, rest := upAndDown(t, program)
			best, memory = min(best, took), max(memory, rest)
		}
		t.Logf("ready in %.1f s (best of 3), %d MB at rest (worst of 3)", best.Seconds(), memory/1e6)
		if best > 10*time.Second {
			t.Errorf("ready in %s, the floor is 10 s", best)
		}
		if memory > 600e6 {
			t.Errorf("%d MB at rest, the floor is 600 MB", memory/1e6)
		}
	})
	t.Run("5,000 simulated nodes", func(t *testing.T) {
		took, memory := upAndDown(t, program, "--process-nodes", "0", "--simulated-nodes", "5000")
		t.Logf("ready in %.1f s, %d MB", took.Seconds(), memory/1e6)
		if memory > 2000e6 {
			t.Errorf("%d MB, the floor is 2,000 MB", memory/1e6)
		}
	})
}

// upAndDown starts a cluster. It returns the time until it is ready and its memory at that time.
func upAndDown(t *testing.T, program string, args ...string) (time.Duration, int64) {
	t.Helper()
	dir, err := os.MkdirTemp("", "vc-bench-local-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	defer func() {
		if out, err := exec.Command(program, "down", "--dir", dir, "--purge").CombinedOutput(); err != nil {
			t.Errorf("vc-local down: %v\n%s", err, out)
		}
	}()
	began := time.Now()
	if out, err := exec.Command(program, append([]string{"up", "--dir", dir, "--ephemeral", "--detach"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("vc-local up: %v\n%s", err, out)
	}
	took := time.Since(began)
	out, err := exec.Command(program, "status", "--dir", dir, "-o", "json").Output()
	if err != nil {
		t.Fatalf("vc-local status: %v", err)
	}
	var status struct {
		MemoryBytes int64 `json:"memoryBytes"`
	}
	if err := json.Unmarshal(out, &status); err != nil || status.MemoryBytes == 0 {
		t.Fatalf("status says no memory: %v\n%s", err, out)
	}
	return took, status.MemoryBytes
}
