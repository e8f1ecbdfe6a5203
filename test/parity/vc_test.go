package parity

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commands are the Slurm commands that the scripts call.
var commands = []string{"sbatch", "srun", "squeue", "scancel", "scontrol", "sacct", "sinfo"}

// startVC builds the programs of this repository and starts a local cluster with the same nodes as the real Slurm.
func startVC(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	bin := filepath.Join(s.dir, "bin")
	build := exec.Command("go", "build", "-o", bin+"/", "github.com/vc-batch/vc/cmd/vc-local", "github.com/vc-batch/vc/cmd/vcctl", "github.com/vc-batch/vc/cmd/vcd", "github.com/vc-batch/vc/cmd/vc-step")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kubeconfig := filepath.Join(s.dir, "cluster", "kubeconfig")
	links := filepath.Join(s.dir, "links")
	s.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+links+":"+bin+":"+slurmPath, "SBATCH_PARTITION=batch")
	s.start(filepath.Join(bin, "vc-local"), "up", "--dir", filepath.Join(s.dir, "cluster"), "--ephemeral", "--kubeconfig", kubeconfig,
		"--process-nodes", fmt.Sprint(nodes), "--node-cpu", fmt.Sprint(nodeCPUs), "--node-memory", fmt.Sprintf("%dMi", nodeMemory))
	vcctl := filepath.Join(bin, "vcctl")
	s.eventually("the cluster answers", func() bool {
		cmd := exec.Command(vcctl, "slurm", "sinfo", "-h", "-o", "%D")
		cmd.Env = s.env
		out, err := cmd.Output()
		return err == nil && string(out) == fmt.Sprintln(nodes)
	})
	if err := os.Mkdir(links, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range commands { // slurm install refuses to create links if PATH contains a Slurm
		if err := os.Symlink(vcctl, filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.must(vcctl, "queue", "create", "batch")
	many := strings.TrimSpace(s.must(filepath.Join(links, "sbatch"), "--parsable", "-H", "-a", fmt.Sprintf("0-%d", firstJob-1), "--wrap", "true"))
	s.must(filepath.Join(links, "scancel"), many)
	return s
}
