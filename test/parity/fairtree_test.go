package parity

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vc-batch/vc/internal/fairtree"
	"github.com/vc-batch/vc/test/fairtreetest"
)

// recordFairTree stores the trees and Slurm's output for the tests of package fairtree.
var recordFairTree = flag.Bool("record-fairtree", false, "write internal/fairtree/testdata")

// fairTreeRecords is the directory of the recorded trees.
const fairTreeRecords = "../../internal/fairtree/testdata"

// treeShape describes random trees. Small numbers lead to many ties between users, large numbers to hardly any.
type treeShape struct {
	name            string
	accounts, users int
	maxShares       int64
	maxUsage        int
}

var treeShapes = []treeShape{
	{name: "small", accounts: 5, users: 8, maxShares: 5, maxUsage: 1000},
	{name: "ties", accounts: 25, users: 80, maxShares: 2, maxUsage: 3},
	{name: "medium", accounts: 40, users: 60, maxShares: 3, maxUsage: 50},
	{name: "large", accounts: 60, users: 150, maxShares: 1000, maxUsage: 1_000_000_000},
}

// TestFairTreeIsSlurms gives random trees and usage to a real Slurm and compares what sshare prints with package
// fairtree.
func TestFairTreeIsSlurms(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real Slurm (-short)")
	}
	slurm := startFairTreeSlurm(t)
	for i, shape := range treeShapes {
		root := randomTree(rand.New(rand.NewPCG(uint64(i), 0)), shape)
		t.Run(shape.name, func(t *testing.T) {
			output := slurm.shares(t, root)
			fairtreetest.Compare(t, root, output)
			if *recordFairTree && !t.Failed() {
				record(t, shape.name, root, output)
			}
		})
	}
}

// randomTree returns a random tree. Slurm adds user root to account root, so the tree has that user too.
//
// Users are often tied with their siblings, and with accounts. Sibling accounts are never tied, because Slurm 22.05 does
// not treat such accounts as its documentation says: every account has usage and a large random number of shares, except
// the first, which has no shares.
func randomTree(r *rand.Rand, shape treeShape) *fairtree.Account {
	root := &fairtree.Account{Name: "root", Shares: 1, Users: []fairtree.User{{Name: "root", Shares: 1, Usage: 7}}}
	accounts := []*fairtree.Account{root}
	for i := range shape.accounts {
		parent := accounts[r.IntN(len(accounts))]
		child := &fairtree.Account{Name: fmt.Sprintf("a%d", i), Users: []fairtree.User{{Name: fmt.Sprintf("first%d", i), Shares: 1, Usage: 1}}}
		if i > 0 {
			child.Shares = 1 + r.Int64N(1_000_000)
		}
		parent.Accounts = append(parent.Accounts, child)
		accounts = append(accounts, child)
	}
	for i := range shape.users {
		account := accounts[1+r.IntN(len(accounts)-1)]
		account.Users = append(account.Users, fairtree.User{Name: fmt.Sprintf("u%d", i), Shares: r.Int64N(shape.maxShares + 1), Usage: float64(r.IntN(shape.maxUsage + 1))})
	}
	for i := len(accounts) - 1; i > 0; i-- { // accounts below others come first, because this changes usage
		if account := accounts[i]; len(account.Accounts) > 0 && r.IntN(2) == 0 {
			tied := account.Accounts[r.IntN(len(account.Accounts))]
			account.Users = append(account.Users, fairtree.User{Name: fmt.Sprintf("tied%d", i), Shares: tied.Shares, Usage: fairtree.Compute(tied)[0].RawUsage})
		}
	}
	return root
}

