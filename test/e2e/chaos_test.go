package e2e

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/vc-batch/vc/test/chaos"
)

var (
	chaosSeed   = flag.Uint64("chaos.seed", 1, "seed of TestChaos' plan")
	chaosTime   = flag.Duration("chaos.time", 40*time.Second, "how long TestChaos disturbs the system")
	chaosMemory = flag.Int64("chaos.memory", 256, "MiB that a replica of vcd may need in TestChaos")
	chaosDir    = flag.String("chaos.dir", "", "directory that keeps logs and state of TestChaos; empty: a temporary one")
)

// TestChaos kills, freezes and disconnects real processes according to a plan while users work, and checks invariants.
// `make chaos` runs it for longer.
func TestChaos(t *testing.T) {
	dir := *chaosDir
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	chaos.Run(t, chaos.Options{Binaries: binaries, Dir: dir, Seed: *chaosSeed, Time: *chaosTime, Memory: *chaosMemory << 20})
}
