package listing_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// promised adds a job with reserved resources on nodes that are idle, partly in use, and draining.
func promised(server *clitest.Server) {
	slurmtest.NodeCluster(server)
	urgent := slurmtest.NewJob(80, "urgent", "mei", "nlp", batchv1alpha1.Pending, time.Minute)
	server.SetObjects(urgent, golden.NewGroup(urgent, schedulingv1beta1.PodGroupInqueue, golden.WaitingExplanation()))
	for i, node := range []string{"r05n07", "r05n08", "192.168.63.50", "r05n11"} {
		server.SetObjects(slurmtest.NewPod(urgent, "head", i, "", corev1.PodPending, func(p *corev1.Pod) { p.Status.NominatedNodeName = node }))
	}
}

func TestSinfo(t *testing.T) {
	t.Parallel()
	run := func(about string, argv ...string) golden.Run {
		return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Prepare: slurmtest.NodeCluster}
	}
	kept := func(about string, argv ...string) golden.Run {
		return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Prepare: promised}
	}
	golden.CompareRuns(t, "sinfo", []golden.Run{
		run("partitions", "sinfo"),
		run("a partition, long", "sinfo", "-l", "-p", "nlp"),
		run("summary", "sinfo", "-s"),
		run("each node", "sinfo", "-N", "-p", "nlp"),
		run("each node, with all that it has", "sinfo", "-Nel", "-p", "nlp"),
		run("why nodes are drained", "sinfo", "-R"),
		run("why nodes are drained, long", "sinfo", "-lR"),
		run("letters", "sinfo", "-p", "nlp", "-o", "%P|%a|%l|%D|%t|%T|%N|%A|%F|%C|%G|%m|%c|%e|%E|%f|%n|%o|%R|%s|%r|%h|%g|%w|%z|%V|%L|%p|%I|%M|%O|%v"),
		run("all letters", "sinfo", "-p", "nlp", "-t", "maint", "-h", "-o", "%all"),
		run("words", "sinfo", "-p", "nlp", "-O", "Partition:8,Nodes:6,StateCompact:8,Gres:14,GresUsed:10,CPUsState:.20"),
		run("nodes in some states", "sinfo", "-p", "nlp", "-t", "drain,DOWN"),
		run("nodes that respond", "sinfo", "-r", "-p", "nlp", "-h", "-o", "%N"),
		run("nodes that do not", "sinfo", "-d", "-p", "nlp"),
		run("some nodes", "sinfo", "-n", "r05n[07-08]", "-p", "nlp"),
		run("nodes by size in one line, and exactly", "sinfo", "-p", "nlp", "-t", "idle,mix,maint", "-o", "%P %c %m %D"),
		run("exactly", "sinfo", "-e", "-p", "nlp", "-t", "idle,mix,maint", "-o", "%P %c %m %D"),
		run("sorted by number of nodes", "sinfo", "-S", "-D,N", "-p", "nlp"),
		slurmtest.WithEnv(run("formats of the environment", "sinfo"), "SINFO_FORMAT", "%R %D", "SINFO_PARTITION", "nlp", "SINFO_SORT", "D"),
		run("as JSON", "sinfo", "-s", "-p", "nlp", "--json"),
		run("a letter that there is not", "sinfo", "-o", "%q"),
		run("a state that there is not", "sinfo", "-t", "tired"),
		run("an order that there is not", "sinfo", "-S", "!"),
		run("reservations are refused", "sinfo", "-T"),
		run("a word too many", "sinfo", "nlp"),
		kept("room that is kept for a job", "sinfo", "-p", "nlp,default"),
		kept("counted", "sinfo", "-s", "-p", "nlp"),
		kept("asked for by its name", "sinfo", "-h", "-p", "nlp", "-t", "plnd", "-o", "%T %N"),
		kept("idle ones and mixed ones are so still", "sinfo", "-h", "-p", "nlp", "-t", "idle,mix", "-o", "%t %N"),
		kept("one of them", "scontrol", "show", "node", "-o", "r05n08"),
		kept("where a job will be", "squeue", "-h", "-j", "80", "-o", "%i %Y"),
		kept("where a job will be, of all of them", "squeue", "--start", "-p", "nlp"),
		kept("in all that is known of the job", "scontrol", "show", "job", "80"),
		run("an option that there is not", "sinfo", "--colour"),
	})
}
