package slurm_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// withFeatures adds node features to the site.
func withFeatures(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "slurm-profile"},
			Data: map[string]string{"profile.yaml": siteProfile + "features: {nvlink: {link: nv}, nvme: {disk: nvme}}\n"}})
	}
	return r
}

// withQueueLimits limits the jobs of the queue of the site's partition gpu.
func withQueueLimits(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		server.SetObjects(golden.NewQueue("research", 3, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
			q.Spec.JobLimits = &schedulingv1beta1.JobLimits{MaxRunTime: &metav1.Duration{Duration: 12 * time.Hour}, DefaultRunTime: &metav1.Duration{Duration: 30 * time.Minute}, MaxNodes: new(int32(8))}
		}))
	}
	return r
}

func TestListingsOfASite(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "programs", []golden.Run{
		atSite("partitions have the site's names and limits", "sinfo", "-o", "%P %a %l %L %D %t %N"),
		atSite("full nodes and used devices", "sinfo", "-N", "-p", "gpu", "-n", "g[1-3]", "-O", "NodeList:6,StateCompact:6,Gres:14,GresUsed:14,CPUsState:14,AllocMem:10"),
		atSite("a partition of the site", "scontrol", "show", "partition", "gpu"),
		withQueueLimits(atSite("a partition of the site whose queue has stricter limits", "scontrol", "show", "partition", "gpu")),
		withQueueLimits(atSite("the same in sinfo", "sinfo", "-p", "gpu", "-o", "%P %l %L %s")),
		withQueueLimits(atSite("a limit that the queue does not allow", "scontrol", "update", "JobId=38", "Partition=gpu", "TimeLimit=13:00:00")),
		slurmtest.WithChecks(withQueueLimits(atSite("a limit that the queue allows", "scontrol", "update", "JobId=38", "Partition=gpu", "TimeLimit=12:00:00"))),
		{About: "who drained a node, and when", Argv: []string{"slurm", "sinfo", "-R"}, Prepare: func(server *clitest.Server) {
			node := golden.NewNode("r05n07")
			node.Spec.Unschedulable = true
			node.Annotations = map[string]string{keys.DrainReason: "fan broken", keys.DrainedBy: "mei", keys.DrainedAt: "2026-03-01T11:30:00Z"}
			server.SetObjects(node)
		}},
		slurmtest.WithChecks(atSite("drain a node", "scontrol", "update", "NodeName=g1", "State=DRAIN", "Reason=fan broken"), func(t *testing.T, server *clitest.Server) {
			t.Helper()
			notes, _ := slurmtest.FindObject(t, server, "/api/v1/nodes", "g1")["metadata"].(map[string]any)["annotations"].(map[string]any)
			if notes[keys.DrainedBy] != "mei" || notes[keys.DrainedAt] != "2026-03-01T12:00:00Z" {
				t.Errorf("annotations %v", notes)
			}
		}),
		atSite("a partition that there is not", "sinfo", "-p", "nosuch"),
		atSite("what waits, by its place", "squeue", "-p", "gpu", "-t", "PD", "-o", "%i %P %j %Q"),
		atSite("by the name of the queue, too", "squeue", "-p", "research", "-t", "PD", "-S", "i", "-o", "%i %P"),
		atSite("the lowest priority first", "squeue", "-p", "gpu", "-t", "PD", "-S", "p", "-o", "%i %p %Q"),
		atSite("sprio by place", "sprio", "-u", "mei", "-o", "%i %r %O"),
		atSite("of the user of a number", "squeue", "-u", "1000", "-o", "%i %u %U"),
		atSite("in sacct", "sacct", "-X", "-a", "-s", "PD", "-r", "gpu", "-o", "jobid,partition,uid"),
		slurmtest.WithChecks(atSite("cancel mine in a partition of the site", "scancel", "--me", "-p", "gpu"), slurmtest.ExpectCommands("TerminateJob unplaced", "TerminateJob second", "TerminateJob first", "TerminateJob urgent")),
		slurmtest.WithChecks(atSite("to a partition of the site", "scontrol", "update", "JobId=38", "Partition=gpu", "TimeLimit=20"), func(t *testing.T, server *clitest.Server) {
			t.Helper()
			if queue := slurmtest.FindObject(t, server, slurmtest.JobsPath, "held")["spec"].(map[string]any)["queue"]; queue != "research" {
				t.Errorf("queue %v", queue)
			}
			if told := slurmtest.FindObject(t, server, "/api/v1/namespaces/nlp/configmaps", "held-slurm")["data"].(map[string]any)["spec.json"].(string); !strings.Contains(told, `"timeLimit": 1200`) {
				t.Errorf("the launcher is told %v", told)
			}
		}),
		atSite("a limit that the partition does not allow", "scontrol", "update", "JobId=38", "Partition=short", "TimeLimit=31"),
		atSite("no limit where the site wants one", "scontrol", "update", "JobId=38", "TimeLimit=UNLIMITED"),
		atSite("a partition that does not allow the limit that the job has", "scontrol", "update", "JobId=38", "Partition=short"),
		atSite("the limit of a partition", "scontrol", "update", "JobId=38", "Partition=short", "TimeLimit=30"),
		slurmtest.WithChecks(withFeatures(atSite("other features of a held job", "scontrol", "update", "JobId=38", "Features=nvlink|nvme")), func(t *testing.T, server *clitest.Server) {
			t.Helper()
			held := slurmtest.FindObject(t, server, slurmtest.JobsPath, "held")
			notes, tasks := fmt.Sprint(held["metadata"].(map[string]any)["annotations"]), fmt.Sprint(held["spec"].(map[string]any)["tasks"])
			if !strings.Contains(notes, `"features":"nvlink|nvme"`) || !strings.Contains(tasks, "key:link") || !strings.Contains(tasks, "key:disk") {
				t.Errorf("%s\n%s", notes, tasks)
			}
		}),
		withFeatures(atSite("an unknown feature of a held job", "scontrol", "update", "JobId=38", "Features=nvlnk")),
		withFeatures(atSite("features that cannot be read", "scontrol", "update", "JobId=38", "Features=a&")),
		withFeatures(atSite("features of a job that waits", "scontrol", "update", "JobId=37", "Features=nvlink")),
		slurmtest.WithChecks(atSite("close a partition of the site", "scontrol", "update", "PartitionName=gpu", "State=INACTIVE"), slurmtest.ExpectCommands("CloseQueue research")),
		slurmtest.WithChecks(atSite("a name is that of one namespace", "scancel", "train-sh-x7k2p"), slurmtest.ExpectCommands("TerminateJob train-sh-x7k2p"), func(t *testing.T, server *clitest.Server) {
			t.Helper()
			for _, object := range server.CreatedObjects("Command") {
				if space := object["metadata"].(map[string]any)["namespace"]; space != "nlp" {
					t.Errorf("a Command in namespace %v", space)
				}
			}
		}),
		atSite("a name that nobody has, sacct", "sacct", "-j", "abc"),
		atSite("a name that nobody has, sprio", "sprio", "-j", "x"),
		atSite("a number that nobody has", "scancel", "99999"),
		slurmtest.RejectLists(atSite("without PodGroups", "squeue", "-p", "gpu", "-t", "PD", "-o", "%i %r"), "/apis/scheduling.volcano.sh/v1beta1/podgroups"),
		slurmtest.RejectLists(atSite("without pods", "squeue", "-j", "36", "-o", "%i %R"), "/api/v1/pods", "/api/v1/namespaces/nlp/pods"),
		slurmtest.RejectLists(atSite("without queues and classes", "squeue", "-j", "73,40", "-o", "%i %r %Q"), "/apis/scheduling.volcano.sh/v1beta1/queues", "/apis/scheduling.k8s.io/v1/priorityclasses"),
		slurmtest.RejectLists(atSite("without the jobs of all namespaces", "squeue", "-p", "gpu", "-t", "PD", "-o", "%i"), "/apis/batch.volcano.sh/v1alpha1/jobs"),
		slurmtest.RejectLists(atSite("without nodes", "sinfo", "-p", "gpu"), "/api/v1/nodes"),
		slurmtest.RejectLists(atSite("without the profile", "sinfo", "-h", "-o", "%P"), "/api/v1/namespaces/nlp/configmaps", "/api/v1/namespaces/volcano-system/configmaps"),
		slurmtest.RejectLists(slurmtest.NewRun("without the profile of the site", "sinfo", "-h", "-o", "%P"), "/api/v1/namespaces/volcano-system/configmaps"),
		slurmtest.WithEnv(slurmtest.NewRun("SQUEUE_ARRAY", "squeue", "-h", "-t", "PD", "-n", "sweep", "-o", "%i"), "SQUEUE_ARRAY", "1"),
		slurmtest.WithEnv(slurmtest.NewRun("sacct of an account, and an option without effect", "sacct", "-X", "-a", "-D", "-A", "nlp-a", "-o", "jobid,account"), "USER", "mei"),
		slurmtest.NewRun("a signal for a script", "scancel", "-s", "USR1", "-b", "36"),
		slurmtest.NewRun("a signal for the steps", "scancel", "-s", "10", "36"),
		slurmtest.NewRun("a signal for all", "scancel", "--full", "--signal=TERM", "36"),
		slurmtest.NewRun("a signal for elements", "scancel", "-s", "USR1", "42_3"),
		slurmtest.NewRun("a step", "scancel", "36.0"),
		slurmtest.NewRun("the script alone", "scancel", "-b", "36"),
		slurmtest.NewRun("ping", "scontrol", "ping"),
		{About: "what programs look for in the configuration", Argv: []string{"slurm", "scontrol", "show", "config"}, Prepare: func(server *clitest.Server) {
			server.HandlePath("/apis/accounting.vc-batch.dev/v1alpha1", http.NotFoundHandler())
		}},
		{About: "the configuration of a cluster with an accounting database", Argv: []string{"slurm", "scontrol", "show", "config"}, Prepare: func(server *clitest.Server) {
			server.HandlePath("/apis/accounting.vc-batch.dev/v1alpha1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"accounting.vc-batch.dev/v1alpha1","resources":[]}`)
			}))
		}},
		{About: "a node with the user who drained it, and when", Argv: []string{"slurm", "scontrol", "-o", "show", "node", "r05n07"}, Prepare: func(server *clitest.Server) {
			node := golden.NewNode("r05n07")
			node.Spec.Unschedulable = true
			node.Annotations = map[string]string{keys.DrainReason: "fan broken", keys.DrainedBy: "mei", keys.DrainedAt: "2026-03-01T11:30:00Z"}
			server.SetObjects(node)
		}},
		slurmtest.NewRun("licences", "scontrol", "show", "lic"),
		slurmtest.NewRun("steps", "scontrol", "show", "step"),
		{About: "dependencies that are met, open and lost", Argv: []string{"slurm", "squeue", "-h", "-j", "39", "-o", "%i %r %E"}, Prepare: func(server *clitest.Server) {
			server.SetObjects(slurmtest.NewJob(39, "after", "ann", "default", batchv1alpha1.Pending, 10*time.Minute, slurmtest.WithReason("Dependency", ""), func(j *batchv1alpha1.Job) {
				j.Annotations[keys.Dependency] = "afterok:36:37,after:38+5,singleton"
				j.Status.Gate = &batchv1alpha1.JobGate{Met: []string{"afterok:36"}, Failed: []string{"afterok:37"}}
			}))
		}},
		slurmtest.NewRun("the script of an array by an element", "scontrol", "write", "batch_script", "42_3", "-"),
		slurmtest.WithChecks(slurmtest.NewRun("resume what was cancelled leaves its mark", "scontrol", "resume", "59"), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("stopped", keys.CancelledBy, "mei")),
		slurmtest.WithChecks(slurmtest.NewRun("requeue and hold what is over holds nothing", "scontrol", "requeuehold", "58"), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("broken.sh", keys.Hold, "")),
		slurmtest.WithChecks(slurmtest.NewRun("a dependency that cannot be read", "scontrol", "update", "JobId=38", "Dependency=afterwards:3"), slurmtest.ExpectAnnotation("held", keys.Dependency, "")),
		slurmtest.WithChecks(slurmtest.NewRun("a throttle that is no number", "scontrol", "update", "JobId=42", "ArrayTaskThrottle=many"), slurmtest.ExpectAnnotation("sweep", keys.ArrayLimit, "4")),
		slurmtest.WithChecks(slurmtest.NewRun("no throttle", "scontrol", "update", "JobId=42", "ArrayTaskThrottle=0"), slurmtest.ExpectAnnotation("sweep", keys.ArrayLimit, "")),
		slurmtest.NewRun("quietly", "scontrol", "-Q", "-d", "suspend", "36"),
		slurmtest.NewRun("a time of today that is to come", "sacct", "-X", "-a", "-S", "00:00", "-E", "23:59", "-s", "TO", "-b"),
		slurmtest.NewRun("in a cluster that there is not", "squeue", "-M", "test,nowhere", "-j", "36", "-o", "%i"),
	})
}

