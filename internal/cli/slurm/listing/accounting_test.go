package listing_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestSeff(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "seff", []golden.Run{
		slurmtest.WithAccounting(slurmtest.NewRun("a job that was deleted", "seff", "31")),
		slurmtest.NewRun("a job that ended, whose use was not measured", "seff", "41"),
		slurmtest.NewRun("a running job", "seff", "36"),
		slurmtest.NewRun("an element of an array", "seff", "42_3"),
		slurmtest.NewRun("a job that does not exist", "seff", "31"),
		slurmtest.NewRun("an invalid job", "seff", "4_x"),
		slurmtest.NewRun("without a job", "seff"),
		slurmtest.NewRun("the help", "seff", "--help"),
	})
}

func TestSstat(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "sstat", []golden.Run{
		slurmtest.WithMeasuredPods(slurmtest.NewRun("a job with four pods", "sstat", "-j", "36", "-o", "jobid,ntasks,mincpu,mincpunode,mincputask,avecpu,maxrss,maxrssnode,maxrsstask,averss,nodelist%20")),
		slurmtest.WithMeasuredPods(slurmtest.NewRun("for a script", "sstat", "-a", "-n", "-P", "--format=JobID,AveCPU,MaxRSS,AveRSS", "-j", "36.batch,42")),
		slurmtest.WithMeasuredPods(slurmtest.NewRun("in KiB, with a separator at the end", "sstat", "-p", "--noconvert", "-o", "jobid,maxrss,averss", "-j", "36")),
		slurmtest.WithMeasuredPods(slurmtest.NewRun("an element of an array", "sstat", "-j", "42_3", "-o", "jobid,avecpu,maxrss")),
		slurmtest.WithMeasuredPods(slurmtest.NewRun("all columns", "sstat", "-n", "-P", "-j", "36")),
		slurmtest.NewRun("a job whose use was not measured yet", "sstat", "-j", "36", "-o", "jobid,ntasks,avecpu,maxrss"),
		slurmtest.NewRun("a job that waits", "sstat", "-j", "37"),
		slurmtest.NewRun("a job that ended", "sstat", "-j", "41"),
		slurmtest.NewRun("a job that does not exist", "sstat", "-j", "31"),
		slurmtest.NewRun("a step", "sstat", "-j", "36.0"),
		slurmtest.NewRun("a column that there is not", "sstat", "-j", "36", "-o", "colour"),
		slurmtest.NewRun("processes", "sstat", "-i", "-j", "36"),
		slurmtest.NewRun("without a job", "sstat"),
		slurmtest.NewRun("the columns", "sstat", "-e"),
		slurmtest.NewRun("the help", "sstat", "--help"),
	})
}

func TestSreport(t *testing.T) {
	t.Parallel()
	report := func(about string, args ...string) golden.Run {
		return slurmtest.WithAccounting(slurmtest.NewRun(about, append([]string{"sreport"}, args...)...))
	}
	golden.CompareRuns(t, "sreport", []golden.Run{
		report("by account and user, yesterday", "cluster", "AccountUtilizationByUser"),
		report("by user and account, in hours", "-t", "hours", "cluster", "UserUtilizationByAccount", "start=2026-02-01", "end=2026-03-01"),
		report("the users who used most", "-n", "-P", "user", "top", "start=2026-02-01", "end=now", "topcount=1"),
		report("chosen columns", "-p", "cluster", "acc", "format=Account%20,Login,Used"),
		report("all accounts, by quality of service", "cluster", "AccountUtilizationByQOS"),
		report("all users of an account, without its accounts", "user", "top", "group"),
		report("the tree of accounts, as shares of the capacity", "-t", "percent", "cluster", "acc", "tree"),
		report("in hours and shares, for two resources", "-t", "hourper", "--tres=cpu,gres/gpu", "cluster", "acc"),
		report("the use of the cluster", "cluster", "Utilization"),
		report("the use of the cluster for scripts, with a resource that it does not have", "-nP", "-T", "cpu,mem,example.com/fpga", "-t", "secper", "cluster", "util", "format=cluster,tresname,trescount,allocated,idle,planned,overcommitted,reported"),
		report("the use of the cluster before its capacity was recorded", "cluster", "Utilization", "start=2025-02-01", "end=2025-03-01", "-t", "percent"),
		report("the sizes of jobs", "job", "SizesByAccount"),
		report("the numbers of jobs by size", "-P", "job", "sizes", "grouping=2,64", "printjobcount", "partitions=nlp,research", "flatview"),
		report("an invalid grouping", "job", "sizes", "grouping=64,2"),
		report("a report about what is not recorded", "reservation", "Utilization"),
		report("a condition of another report", "cluster", "Utilization", "users=mei"),
		report("a column of another report", "cluster", "Utilization", "format=Login"),
		slurmtest.NewRun("without an accounting database", "sreport", "cluster", "AccountUtilizationByUser"),
		report("an unknown report", "cluster", "Weather"),
		report("an unknown condition", "cluster", "acc", "colour=red"),
		report("an invalid time", "cluster", "acc", "start=yesteryear"),
		report("without a report"),
		report("the help", "--help"),
	})
}
