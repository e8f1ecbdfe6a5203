package listing_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestSacct(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "sacct", []golden.Run{
		slurmtest.WithEnv(slurmtest.NewRun("mine of today", "sacct"), "USER", "mei"),
		slurmtest.WithEnv(slurmtest.NewRun("everybody's", "sacct", "-a"), "USER", "mei"),
		slurmtest.NewRun("an array", "sacct", "-j", "42"),
		slurmtest.WithMixedArray(slurmtest.NewRun("elements that ended in every way, most of their pods gone", "sacct", "-X", "-j", "42", "-o", "jobid,state%20,exitcode")),
		slurmtest.WithMixedArray(slurmtest.NewRun("and in squeue", "squeue", "-t", "all", "-j", "42", "-h", "-o", "%i %T %R")),
		slurmtest.NewRun("elements of it, those that wait each", "sacct", "-X", "--array", "-j", "42_[0-7]"),
		slurmtest.NewRun("jobs only", "sacct", "-X", "-j", "36,58,59,60"),
		slurmtest.NewRun("a step", "sacct", "-j", "41.batch,41.1", "-o", "JobID,JobName%20,State,ExitCode,MaxRSS,TotalCPU,AveCPU,NTasks"),
		slurmtest.NewRun("brief", "sacct", "-b", "-j", "41"),
		slurmtest.NewRun("long", "sacct", "-l", "-P", "-j", "36,41"),
		slurmtest.NewRun("widths", "sacct", "-X", "-j", "59", "-o", "JobID%-6,State%30,State%6,user%12"),
		slurmtest.NewRun("parsable", "sacct", "-X", "-p", "-j", "36", "-o", "jobid,state"),
		slurmtest.NewRun("another delimiter", "sacct", "-X", "-P", "--delimiter=;", "-n", "-j", "36,37", "-o", "jobid,state"),
		slurmtest.NewRun("as submitit asks", "sacct", "-o", "JobID,State", "--parsable2", "-j", "41", "-j", "42"),
		slurmtest.WithEnv(slurmtest.NewRun("as Snakemake asks", "sacct", "-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State", "--starttime", "2026-02-28T21:00", "--endtime", "now", "--name", "sweep"), "USER", "mei"),
		slurmtest.NewRun("every column", "sacct", "-P", "-j", "41", "-o", "JobID,JobIDRaw,JobName,Partition,Account,User,UID,QOS,State,ExitCode,DerivedExitCode,Submit,Eligible,Start,End,Elapsed,ElapsedRaw,Planned,Timelimit,TimelimitRaw,NNodes,NTasks,NCPUS,AllocCPUS,AllocTRES,ReqTRES,ReqMem,ReqCPUS,NodeList,Reason,Restarts,Comment,WorkDir,SubmitLine,StdOut,StdErr,Cluster,WCKey,MaxRSS,AveCPU,TotalCPU"),
		slurmtest.NewRun("memory in gigabytes", "sacct", "-X", "-j", "36", "-n", "-P", "--units=G", "-o", "reqmem"),
		slurmtest.NewRun("those that failed or were cancelled since this morning", "sacct", "-X", "-a", "-S", "06:00", "-s", "F,CA,TO"),
		slurmtest.NewRun("those that wait now", "sacct", "-X", "-a", "-s", "PD"),
		slurmtest.NewRun("those that ran within a span", "sacct", "-X", "-a", "-S", "10:30", "-E", "11:00", "-s", "R", "-o", "jobid,start,end"),
		slurmtest.NewRun("cut to the span", "sacct", "-X", "-T", "-j", "41", "-S", "10:30", "-E", "11:00", "-o", "jobid,start,end,elapsed"),
		slurmtest.NewRun("more than is kept", "sacct", "-X", "-u", "ann", "-S", "now-30days", "-b"),
		slurmtest.NewRun("of a partition and a node", "sacct", "-X", "-a", "-r", "default", "-N", "r05n08", "-b"),
		slurmtest.NewRun("the most copied line of the web", "sacct", "-j", "41", "--format=User,JobID,Jobname,partition,state,time,start,end,elapsed,MaxRss,MaxVMSize,nnodes,ncpus,nodelist"),
		slurmtest.WithEnv(slurmtest.NewRun("a user goes before all users", "sacct", "-X", "-a", "-u", "ann", "-o", "jobid,user"), "USER", "mei"),
		slurmtest.NewRun("a date and a time with a dash", "sacct", "-X", "-a", "-S", "03/01-11:00", "-E", "03/01/26-11:30:00", "-o", "jobid,start,end"),
		slurmtest.NewRun("those with two nodes or more", "sacct", "-X", "-a", "-i", "2-8", "-o", "jobid,nnodes"),
		slurmtest.NewRun("those with one processor", "sacct", "-X", "-a", "-I", "1", "-o", "jobid,ncpus"),
		slurmtest.NewRun("those with a time limit", "sacct", "-X", "-a", "-k", "1", "-K", "2-0", "-o", "jobid,timelimit"),
		slurmtest.NewRun("those with a reason", "sacct", "-X", "-a", "-R", "Priority,NonZeroExitCode", "-o", "jobid,reason"),
		slurmtest.NewRun("those with a constraint", "sacct", "-X", "-a", "-C", "nosuch", "-o", "jobid"),
		slurmtest.NewRun("a number of nodes that is none", "sacct", "-i", "x"),
		slurmtest.NewRun("the scripts of jobs", "sacct", "-B", "-j", "36,37"),
		slurmtest.NewRun("the scripts of all jobs", "sacct", "-B"),
		withEnvironments(slurmtest.NewRun("the environments of jobs", "sacct", "--env-vars", "-j", "36,37")),
		slurmtest.RejectLists(slurmtest.NewRun("an environment that the user may not read", "sacct", "--env-vars", "-j", "36"), "/api/v1/namespaces/nlp/secrets/train-sh-x7k2p-slurm"),
		slurmtest.NewRun("the environments of all jobs", "sacct", "--env-vars"),
		slurmtest.NewRun("environments and scripts", "sacct", "--env-vars", "-B", "-j", "36"),
		slurmtest.WithAccounting(slurmtest.NewRun("the last attempt of a deleted job", "sacct", "-j", "32", "-o", attemptColumns)),
		slurmtest.WithAccounting(slurmtest.NewRun("all attempts of a deleted job", "sacct", "-D", "-j", "32", "-o", attemptColumns)),
		withRestartedJob(slurmtest.NewRun("all attempts of a job that exists", "sacct", "--duplicates", "-X", "-j", "32", "-o", attemptColumns)),
		withRestartedJob(slurmtest.NewRun("attempts that lost a node or were requeued", "sacct", "-D", "-X", "-a", "-S", "now-1day", "-s", "NF,RQ", "-o", "jobid,state")),
		slurmtest.NewRun("as JSON", "sacct", "-j", "41", "--json"),
		slurmtest.NewRun("which columns there are", "sacct", "-e"),
		slurmtest.NewRun("jobs that nobody knows", "sacct", "-j", "4711"),
		slurmtest.NewRun("a column that there is not", "sacct", "-o", "jobid,color"),
		slurmtest.NewRun("a time that there is not", "sacct", "-S", "yesterdayish"),
		slurmtest.NewRun("a span that ends before it begins", "sacct", "-S", "11:00", "-E", "10:00"),
		slurmtest.NewRun("a state that there is not", "sacct", "-s", "asleep"),
		slurmtest.NewRun("what is refused", "sacct", "-c"),
		slurmtest.NewRun("an option that there is not", "sacct", "--colour"),
	})
}

// attemptColumns shows what differs between the attempts of a job.
const attemptColumns = "jobid,state,exitcode,restarts,start,end,elapsed,alloccpus,nodelist,reason%16"

// withRestartedJob adds a job that was restarted.
func withRestartedJob(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		server.SetObjects(slurmtest.RestartedJob())
	}
	return r
}

// withEnvironments adds the Secret with its environment to a job.
func withEnvironments(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		server.SetObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "train-sh-x7k2p-slurm"},
			Data: map[string][]byte{launchconfig.EnvironmentKey: []byte("HOME=/home/mei\x00LR=0.1 0.2\x00")}})
	}
	return r
}
