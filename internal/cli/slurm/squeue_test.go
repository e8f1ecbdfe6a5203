package slurm_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
)

// squeueRun runs `vcctl slurm squeue` with further words.
func slurmRun(about string, argv ...string) golden.Run {
	return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Prepare: slurmCluster}
}

func withEnv(r golden.Run, pairs ...string) golden.Run {
	r.Env = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		r.Env[pairs[i]] = pairs[i+1]
	}
	return r
}

func TestSqueue(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "squeue", []golden.Run{
		slurmRun("what waits and runs", "squeue"),
		slurmRun("long", "squeue", "-l"),
		slurmRun("expected starts", "squeue", "--start"),
		slurmRun("a row for each element", "squeue", "-r", "-j", "42"),
		slurmRun("elements of an array", "squeue", "-j42_[3,7]"),
		slurmRun("an element by its own number", "squeue", "-r", "-j", "45"),
		withEnv(slurmRun("mine, by the environment", "squeue", "--me", "-h"), "USER", "ann"),
		withEnv(slurmRun("not mine", "squeue", "--notme", "-h"), "USER", "ann"),
		slurmRun("of a user, all states, as Nextflow asks", "squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", "mei"),
		slurmRun("of a partition", "squeue", "-p", "research"),
		slurmRun("of an account", "squeue", "-A", "nlp-a", "-h"),
		slurmRun("of a name and a quality of service", "squeue", "-n", "eval", "-q", "normal", "-h"),
		slurmRun("on nodes", "squeue", "-w", "r05n[08-09]", "-h"),
		slurmRun("a job that ended longer than MinJobAge ago", "squeue", "-j", "41"),
		slurmRun("some states", "squeue", "-t", "CA,timeout,f,s,CD", "-S", "i"),
		slurmRun("letters", "squeue", "-j", "36", "-o", "%a|%A|%B|%c|%C|%d|%D|%e|%E|%f|%F|%g|%h|%i|%j|%k|%K|%l|%L|%m|%M|%n|%N|%o|%O|%p|%P|%q|%Q|%r|%R|%S|%t|%T|%u|%U|%v|%V|%w|%W|%x|%X|%y|%Y|%z|%Z"),
		slurmRun("all letters", "squeue", "-j", "36", "-h", "-o", "%all"),
		slurmRun("words", "squeue", "-j", "36,37", "-O", "JobID:8,Name:.12,StateCompact:4,tres-alloc:60,restartcnt,STDOUT:40"),
		slurmRun("sorted by user, the newest first", "squeue", "-S", "u,-V", "-o", "%.8i %u"),
		slurmRun("steps", "squeue", "-s"),
		slurmRun("states only", "squeue", "--only-job-state", "-j", "42"),
		slurmRun("the last format counts", "squeue", "-j", "36", "-o", "%i", "-O", "Name:10", "-o", "%u"),
		slurmRun("as JSON", "squeue", "-j", "36", "--json"),
		slurmRun("as YAML", "squeue", "-j", "42", "--yaml"),
		withEnv(slurmRun("formats and filters of the environment", "squeue"), "SQUEUE_FORMAT", "%i %j %T", "SQUEUE_SORT", "-i", "SQUEUE_STATES", "all", "SQUEUE_USERS", "mei", "SQUEUE_PARTITION", "default"),
		withEnv(slurmRun("the command line goes before the environment", "squeue", "-o", "%i", "-u", "ann"), "SQUEUE_FORMAT", "%j", "SQUEUE_USERS", "mei"),
		withEnv(slurmRun("times in other forms", "squeue", "--start", "-h", "-o", "%S"), "SLURM_TIME_FORMAT", "%d.%m.%y %R"),
		withEnv(slurmRun("times relative to now", "squeue", "-j", "37", "-h", "-o", "%S %V"), "SLURM_TIME_FORMAT", "relative"),
		withEnv(slurmRun("short lists of elements", "squeue", "-h", "-j", "42", "-o", "%i"), "SLURM_BITSTR_LEN", "3"),
		slurmRun("in contexts of the kubeconfig", "squeue", "-M", "test", "-j", "36", "-o", "%i"),
		slurmRun("a job that is not there", "squeue", "-j", "4711"),
		slurmRun("a name that no job has", "squeue", "-j", "abc"),
		slurmRun("a word that is no job", "squeue", "-j", "4_x"),
		slurmRun("a state that there is not", "squeue", "-t", "sleeping"),
		slurmRun("an unknown letter is reported, the rest is printed", "squeue", "-j", "36", "-o", "%i %! %.7é %b"),
		slurmRun("an unknown word is reported, the rest is printed", "squeue", "-j", "36", "-O", "JobID,Color,State"),
		slurmRun("words of jobs that vc does not have", "squeue", "-j", "36", "-O", "CronJob,LicensesAlloc,Shared,PackJobId,PackJobOffset,PackJobIdSet"),
		slurmRun("words with a colon have no width", "squeue", "-j", "36", "-O", "State: ,JobID: ,Name:"),
		slurmRun("as Open OnDemand asks", "squeue", "-j", "36", "--all", "--states=all", "--noconvert", "-O", "Account:|,JobID:|,GroupName:|,State:|,tres-per-node:|,"),
		slurmRun("other names of options", "squeue", "-h", "--accounts=nlp-a", "--users=mei,ann", "--partitions=default,research", "--nodes=r05n[01-09]"),
		slurmRun("-U is -u", "squeue", "-h", "-U", "ann", "-o", "%i %u"),
		slurmRun("of the user of a number", "squeue", "-h", "-u", "1001", "-o", "%i %u %U %g %G"),
		slurmRun("an order that there is not", "squeue", "-S", "P,!"),
		slurmRun("reservations are refused", "squeue", "-R", "maint"),
		slurmRun("a word too many", "squeue", "42"),
		slurmRun("an option that there is not", "squeue", "--colour"),
		slurmRun("the usage", "squeue", "--usage"),
		slurmRun("the help", "squeue", "--help"),
	})
}