// Clusters are read concurrently. A missing job is an error only if it is missing in all clusters, and an unreachable
// cluster does not hide the jobs of the others.
func TestJobsOfSeveralClusters(t *testing.T) {
	t.Parallel()
	here, there := clitest.Start(t, golden.ClusterObjects()...), clitest.Start(t, golden.ClusterObjects()...)
	there.SetObjects(slurmtest.NewJob(80, "elsewhere", "mei", "default", batchv1alpha1.Pending, time.Hour))
	slurmtest.AddJobs(here)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, users: [{name: mei, user: {}}],
clusters: [{name: a, cluster: {server: %q}}, {name: b, cluster: {server: %q}}, {name: c, cluster: {server: "http://127.0.0.1:1"}}],
contexts: [{name: a, context: {cluster: a, user: mei, namespace: nlp}}, {name: b, context: {cluster: b, user: mei, namespace: nlp}}, {name: c, context: {cluster: c, user: mei}}]}`, here.URL(), there.URL())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		argv    []string
		out     string
		problem string // on stderr; empty: no message
		code    int
	}{
		"it is in the second":             {[]string{"squeue", "-M", "a,b", "-h", "-j", "80", "-o", "%i"}, "80\n", "", 0},
		"it is in the first":              {[]string{"squeue", "-M", "a,b", "-h", "-j", "36", "-o", "%i"}, "36\n", "", 0},
		"it is in none":                   {[]string{"squeue", "-M", "a,b", "-h", "-j", "4711", "-o", "%i"}, "", "squeue: error: Invalid job id specified\n", 1},
		"with the names between":          {[]string{"squeue", "-M", "a,b", "-j", "36,80", "-o", "%i"}, "CLUSTER: a\nJOBID\n36\n\nCLUSTER: b\nJOBID\n80\n", "", 0},
		"of all, one is out of reach":     {[]string{"sacct", "-X", "-n", "-M", "all", "-j", "80", "-o", "jobid"}, "80           \n", "sacct: note: cluster c is skipped", 0},
		"of those named, one is not":      {[]string{"squeue", "-M", "c,b", "-h", "-j", "80", "-o", "%i"}, "80\n", "squeue: error:", 1},
		"cancelled where it is":           {[]string{"scancel", "-M", "a,b", "80"}, "", "", 0},
		"to be cancelled, and nowhere":    {[]string{"scancel", "-M", "a,b", "4711"}, "", "scancel: error: Kill job error on job id 4711: Invalid job id specified\n", 1},
		"no name in a variable":           {[]string{"squeue", "-M", "", "-h"}, "", "squeue: error: --clusters is empty", 1},
		"a column for each, sorted":       {[]string{"sacct", "-X", "-n", "-P", "-M", "b,a", "-j", "36,80", "-o", "cluster,jobid"}, "a|36\nb|80\n", "", 0},
		"of those named, in sacct":        {[]string{"sacct", "-X", "-n", "-M", "c,b", "-j", "80", "-o", "jobid"}, "80           \n", "sacct: error:", 1},
		"steps of one that is in neither": {[]string{"sacct", "-n", "-M", "a,b", "-j", "4711", "-o", "jobid"}, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			argv := append([]string{"slurm", c.argv[0], "--kubeconfig", path}, c.argv[1:]...)
			got := golden.Run{Argv: argv, Env: map[string]string{"USER": "mei"}}.RunAgainst(t, here)
			if got.Out != c.out || got.Code != c.code || !strings.Contains(got.Err, c.problem) || c.problem == "" && got.Err != "" {
				t.Errorf("out %q, stderr %q, exit %d; want %q, %q, %d", got.Out, got.Err, got.Code, c.out, c.problem, c.code)
			}
		})
	}
}

// Programs poll single jobs, even deleted ones. This must not list all jobs.
func TestJobsThatAreNamedAreReadAlone(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"a number": {"squeue", "-j", "36"}, "a number that is gone": {"squeue", "-j", "4711"}, "a name": {"sacct", "-j", "train-sh-x7k2p"},
		"a name that is gone": {"sacct", "-j", "abc"}, "the number of an element": {"squeue", "-j", "45"}, "several": {"scancel", "37", "45", "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddJobs(server)
			golden.Run{Argv: append([]string{"slurm"}, argv...), Env: map[string]string{"USER": "mei"}}.RunAgainst(t, server)
			for _, query := range server.Queries() {
				if path, rest, _ := strings.Cut(query, "?"); strings.HasSuffix(path, "/v1alpha1/jobs") && !strings.Contains(rest, "labelSelector=vc-batch.dev") {
					t.Errorf("all jobs are read: %s", query)
				}
			}
		})
	}
}

// Every option of the listing commands is used, or its help states that it has no effect, is rejected, or describes the
// default.
func TestNoOptionIsDroppedInSilence(t *testing.T) {
	t.Parallel()
	declared := regexp.MustCompile(`\{Long: "([^"]+)"[^\n]*`)
	spoken := regexp.MustCompile(`Help: "(No effect|Not supported|[^"]*\(default\)|Same as )|Hidden: true`)
	files := map[string][]byte{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		files[entry.Name()] = append(files[entry.Name()], text...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Options that other programs use in their own files do not count.
	own := map[string][]string{
		"squeue.go": nil, "sacct.go": nil, "sinfo.go": nil, "sprio.go": nil, "scancel.go": {"target.go", "elements.go", "signal.go"}, "scontrol.go": {"control.go", "hold.go", "update.go", "update_nodes.go", "job_change.go"},
		"sbatch.go": {"submit.go", "prepare.go", "endexit.go", "testonly.go", "script.go"}, "salloc.go": {"allocation.go"}, "srun.go": {"stepvars.go"}, "install.go": nil, "translate.go": nil,
	}
	shared := maps.Clone(files)
	for file, others := range own {
		for _, name := range append(others, file) {
			if shared[name] == nil {
				t.Fatalf("there is no %s", name)
			}
			delete(shared, name)
		}
	}
	for _, file := range []string{"squeue.go", "sacct.go", "sinfo.go", "scancel.go", "scontrol.go", "sprio.go"} {
		texts := append(slices.Collect(maps.Values(shared)), files[file])
		for _, name := range own[file] {
			texts = append(texts, files[name])
		}
		looked := declared.ReplaceAll(bytes.Join(texts, nil), nil)
		for _, match := range declared.FindAllSubmatch(files[file], -1) {
			if bytes.Contains(match[0], []byte("NoEffect: true")) != bytes.Contains(match[0], []byte(`Help: "No effect`)) {
				t.Errorf("%s: --%s: NoEffect and the help differ", file, match[1])
			}
			if name := string(match[1]); !spoken.Match(match[0]) && !bytes.Contains(looked, []byte(`"`+name+`"`)) {
				t.Errorf("%s: --%s is taken, nothing looks at it, and its help does not say so", file, name)
			}
		}
	}
}

// siteProfile is the part of the profile in docs/reference/slurm.md that listings show.
const siteProfile = `
defaultPartition: gpu
maxTime: 7-0
partitions:
  gpu: {queue: research, maxTime: "1440", defaultTime: "60", maxNodes: 16}
  short: {queue: default, maxTime: "30"}
gres:
  gpu: {resource: nvidia.com/gpu, types: {a100: {nvidia.com/gpu.product: "NVIDIA-A100-SXM4-80GB,NVIDIA-A100-PCIE-40GB"}}}
`

// siteCluster returns a cluster with a profile, priorities, jobs in order in a queue, and full nodes.
func siteCluster(server *clitest.Server) {
	waits := func(id int, name, class string, place int32, change ...func(*batchv1alpha1.Job)) {
		j := slurmtest.NewJob(id, name, "mei", "research", batchv1alpha1.Pending, 20*time.Minute, change...)
		j.Spec.PriorityClassName = class
		o := submission.OptionsOf(j)
		o.Partition = "gpu"
		submission.StoreOptions(j, o)
		why := golden.WaitingExplanation()
		if why.Queue = nil; place > 0 {
			why.Queue = &schedulingv1beta1.ExplainedQueue{Name: "research", Position: place}
		}
		server.SetObjects(j, golden.NewGroup(j, schedulingv1beta1.PodGroupPending, why))
	}
	waits(70, "unplaced", "", 0)
	waits(71, "second", "", 2, func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000))}
	})
	waits(72, "first", "", 1)
	waits(73, "urgent", "high", 3)
	other := slurmtest.NewJob(74, "train-sh-x7k2p", "ann", "default", batchv1alpha1.Running, time.Hour)
	other.Namespace = "cv"
	full := slurmtest.NewJob(75, "full", "ann", "default", batchv1alpha1.Running, time.Hour, slurmtest.WithFourNodes)
	server.SetObjects(other, full, golden.NewGroup(full, schedulingv1beta1.PodGroupRunning, nil),
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "slurm-profile"}, Data: map[string]string{"profile.yaml": siteProfile}})
	for name, used := range map[string]corev1.ResourceList{
		"g1": golden.NewResources("cpu", "64", "memory", "200Gi", "nvidia.com/gpu", "8"), "g2": golden.NewResources("cpu", "16", "memory", "50Gi", "nvidia.com/gpu", "3"), "g3": nil,
	} {
		node := golden.NewNode(name)
		node.Labels = map[string]string{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
		node.Status.Allocatable = golden.NewResources("cpu", "64", "memory", "256Gi", "nvidia.com/gpu", "8", "pods", "110")
		server.SetObjects(node)
		if used != nil {
			pod := slurmtest.NewPod(full, "head", len(name)+len(used), name, corev1.PodRunning)
			pod.Name = "on-" + name
			pod.Spec.Containers[0].Resources.Requests, pod.Spec.Containers[0].Resources.Limits = used, used
			server.SetObjects(pod)
		}
	}
}

func atSite(about string, argv ...string) golden.Run {
	return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Env: map[string]string{"USER": "mei"}, Prepare: func(server *clitest.Server) {
		slurmtest.AddJobs(server)
		siteCluster(server)
		server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "held-slurm"}, Data: map[string]string{"spec.json": `{"timeLimit": 600, "jobName": "held"}`}})
	}}
}
