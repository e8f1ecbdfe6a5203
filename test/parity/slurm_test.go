package parity

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

const (
	nodes      = 4
	nodeCPUs   = 4
	nodeMemory = 4096 // MiB
	// firstJob is the first job number. It is large, so that job numbers differ from all other numbers.
	firstJob = 2000
)

// slurmPath lists the directories of Slurm's daemons in Debian that may be missing in PATH.
const slurmPath = "/usr/sbin:/sbin:/usr/bin:/bin"

// find returns the path of a program, or "" if it is not installed.
func find(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH") + ":" + slurmPath) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// realSlurm is a running Slurm, with or without accounting.
type realSlurm struct {
	*stage
	accounting bool
}

// startSlurm starts slurmctld, one slurmd per node and, if it is installed, slurmdbd with its own database.
func startSlurm(t *testing.T) *realSlurm {
	t.Helper()
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol"} {
		if find(name) == "" {
			t.Skipf("%s is not installed: apt-get install --no-install-recommends slurm-wlm slurmdbd mariadb-server", name)
		}
	}
	s := &realSlurm{stage: newStage(t)}
	s.accounting = find("slurmdbd") != "" && find("mariadbd") != "" && find("mariadb-install-db") != "" && find("sacctmgr") != ""
	s.env = append(os.Environ(), "SLURM_CONF="+filepath.Join(s.dir, "slurm.conf"), "PATH="+filepath.Dir(find("sbatch"))+":"+slurmPath, "SBATCH_PARTITION=batch")
	host, me := hostname(t), currentUser(t)
	ports := freePorts(t, nodes+4)
	var conf strings.Builder
	fmt.Fprintf(&conf, `ClusterName=parity
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
FirstJobId=%[5]d
AuthType=auth/none
CredType=cred/none
SlurmUser=%[4]s
SlurmdUser=%[4]s
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool-%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/linux
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=5
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, s.dir, ports[0], me, firstJob)
	for i := range nodes {
		fmt.Fprintf(&conf, "NodeName=n%d NodeHostName=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d RealMemory=%d State=UNKNOWN\n", i+1, host, ports[4+i], nodeCPUs, nodeMemory)
	}
	if s.accounting {
		fmt.Fprintf(&conf, "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=%d\n", ports[1])
	}
	s.write("slurm.conf", conf.String())
	if err := os.Mkdir(filepath.Join(s.dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	if s.accounting {
		s.startAccounting(me, ports[1], ports[2])
	}
	s.start(find("slurmctld"), "-D")
	s.eventually("slurmctld answers", func() bool { return s.answers("scontrol", "ping") })
	for i := range nodes {
		s.start(find("slurmd"), "-D", "-N", fmt.Sprintf("n%d", i+1))
	}
	s.eventually("all nodes are idle", func() bool {
		return s.answers("sh", "-c", fmt.Sprintf("test $(sinfo -h -N -t idle | wc -l) = %d", nodes))
	})
	return s
}

func (s *realSlurm) answers(name string, args ...string) bool {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	if path := find(name); path != "" {
		cmd.Path = path
	}
	return cmd.Run() == nil
}

func (s *realSlurm) startAccounting(me string, port, database int) {
	s.t.Helper()
	data, socket := filepath.Join(s.dir, "db"), filepath.Join(s.dir, "db.sock")
	s.must(find("mariadb-install-db"), "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--user="+me)
	s.start(find("mariadbd"), "--no-defaults", "--user="+me, "--datadir="+data, "--socket="+socket, fmt.Sprintf("--port=%d", database), "--bind-address=127.0.0.1",
		"--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve")
	grant := "create database if not exists slurm_acct_db; grant all on slurm_acct_db.* to slurm@127.0.0.1 identified by 'slurm'"
	s.eventually("the database answers", func() bool {
		return s.answers("mariadb", "--no-defaults", "--socket="+socket, "-u", "root", "-e", grant)
	})
	s.write("slurmdbd.conf", fmt.Sprintf(`AuthType=auth/none
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=%d
SlurmUser=%s
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=%d
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
PidFile=%s/slurmdbd.pid
`, port, me, database, s.dir))
	s.start(find("slurmdbd"), "-D")
	s.eventually("slurmdbd takes the cluster", func() bool {
		return s.answers("sacctmgr", "-i", "add", "cluster", "parity") || s.answers("sh", "-c", "sacctmgr -n show cluster | grep -q parity")
	})
	s.must("sh", "-c", fmt.Sprintf("sacctmgr -n show account root | grep -q root && { sacctmgr -n show user %[1]s | grep -q %[1]s || sacctmgr -i add user %[1]s account=root; }", me))
}

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(name, ".")
	return short
}

func currentUser(t *testing.T) string {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return me.Username
}
