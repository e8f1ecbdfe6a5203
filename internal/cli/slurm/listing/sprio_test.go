package listing_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestSprioAndSshare(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "sprio", []golden.Run{
		slurmtest.NewRun("what waits", "sprio"),
		slurmtest.NewRun("long, of a user", "sprio", "-l", "-u", "mei"),
		slurmtest.NewRun("one job", "sprio", "-h", "-j", "37"),
		slurmtest.NewRun("letters", "sprio", "-o", "%i|%r|%u|%o|%n|%c|%Y|%Q|%F|%W|%O", "-S", "-i"),
		slurmtest.NewRun("weights", "sprio", "-w"),
		slurmtest.NewRun("an option that there is not", "sprio", "--colour"),
		slurmtest.NewRun("the tree of shares", "sshare"),
		slurmtest.NewRun("long", "sshare", "-l"),
		slurmtest.NewRun("for a script", "sshare", "-n", "-P", "-o", "Account,FairShare"),
		slurmtest.NewRun("one queue", "sshare", "-A", "research", "-o", "Account%10,RawUsage"),
		slurmtest.NewRun("queues and users", "sshare", "-u", "mei,ann"),
		slurmtest.WithEnv(slurmtest.NewRun("as snakemake's executor asks", "sshare", "-U", "--format", "Account%256", "--noheader"), "USER", "mei"),
		slurmtest.WithEnv(slurmtest.NewRun("users only", "sshare", "-U", "-h"), "USER", "mei"),
		slurmtest.NewRun("a column that there is not", "sshare", "-o", "Color"),
	})
}
