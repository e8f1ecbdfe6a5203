package control_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// controlCluster is nodeCluster with the script of a job.
func controlCluster(server *clitest.Server) {
	slurmtest.NodeCluster(server)
	server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "train-sh-x7k2p-slurm"}, Data: map[string]string{"script": "#!/bin/sh\nsrun hostname\n"}})
}

func TestScontrol(t *testing.T) {
	t.Parallel()
	run := func(about string, argv ...string) golden.Run {
		return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Prepare: controlCluster}
	}
	held := func(about string, runsCluster bool, argv ...string) golden.Run {
		r := slurmtest.WithEnv(run(about, argv...), "USER", "ann")
		r.Prepare = func(server *clitest.Server) {
			controlCluster(server)
			server.SetObjects(slurmtest.NewJob(38, "held", "ann", "default", batchv1alpha1.Pending, 10*time.Minute, slurmtest.WithReason("JobHeldAdmin", ""), func(j *batchv1alpha1.Job) { j.Annotations[keys.Hold] = keys.HoldAdmin }))
			server.OnCreate("SelfSubjectAccessReview", func(review map[string]any) { review["status"] = map[string]any{"allowed": runsCluster} })
		}
		return r
	}
	// failingOnce lets the first review of the user's rights fail. Both held jobs belong to another user.
	failingOnce := func(about string, argv ...string) golden.Run {
		r := held(about, true, argv...)
		prepare := r.Prepare
		r.Prepare = func(server *clitest.Server) {
			prepare(server)
			server.SetObjects(slurmtest.NewJob(63, "held-too", "ann", "default", batchv1alpha1.Pending, 10*time.Minute, slurmtest.WithReason("JobHeldAdmin", ""), func(j *batchv1alpha1.Job) { j.Annotations[keys.Hold] = keys.HoldAdmin }))
			var reviews atomic.Int32
			server.HandlePath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if reviews.Add(1) == 1 {
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"reason":"InternalError","message":"etcd has no leader"}`)
					return
				}
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{},"status":{"allowed":true}}`)
			}))
		}
		return r
	}
	node := func(name, key string, want any) func(*testing.T, *clitest.Server) {
		return func(t *testing.T, server *clitest.Server) {
			t.Helper()
			object := slurmtest.FindObject(t, server, "/api/v1/nodes", name)
			annotations, _ := object["metadata"].(map[string]any)["annotations"].(map[string]any)
			cordoned := object["spec"].(map[string]any)["unschedulable"]
			if got, _ := annotations[keys.DrainReason].(string); got != key || cordoned != want {
				t.Errorf("node %s has the reason %q and unschedulable %v", name, got, cordoned)
			}
		}
	}
	golden.CompareRuns(t, "scontrol", []golden.Run{
		run("a job", "scontrol", "show", "job", "36"),
		run("a job on one line", "scontrol", "-o", "show", "job", "37"),
		run("a job with what it has of each node", "scontrol", "-d", "show", "job", "36"),
		run("a job that waits, with details", "scontrol", "-d", "-o", "show", "job", "37"),
		run("the steps of a job", "scontrol", "show", "step", "36"),
		run("steps of all jobs, one a line", "scontrol", "-o", "show", "steps"),
		run("the steps of a job that waits", "scontrol", "show", "step", "37"),
		run("wait for a job that runs", "scontrol", "wait_job", "36"),
		run("wait for a job that is over", "scontrol", "wait_job", "58"),
		run("a message for a job that does not run", "scontrol", "notify", "37", "stop", "soon"),
		run("no message", "scontrol", "notify", "36"),
		slurmtest.WithChecks(run("another account", "scontrol", "update", "JobId=37", "Account=nlp2", "WCKey=paper"), func(t *testing.T, server *clitest.Server) {
			object := slurmtest.FindObject(t, server, slurmtest.JobsPath, "eval-b8d2c")
			kept, _ := object["metadata"].(map[string]any)["annotations"].(map[string]any)[keys.Slurm].(string)
			if !strings.Contains(kept, `"account":"nlp2"`) || !strings.Contains(kept, `"wckey":"paper"`) {
				t.Errorf("the job keeps %s", kept)
			}
		}),
		run("an array", "scontrol", "show", "jobid=42"),
		run("an element", "scontrol", "show", "job", "42_3"),
		run("a node", "scontrol", "show", "node", "r05n10"),
		run("nodes, one a line", "scontrol", "-o", "show", "nodes", "r05n[07-08]"),
		run("a partition", "scontrol", "show", "partition", "nlp"),
		run("a partition on one line", "scontrol", "show", "part", "default", "--oneliner"),
		run("names of hosts", "scontrol", "show", "hostnames", "r05n[07-09,11]"),
		slurmtest.WithEnv(run("names of the job's hosts", "scontrol", "show", "hostnames"), "SLURM_JOB_NODELIST", "run-head-0,run-node-[0-1]"),
		run("a short list of hosts", "scontrol", "show", "hostlist", "n3,n1,n2"),
		run("a short sorted list of hosts", "scontrol", "show", "hostlistsorted", "n3,n1,n2"),
		run("reservations", "scontrol", "show", "reservation"),
		slurmtest.WithChecks(run("hold", "scontrol", "hold", "37,40"), slurmtest.ExpectAnnotation("eval-b8d2c", keys.Hold, keys.HoldUser), slurmtest.ExpectAnnotation("old", keys.Hold, keys.HoldUser)),
		slurmtest.WithChecks(run("hold by name", "scontrol", "hold", "jobname=eval"), slurmtest.ExpectAnnotation("eval-b8d2c", keys.Hold, keys.HoldUser)),
		slurmtest.WithChecks(run("release", "scontrol", "release", "38"), slurmtest.ExpectAnnotation("held", keys.Hold, "")),
		run("hold what runs", "scontrol", "hold", "36"),
		slurmtest.WithChecks(run("requeue", "scontrol", "requeue", "36"), slurmtest.ExpectCommands("RestartJob train-sh-x7k2p")),
		slurmtest.WithChecks(run("requeue and hold", "scontrol", "requeuehold", "36"), slurmtest.ExpectCommands("RestartJob train-sh-x7k2p"), slurmtest.ExpectAnnotation("train-sh-x7k2p", keys.Hold, keys.HoldUser)),
		run("requeue what is over", "scontrol", "requeue", "58"),
		run("requeue elements", "scontrol", "requeue", "42_3,42_[3-3]"),
		run("requeue an element that does not run", "scontrol", "requeue", "42_9"),
		slurmtest.WithChecks(run("suspend", "scontrol", "suspend", "36"), slurmtest.ExpectCommands("AbortJob train-sh-x7k2p")),
		slurmtest.WithChecks(run("resume", "scontrol", "resume", "61"), slurmtest.ExpectCommands("ResumeJob paused2")),
		slurmtest.WithChecks(run("another limit of a held job", "scontrol", "update", "JobId=38", "TimeLimit=2:00:00", "Partition=research"), func(t *testing.T, server *clitest.Server) {
			if spec := slurmtest.FindObject(t, server, slurmtest.JobsPath, "held")["spec"].(map[string]any); spec["queue"] != "research" || spec["runningEstimate"] != "2h0m0s" {
				t.Errorf("queue %v, estimate %v", spec["queue"], spec["runningEstimate"])
			}
		}),
		run("another limit of a job that is not held", "scontrol", "update", "JobId=37", "TimeLimit=10"),
		run("a partition that there is not", "scontrol", "update", "JobId=38", "Partition=reserch"),
		slurmtest.WithChecks(run("another name, throttle and dependency", "scontrol", "update", "JobId=42", "JobName=grid", "ArrayTaskThrottle=8", "Dependency=afterok:36"),
			slurmtest.ExpectAnnotation("sweep", keys.JobTitle, "grid"), slurmtest.ExpectAnnotation("sweep", keys.ArrayLimit, "8"), slurmtest.ExpectAnnotation("sweep", keys.Dependency, "afterok:36")),
		slurmtest.WithChecks(run("a shorter limit of a job that runs", "scontrol", "update", "JobId=36", "TimeLimit=3:00:00"), func(t *testing.T, server *clitest.Server) {
			for _, name := range []string{"train-sh-x7k2p-head-0", "train-sh-x7k2p-node-0"} {
				pod := slurmtest.FindObject(t, server, "/api/v1/namespaces/nlp/pods", name)
				if got := pod["spec"].(map[string]any)["activeDeadlineSeconds"]; got != float64(10800) && got != int64(10800) {
					t.Errorf("pod %s has the deadline %v", name, got)
				}
			}
			spec := slurmtest.FindObject(t, server, slurmtest.JobsPath, "train-sh-x7k2p")["spec"].(map[string]any)
			for _, task := range spec["tasks"].([]any) { // the pods after a requeue are created from these tasks
				if got := fmt.Sprint(task.(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["activeDeadlineSeconds"]); got != "10800" {
					t.Errorf("the template has the deadline %s", got)
				}
			}
		}),
		run("a longer one", "scontrol", "update", "JobId=36", "TimeLimit=5:00:00"),
		run("none", "scontrol", "update", "JobId=36", "TimeLimit=UNLIMITED"),
		run("a limit of an array that runs", "scontrol", "update", "JobId=42", "TimeLimit=1"),
		slurmtest.WithChecks(slurmtest.WithUrgentJob(run("another qos of a job that waits", "scontrol", "update", "JobId=37", "QOS=urgent")), func(t *testing.T, server *clitest.Server) {
			if got := slurmtest.FindObject(t, server, slurmtest.JobsPath, "eval-b8d2c")["spec"].(map[string]any)["priorityClassName"]; got != "urgent" {
				t.Errorf("its priority class is %v", got)
			}
		}),
		run("a qos that there is not", "scontrol", "update", "JobId=37", "QOS=royal"),
		run("another qos of a job that runs", "scontrol", "update", "JobId=36", "QOS=urgent"),
		run("other features", "scontrol", "update", "JobId=38", "Features=a100"),
		run("a priority", "scontrol", "update", "JobId=37", "Priority=100"),
		run("what cannot be changed", "scontrol", "update", "JobId=37", "NumCPUs=100"),
		run("a limit that is no time", "scontrol", "update", "JobId=38", "TimeLimit=2h"),
		slurmtest.WithChecks(run("drain a node", "scontrol", "update", "NodeName=r05n[07-08]", "State=DRAIN", "Reason=fan broken"), node("r05n07", "fan broken", true), node("r05n08", "fan broken", true)),
		slurmtest.WithChecks(run("resume a node", "scontrol", "update", "NodeName=r05n10", "State=RESUME"), node("r05n10", "", false)),
		run("drain a node that does not exist", "scontrol", "update", "NodeName=r99n01", "State=DRAIN", "Reason=fan broken"),
		run("change the reason of a node that does not exist", "scontrol", "update", "NodeName=r99n01", "Reason=fan broken"),
		run("drain without a reason", "scontrol", "update", "NodeName=r05n07", "State=DRAIN"),
		run("close a partition", "scontrol", "update", "PartitionName=research", "State=INACTIVE"),
		run("a partition that is to take jobs and start none", "scontrol", "update", "PartitionName=research", "State=DOWN"),
		run("a partition that is to start jobs and take none", "scontrol", "update", "PartitionName=research", "State=DRAIN"),
		run("a state that partitions do not have", "scontrol", "update", "PartitionName=research", "State=SLEEPY"),
		run("another state of a partition that there is not", "scontrol", "update", "PartitionName=reserch", "State=UP"),
		slurmtest.WithChecks(held("who runs the cluster holds jobs of others for good", true, "scontrol", "hold", "37"), slurmtest.ExpectAnnotation("eval-b8d2c", keys.Hold, keys.HoldAdmin)),
		slurmtest.WithChecks(held("unless the user is to release them", true, "scontrol", "uhold", "37"), slurmtest.ExpectAnnotation("eval-b8d2c", keys.Hold, keys.HoldUser)),
		slurmtest.WithChecks(held("own jobs are held as everybody holds them", true, "scontrol", "hold", "40"), slurmtest.ExpectAnnotation("old", keys.Hold, keys.HoldUser)),
		slurmtest.WithChecks(held("an administrator's hold is not the user's to release", false, "scontrol", "release", "38,39"), slurmtest.ExpectAnnotation("held", keys.Hold, keys.HoldAdmin)),
		slurmtest.WithChecks(failingOnce("a check of the user's rights fails for one job only", "scontrol", "release", "38,63"), slurmtest.ExpectAnnotation("held-too", keys.Hold, "")),
		slurmtest.WithChecks(held("it is the administrator's", true, "scontrol", "release", "38"), slurmtest.ExpectAnnotation("held", keys.Hold, "")),
		run("an update of nothing", "scontrol", "update", "TimeLimit=10"),
		run("a job as JSON", "scontrol", "show", "job", "36", "--json"),
		run("a node as JSON", "scontrol", "show", "node", "--json"),
		run("the script of a job", "scontrol", "write", "batch_script", "36", "-"),
		run("the script of a job that has none", "scontrol", "write", "batch_script", "37", "-"),
		run("a job that is not there", "scontrol", "show", "job", "4711"),
		run("a node that is not there", "scontrol", "show", "node", "r99n01"),
		run("a partition that is not there", "scontrol", "show", "partition", "none"),
		run("too many words", "scontrol", "show", "job", "36", "37"),
		run("what has no meaning here", "scontrol", "top", "37"),
		run("a word that is no command", "scontrol", "jump"),
		run("no command", "scontrol"),
		run("the version", "scontrol", "version"),
		run("an option that there is not", "scontrol", "--colour"),
	})
}