// record stores a tree and the output of sshare for it.
func record(t *testing.T, name string, root *fairtree.Account, output string) {
	t.Helper()
	tree, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{name + ".json": string(tree) + "\n", name + ".sshare": output} {
		if err := os.WriteFile(filepath.Join(fairTreeRecords, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// startFairTreeSlurm starts Slurm's accounting. It writes a configuration for slurmctld with Fair Tree and without
// decay, but does not start slurmctld.
func startFairTreeSlurm(t *testing.T) *realSlurm {
	t.Helper()
	for _, name := range []string{"slurmctld", "slurmdbd", "sacctmgr", "sshare", "mariadbd", "mariadb-install-db"} {
		if find(name) == "" {
			t.Skipf("%s is not installed: apt-get install --no-install-recommends slurm-wlm slurmdbd mariadb-server", name)
		}
	}
	s := &realSlurm{stage: newStage(t), accounting: true}
	s.env = append(os.Environ(), "SLURM_CONF="+filepath.Join(s.dir, "slurm.conf"), "PATH="+filepath.Dir(find("sacctmgr"))+":"+slurmPath)
	host, me := hostname(t), currentUser(t)
	ports := freePorts(t, 4)
	s.write("slurm.conf", fmt.Sprintf(`ClusterName=parity
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
AuthType=auth/none
CredType=cred/none
SlurmUser=%[4]s
StateSaveLocation=%[2]s/state
SlurmctldPidFile=%[2]s/slurmctld.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
PriorityType=priority/multifactor
PriorityDecayHalfLife=0
PriorityUsageResetPeriod=YEARLY
PriorityCalcPeriod=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=%[5]d
AccountingStorageEnforce=associations
NodeName=n1 NodeHostName=%[1]s NodeAddr=127.0.0.1 Port=%[6]d State=FUTURE
PartitionName=batch Nodes=ALL Default=YES
`, host, s.dir, ports[0], me, ports[1], ports[3]))
	s.write("state/.keep", "")
	s.startAccounting(me, ports[1], ports[2])
	return s
}

// shares returns what sshare prints for a tree.
func (s *realSlurm) shares(t *testing.T, root *fairtree.Account) string {
	t.Helper()
	var dump strings.Builder
	fmt.Fprintf(&dump, "Cluster - 'parity':Fairshare=1\n")
	dumpAccount(&dump, root)
	s.must("sacctmgr", "-i", "load", "clean", "file="+s.write("tree.cfg", dump.String()))
	s.writeUsage(root)
	stop := s.startController(t)
	defer stop()
	output := ""
	s.eventually("sshare prints the usage", func() bool {
		r := s.run(context.Background(), s.dir, find("sshare"), "-l", "-a", "-P")
		output = r.stdout
		return r.code == 0 && fairTreeIsComputed(output)
	})
	return output
}

// fairTreeIsComputed reports whether slurmctld has computed the tree for the first time: the FairShare of the first user
// is then 1.
func fairTreeIsComputed(output string) bool { return strings.Contains(output, "|1.000000|") }

// dumpAccount writes what is below an account in the format of `sacctmgr load`.
func dumpAccount(w *strings.Builder, a *fairtree.Account) {
	fmt.Fprintf(w, "Parent - '%s'\n", a.Name)
	for _, user := range a.Users {
		fmt.Fprintf(w, "User - '%s':DefaultAccount='%s':Fairshare=%d\n", user.Name, a.Name, user.Shares)
	}
	for _, child := range a.Accounts {
		fmt.Fprintf(w, "Account - '%s':Description='x':Organization='x':Fairshare=%d\n", child.Name, child.Shares)
	}
	for _, child := range a.Accounts {
		dumpAccount(w, child)
	}
}

// writeUsage writes slurmctld's file with the usage of all users. Slurm sums up the usage of accounts when it reads the
// file.
func (s *realSlurm) writeUsage(root *fairtree.Account) {
	s.t.Helper()
	usage := map[string]float64{}
	var collect func(*fairtree.Account)
	collect = func(a *fairtree.Account) {
		for _, user := range a.Users {
			usage[a.Name+"|"+user.Name] = user.Usage
		}
		for _, child := range a.Accounts {
			collect(child)
		}
	}
	collect(root)
	// The file holds the version of Slurm 22.05's protocol, the time, and a record for each association.
	data := binary.BigEndian.AppendUint16(nil, 38<<8)
	data = binary.BigEndian.AppendUint64(data, 1_700_000_000)
	packText := func(text string) {
		data = binary.BigEndian.AppendUint32(data, uint32(len(text)+1))
		data = append(append(data, text...), 0)
	}
	for line := range strings.Lines(s.must("sacctmgr", "-n", "-P", "show", "assoc", "format=id,account,user")) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "|")
		number, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			s.t.Fatalf("sacctmgr: %q: %v", line, err)
		}
		used, isUser := usage[name]
		if !isUser {
			continue
		}
		data = binary.BigEndian.AppendUint32(data, uint32(number))
		packText(fmt.Sprintf("%f", used))
		packText(fmt.Sprintf("1=%.0f", used))
		data = binary.BigEndian.AppendUint32(data, 0)
	}
	s.write("state/assoc_usage", string(data))
}

// startController starts slurmctld and returns a function that stops it.
func (s *realSlurm) startController(t *testing.T) (stop func()) {
	t.Helper()
	cmd := exec.Command(find("slurmctld"), "-D")
	cmd.Env, cmd.Dir = s.env, s.dir
	log, err := os.Create(filepath.Join(s.dir, "slurmctld-"+filepath.Base(t.Name())+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
	}
}
