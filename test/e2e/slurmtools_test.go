package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// copies tests sbcast and sgather on three nodes, and sbcast from outside the job.
func (u *slurmUser) copies() func() {
	id := u.submit(`head -c 300000 /dev/urandom >data
sbcast data /tmp/sb-$SLURM_JOB_ID || exit 3
srun --ntasks-per-node=1 cmp data /tmp/sb-$SLURM_JOB_ID || exit 4
sgather /tmp/sb-$SLURM_JOB_ID all || exit 5
cat all.* | cmp - <(cat data data data) || exit 6
[ -e /tmp/sb-$SLURM_JOB_ID ] && exit 7
until [ -s from-outside ]; do sleep 0.1; done
`, "-N3", "-t5", "-D", u.dir)
	return func() {
		u.eventually(90*time.Second, "the copies are there", func() error {
			all, _ := filepath.Glob(filepath.Join(u.dir, "all.*"))
			if len(all) < 3 {
				return fmt.Errorf("%d copies", len(all))
			}
			return nil
		})
		if err := os.WriteFile(filepath.Join(u.dir, "ours"), []byte("from here\n"), 0o600); err != nil {
			u.t.Fatal(err)
		}
		u.says("sbcast", "--jobid="+id, "ours", filepath.Join(u.dir, "from-outside"))
		u.becomes(id, "COMPLETED|0:0")
	}
}

// attach tests sattach to a step and to a script, from outside the job.
func (u *slurmUser) attach() func() {
	id := u.submit("echo script\nsrun -n2 bash -c 'echo task $SLURM_PROCID; touch step$SLURM_PROCID; until [ -e go-on ]; do sleep 0.1; done; exit 3'\n", "-n2", "-t5", "-D", u.dir)
	return func() {
		u.eventually(90*time.Second, "the step runs", func() error {
			_, err := os.Stat(filepath.Join(u.dir, "step1"))
			return err
		})
		if layout := u.says("sattach", "--layout", id+".0"); !strings.Contains(layout, "2 tasks, 1 nodes") {
			u.t.Errorf("sattach --layout prints %s", layout)
		}
		shown := filepath.Join(u.dir, "shown")
		out, err := os.Create(shown)
		if err != nil {
			u.t.Fatal(err)
		}
		defer out.Close()
		watching := exec.Command(filepath.Join(binaries, "vcctl"), "slurm", "sattach", "-l", id+".0")
		watching.Env, watching.Stdout, watching.Stderr = append(os.Environ(), "KUBECONFIG="+u.kubeconfig, "HOME="+u.cluster.dir), out, out
		if err := watching.Start(); err != nil {
			u.t.Fatal(err)
		}
		u.eventually(30*time.Second, "sattach shows both tasks", func() error {
			text, err := os.ReadFile(shown)
			if !strings.Contains(string(text), "0: task 0\n") || !strings.Contains(string(text), "1: task 1\n") {
				return fmt.Errorf("it shows %q %v", text, err)
			}
			return nil
		})
		if err := os.WriteFile(filepath.Join(u.dir, "go-on"), nil, 0o600); err != nil {
			u.t.Fatal(err)
		}
		if _ = watching.Wait(); watching.ProcessState.ExitCode() != 3 {
			u.t.Errorf("sattach ends with %d", watching.ProcessState.ExitCode())
		}
		u.becomes(id, "FAILED|3:0")
	}
}

// changes tests a shorter limit for a running job, and an element that is requeued from outside.
func (u *slurmUser) changes() func() {
	short := u.submit("trap 'echo warned; exit 7' USR1\nwhile :; do sleep 0.2; done\n", "-t60", "--signal=B:USR1@3000")
	array := u.submit("[ \"${SLURM_RESTART_COUNT:-0}\" = 1 ] && exit 0\n[ $SLURM_ARRAY_TASK_ID = 0 ] && exit 0\nsleep 300\n", "-a0-1", "-t5", "--requeue")
	return func() {
		for _, id := range []string{short, array + "_1"} {
			u.eventually(90*time.Second, id+" runs", func() error {
				if got := u.says("squeue", "-h", "-o", "%t", "-j", id); got != "R" {
					return fmt.Errorf("squeue says %q", got)
				}
				return nil
			})
		}
		if r := u.slurm("scontrol", "update", "JobId="+short, "TimeLimit=2:00:00"); r.code == 0 || !strings.Contains(r.stderr, "cannot be extended") {
			u.t.Errorf("a longer limit: exit %d %s", r.code, r.stderr)
		}
		u.says("scontrol", "update", "JobId="+short, "TimeLimit=50")
		if got := u.says("squeue", "-h", "-o", "%l", "-j", short); got != "" && got != "50:00" {
			u.t.Errorf("squeue says the limit is %q", got)
		}
		u.says("scontrol", "requeue", array+"_1")
		u.becomes(short, "FAILED|7:0")
		u.eventually(90*time.Second, "the array ends", func() error {
			if got := u.state(array); got != "COMPLETED|0:0\nCOMPLETED|0:0" {
				return fmt.Errorf("sacct says %q", got)
			}
			return nil
		})
	}
}

// table tests a scrontab: its jobs run each minute, and running ones continue when it is removed.
func (u *slurmUser) table() func() {
	file := filepath.Join(u.dir, "table")
	if err := os.WriteFile(file, []byte("#SCRON -t 5 -J each-minute\n* * * * * until [ -e "+u.dir+"/removed ]; do sleep 0.1; done\n@yearly date\n"), 0o600); err != nil {
		u.t.Fatal(err)
	}
	u.says("scrontab", file)
	return func() {
		id := ""
		u.eventually(90*time.Second, "a job of the table runs", func() error {
			if id = u.says("squeue", "-h", "-t", "R", "-n", "each-minute", "-o", "%i"); id == "" {
				return fmt.Errorf("there is none")
			}
			return nil
		})
		if listed := u.says("scrontab", "-l"); !strings.HasPrefix(listed, "#SCRON -t 5") {
			u.t.Errorf("the table is %q", listed)
		}
		u.says("scrontab", "-r")
		if err := os.WriteFile(filepath.Join(u.dir, "removed"), nil, 0o600); err != nil {
			u.t.Fatal(err)
		}
		u.becomes(id, "COMPLETED|0:0")
		if r := u.slurm("scrontab", "-l"); r.code != 1 {
			u.t.Errorf("a removed table: exit %d %s", r.code, r.stdout)
		}
	}
}
