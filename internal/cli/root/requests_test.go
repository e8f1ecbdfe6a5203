package root_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// aboutMany lists the prefixes of command lines that concern more than the objects that they name. All other command
// lines must not request data of other objects.
var aboutMany = []string{
	"top", "node", "events", "queue tree", "queue list", "job list", "podgroup list", "pod list", "jobflow list", "jobtemplate list", "cronjob list", "__complete",
	// Slurm's lists cover the whole cluster.
	"slurm squeue", "slurm sacct", "slurm sinfo", "slurm sprio", "slurm sshare", "slurm sdiag", "slurm scancel", "slurm scontrol",
	// Closing, changing or viewing a queue with its waiting jobs concerns all jobs of the queue.
	"queue close", "queue delete", "queue update", "queue operate", "queue view",
}

// manyObjects reports whether a command line concerns many objects, because it names none or selects them.
func manyObjects(args []string) bool {
	line := strings.Join(args, " ")
	wide := slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--all" || arg == "-A" || arg == "--all-namespaces" || arg == "-l" || strings.HasPrefix(arg, "-l=") || strings.HasPrefix(arg, "--selector")
	})
	if wide {
		return true
	}
	if strings.HasPrefix(line, "job list ") || strings.HasPrefix(line, "job get ") || strings.HasPrefix(line, "job ls ") {
		return len(args) < 3 || strings.HasPrefix(args[2], "-")
	}
	return slices.ContainsFunc(aboutMany, func(begin string) bool { return line == begin || strings.HasPrefix(line, begin+" ") })
}

// This test runs every command line of the golden files once more and checks its requests: every list is limited, and
// a command on one object requests only the pods and events of that object, not those of a namespace or the cluster.
func TestCommandsRequestOnlyTheObjectsThatTheyNeed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	tree := newTree("vcctl")
	for _, one := range readGoldens(t) {
		line := strings.Join(one.args, " ")
		if cmd, _, err := tree.Find(one.args); seen[line] || err != nil || cmd == tree {
			continue
		}
		seen[line] = true
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			golden.AddLogs(server)
			golden.AnswerPlans(golden.NewStartingAnswer())(server)
			golden.Run{Argv: one.args}.RunAgainst(t, server)
			queries := server.Queries()
			for i, request := range server.Requests() {
				// For a missing pod, the command suggests a similar name from one page of names.
				nearPod := one.args[0] == "pod" && !strings.Contains(queries[i], "continue=")
				if wrong := wrongList(request, queries[i], nearPod || manyObjects(one.args)); wrong != "" {
					t.Errorf("%s?%s %s", request, queries[i], wrong)
				}
			}
		})
	}
	if len(seen) < 100 {
		t.Errorf("only %d command lines", len(seen))
	}
}

// wrongList describes the problem of a request, or returns "".
func wrongList(request, query string, many bool) string {
	path, isGet := strings.CutPrefix(request, "GET ")
	plurals := []string{"pods", "events", "jobs", "podgroups", "queues", "nodes", "jobflows", "jobtemplates", "cronjobs", "hypernodes"}
	kind := path[strings.LastIndex(path, "/")+1:]
	if !isGet || !slices.Contains(plurals, kind) || strings.Contains(query, "watch=") {
		return ""
	}
	named := strings.Contains(query, "fieldSelector=")
	switch {
	case !named && !strings.Contains(query, "limit="):
		return "is a list without an end"
	case many:
		return ""
	case kind == "pods" && !named && !strings.Contains(query, "labelSelector="):
		return "lists pods of others"
	case kind == "events" && !named:
		return "lists events about others"
	case !strings.Contains(path, "/namespaces/") && (kind == "pods" || kind == "podgroups"):
		return "asks the whole cluster"
	}
	return ""
}

// A command that shows or changes one job requests only the pods of that job.
func TestOneJobNeverAsksForThePodsOfOthers(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"job list train", "job list train -o wide", "job view train", "job view eval", "job view broken", "job explain train", "job explain plain",
		"job explain eval", "job logs train", "job logs broken", "job wait train --for=running", "job wait done",
		"job exec train -- true", "job attach train -t worker", "job suspend train", "job resume paused", "job restart train", "job cancel train",
		"job delete train --wait=false", "job run x --queue research", "events --for job/train", "pod list --job train",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			golden.AddLogs(server)
			golden.Run{Args: args}.RunAgainst(t, server)
			queries := server.Queries()
			for i, request := range server.Requests() {
				switch {
				case strings.HasSuffix(request, "/pods") && !strings.Contains(queries[i], "volcano.sh/job-name=") && !strings.Contains(queries[i], "volcano.sh/job-name in (train)"):
					t.Errorf("%s?%s lists pods of others", request, queries[i])
				case strings.HasSuffix(request, "/events") && !strings.Contains(queries[i], "involvedObject.uid="):
					t.Errorf("%s?%s lists events about others", request, queries[i])
				case strings.HasSuffix(request, " /api/v1/pods"), strings.HasSuffix(request, "/v1alpha1/jobs"), strings.HasSuffix(request, "/v1beta1/podgroups") && !strings.Contains(request, "/namespaces/"):
					t.Errorf("%s asks the whole cluster", request)
				}
			}
			if len(queries) == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}
