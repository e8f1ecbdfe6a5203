package listing_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestSqueue(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "squeue", []golden.Run{
		slurmtest.NewRun("what waits and runs", "squeue"),
		slurmtest.NewRun("long", "squeue", "-l"),
		slurmtest.NewRun("expected starts", "squeue", "--start"),
		slurmtest.NewRun("a row for each element", "squeue", "-r", "-j", "42"),
		slurmtest.NewRun("elements of an array", "squeue", "-j42_[3,7]"),
		slurmtest.NewRun("an element by its own number", "squeue", "-r", "-j", "45"),
		slurmtest.WithEnv(slurmtest.NewRun("mine, by the environment", "squeue", "--me", "-h"), "USER", "ann"),
		slurmtest.WithEnv(slurmtest.NewRun("not mine", "squeue", "--notme", "-h"), "USER", "ann"),
		slurmtest.NewRun("of a user, all states, as Nextflow asks", "squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", "mei"),
		slurmtest.NewRun("of a partition", "squeue", "-p", "research"),
		slurmtest.NewRun("of an account", "squeue", "-A", "nlp-a", "-h"),
		slurmtest.NewRun("of a name and a quality of service", "squeue", "-n", "eval", "-q", "normal", "-h"),
		slurmtest.NewRun("on nodes", "squeue", "-w", "r05n[08-09]", "-h"),
		slurmtest.NewRun("a job that ended longer than MinJobAge ago", "squeue", "-j", "41"),
		slurmtest.NewRun("some states", "squeue", "-t", "CA,timeout,f,s,CD", "-S", "i"),
		slurmtest.NewRun("letters", "squeue", "-j", "36", "-o", "%a|%A|%B|%c|%C|%d|%D|%e|%E|%f|%F|%g|%h|%i|%j|%k|%K|%l|%L|%m|%M|%n|%N|%o|%O|%p|%P|%q|%Q|%r|%R|%S|%t|%T|%u|%U|%v|%V|%w|%W|%x|%X|%y|%Y|%z|%Z"),
		slurmtest.NewRun("all letters", "squeue", "-j", "36", "-h", "-o", "%all"),
		slurmtest.NewRun("words", "squeue", "-j", "36,37", "-O", "JobID:8,Name:.12,StateCompact:4,tres-alloc:60,restartcnt,STDOUT:40"),
		slurmtest.NewRun("sorted by user, the newest first", "squeue", "-S", "u,-V", "-o", "%.8i %u"),
		slurmtest.NewRun("steps", "squeue", "-s"),
		slurmtest.NewRun("states only", "squeue", "--only-job-state", "-j", "42"),
		slurmtest.NewRun("the last format counts", "squeue", "-j", "36", "-o", "%i", "-O", "Name:10", "-o", "%u"),
		slurmtest.NewRun("as JSON", "squeue", "-j", "36", "--json"),
		slurmtest.NewRun("as YAML", "squeue", "-j", "42", "--yaml"),
		slurmtest.WithEnv(slurmtest.NewRun("formats and filters of the environment", "squeue"), "SQUEUE_FORMAT", "%i %j %T", "SQUEUE_SORT", "-i", "SQUEUE_STATES", "all", "SQUEUE_USERS", "mei", "SQUEUE_PARTITION", "default"),
		slurmtest.WithEnv(slurmtest.NewRun("the command line goes before the environment", "squeue", "-o", "%i", "-u", "ann"), "SQUEUE_FORMAT", "%j", "SQUEUE_USERS", "mei"),
		slurmtest.WithEnv(slurmtest.NewRun("times in other forms", "squeue", "--start", "-h", "-o", "%S"), "SLURM_TIME_FORMAT", "%d.%m.%y %R"),
		slurmtest.WithEnv(slurmtest.NewRun("times relative to now", "squeue", "-j", "37", "-h", "-o", "%S %V"), "SLURM_TIME_FORMAT", "relative"),
		slurmtest.WithEnv(slurmtest.NewRun("short lists of elements", "squeue", "-h", "-j", "42", "-o", "%i"), "SLURM_BITSTR_LEN", "3"),
		slurmtest.NewRun("in contexts of the kubeconfig", "squeue", "-M", "test", "-j", "36", "-o", "%i"),
		slurmtest.NewRun("a job that is not there", "squeue", "-j", "4711"),
		slurmtest.NewRun("a name that no job has", "squeue", "-j", "abc"),
		slurmtest.NewRun("a word that is no job", "squeue", "-j", "4_x"),
		slurmtest.NewRun("a state that there is not", "squeue", "-t", "sleeping"),
		slurmtest.NewRun("an unknown letter is reported, the rest is printed", "squeue", "-j", "36", "-o", "%i %! %.7é %b"),
		slurmtest.NewRun("an unknown word is reported, the rest is printed", "squeue", "-j", "36", "-O", "JobID,Color,State"),
		slurmtest.NewRun("words of jobs that vc does not have", "squeue", "-j", "36", "-O", "CronJob,LicensesAlloc,Shared,PackJobId,PackJobOffset,PackJobIdSet"),
		slurmtest.NewRun("words with a colon have no width", "squeue", "-j", "36", "-O", "State: ,JobID: ,Name:"),
		slurmtest.NewRun("as Open OnDemand asks", "squeue", "-j", "36", "--all", "--states=all", "--noconvert", "-O", "Account:|,JobID:|,GroupName:|,State:|,tres-per-node:|,"),
		slurmtest.NewRun("other names of options", "squeue", "-h", "--accounts=nlp-a", "--users=mei,ann", "--partitions=default,research", "--nodes=r05n[01-09]"),
		slurmtest.NewRun("-U is -u", "squeue", "-h", "-U", "ann", "-o", "%i %u"),
		slurmtest.NewRun("of the user of a number", "squeue", "-h", "-u", "1001", "-o", "%i %u %U %g %G"),
		slurmtest.NewRun("an order that there is not", "squeue", "-S", "P,!"),
		slurmtest.NewRun("reservations are refused", "squeue", "-R", "maint"),
		slurmtest.NewRun("a word too many", "squeue", "42"),
		slurmtest.NewRun("an option that there is not", "squeue", "--colour"),
		slurmtest.NewRun("the usage", "squeue", "--usage"),
		slurmtest.NewRun("the help", "squeue", "--help"),
	})
}
