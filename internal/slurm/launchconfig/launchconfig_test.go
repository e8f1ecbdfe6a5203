package launchconfig

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func podOf(t *testing.T, env map[string]string) Pod {
	t.Helper()
	p, err := ReadPod(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func head(more ...string) map[string]string {
	env := map[string]string{EnvPod: "run-x7k2p-head-0", EnvJob: "run-x7k2p", EnvTask: "head", EnvJobID: "42", EnvNode: "r05n07", EnvAddress: "10.0.0.7"}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return env
}

func TestTheScriptFindsWhatSlurmSays(t *testing.T) {
	t.Parallel()
	spec := Spec{JobName: "run.sh", Partition: "nlp", Account: "lab", QOS: "high", User: "mei", Cluster: "prod", Nodes: 4, Tasks: 32, TasksGiven: true, TasksPerNode: 8,
		CPUsPerTask: 4, CPUs: 32, MemPerNode: 204800, GPUsPerNode: "a100:8", GPUsOnNode: 8, SubmitDir: "/home/mei", SubmitHost: "login1", TimeLimit: 7200,
		Dependency: "afterok:41", ExportEnv: "NONE"}
	pod := podOf(t, head(EnvRestarts, "2"))
	place, err := FindPlace(&spec, &pod)
	if err != nil {
		t.Fatal(err)
	}
	got := SlurmVariables(&spec, &pod, place.Hosts, time.Unix(1_000_000, 0))
	want := strings.Fields(`SLURM_JOB_ID=42 SLURM_JOBID=42 SLURM_JOB_NAME=run.sh SLURM_JOB_PARTITION=nlp SLURM_JOB_ACCOUNT=lab SLURM_JOB_QOS=high SLURM_JOB_USER=mei
		SLURM_CLUSTER_NAME=prod SLURM_SUBMIT_DIR=/home/mei SLURM_SUBMIT_HOST=login1 SLURM_JOB_START_TIME=1000000 SLURM_JOB_END_TIME=1007200 SLURM_RESTART_COUNT=2
		SLURM_JOB_DEPENDENCY=afterok:41 SLURM_EXPORT_ENV=NONE
		SLURM_JOB_NODELIST=run-x7k2p-head-0,run-x7k2p-node-[0-2] SLURM_NODELIST=run-x7k2p-head-0,run-x7k2p-node-[0-2] SLURM_JOB_NUM_NODES=4 SLURM_NNODES=4
		SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_GTIDS=0 SLURMD_NODENAME=r05n07 SLURM_JOB_CPUS_PER_NODE=32(x4) SLURM_CPUS_ON_NODE=32
		SLURM_TASKS_PER_NODE=8(x4) SLURM_JOB_GPUS=0,1,2,3,4,5,6,7 SLURM_GPUS_ON_NODE=8
		SLURM_NTASKS=32 SLURM_NPROCS=32 SLURM_NTASKS_PER_NODE=8 SLURM_CPUS_PER_TASK=4 SLURM_MEM_PER_NODE=204800 SLURM_GPUS_PER_NODE=a100:8`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"MASTER_ADDR=run-x7k2p-head-0", "MASTER_PORT=15042"}, MeetingVariables(&pod, place.Hosts)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasNotAskedForIsNotSaid(t *testing.T) {
	t.Parallel()
	pod := podOf(t, head())
	got := SlurmVariables(&Spec{JobName: "j", Nodes: 1, CPUs: 2, Tasks: 2}, &pod, []string{"h"}, time.Unix(0, 0))
	for _, name := range []string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_GPUS", "SLURM_JOB_GPUS",
		"SLURM_RESTART_COUNT", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_ACCOUNT"} {
		if value := VariableValue(got, name); value != "" {
			t.Errorf("%s=%s: Lightning takes SLURM_NTASKS for a step, and tests for the others are common", name, value)
		}
	}
	if VariableValue(got, "SLURM_TASKS_PER_NODE") != "2" {
		t.Errorf("%q", got)
	}
	if end := VariableValue(got, "SLURM_JOB_END_TIME"); end != "31536000" {
		t.Errorf("a job without a limit ends at %q, want a year after its start as in Slurm", end)
	}
}

func TestElementsOfAnArray(t *testing.T) {
	t.Parallel()
	spec := Spec{JobName: "a", Nodes: 2, CPUs: 1, Array: &Array{Count: 4, Min: 0, Max: 12, Step: 4}}
	env := map[string]string{EnvPod: "a-x-head-5", EnvJob: "a-x", EnvTask: "head", EnvJobID: "42", EnvElement: "44", EnvIndex: "8"}
	pod := podOf(t, env)
	place, err := FindPlace(&spec, &pod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Place{NodeID: 1, Hosts: []string{"a-x-head-4", "a-x-head-5"}}, place); diff != "" || place.IsHead() || place.OwnHost() != "a-x-head-5" {
		t.Errorf("pod 5 of elements of two pods is the second of its element: %s", diff)
	}
	got := SlurmVariables(&spec, &pod, place.Hosts, time.Unix(0, 0))
	for name, want := range map[string]string{"SLURM_JOB_ID": "44", "SLURM_ARRAY_JOB_ID": "42", "SLURM_ARRAY_TASK_ID": "8", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "0",
		"SLURM_ARRAY_TASK_MAX": "12", "SLURM_ARRAY_TASK_STEP": "4", "SLURM_JOB_NODELIST": "a-x-head-[4-5]"} {
		if value := VariableValue(got, name); value != want {
			t.Errorf("%s=%q, want %q", name, value, want)
		}
	}
}

func TestPodThatDoesNotBelongToTheJobIsReported(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		env  map[string]string
		want string
	}{
		"a pod of no job":               {map[string]string{}, "this is not a pod of a batch job"},
		"a pod with another name":       {map[string]string{EnvPod: "p", EnvJob: "j", EnvTask: "head"}, `the name of pod "p" does not match j-head-INDEX`},
		"more nodes than there are":     {map[string]string{EnvPod: "j-node-1", EnvJob: "j", EnvTask: "node"}, `pod "j-node-1" has node number 2, but the number of nodes is 2`},
		"a restart count that is none":  {map[string]string{EnvPod: "j-head-0", EnvJob: "j", EnvTask: "head", EnvRestarts: "x"}, `VC_RESTARTS="x" is not a number`},
		"an element's index that fails": {map[string]string{EnvPod: "j-head-0", EnvJob: "j", EnvTask: "head", EnvIndex: "1-2"}, `VC_ARRAY_INDEX="1-2" is not a number`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ReadPod(func(name string) string { return c.env[name] })
			if err == nil {
				_, err = FindPlace(&Spec{Nodes: 2}, &p)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestTasksAreSpreadAsSlurmDoes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		tasks, nodes, perNode int
		want                  string
	}{
		"evenly":                          {8, 4, 0, "2(x4)"},
		"the first nodes get one more":    {7, 4, 0, "2(x3),1"},
		"full nodes first, when told":     {7, 3, 3, "3(x2),1"},
		"a node":                          {5, 1, 0, "5"},
		"more nodes than tasks":           {2, 3, 0, "1(x2),0"},
		"different runs stand for itself": {5, 4, 0, "2,1(x3)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := FormatRunLength(SpreadTasks(c.tasks, c.nodes, c.perNode)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestNoTaskIsLostWhenTheyAreSpread(t *testing.T) {
	propertytest.Check(t, 1000, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 50).Draw(t, "nodes")
		tasks := rapid.IntRange(0, 500).Draw(t, "tasks")
		sum, least, most := 0, tasks, 0
		for _, n := range SpreadTasks(tasks, nodes, 0) {
			sum, least, most = sum+n, min(least, n), max(most, n)
		}
		if sum != tasks || most-least > 1 && tasks >= nodes {
			t.Fatalf("%v", SpreadTasks(tasks, nodes, 0))
		}
	})
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	names := Names{JobID: "44", ArrayID: "42", ArrayIndex: 13, JobName: "train", User: "mei", Host: "h0", Node: 2, Step: "3", Task: 7, Restarts: 1}
	cases := map[string]string{
		"slurm-%A_%a.out": "slurm-42_13.out", "%j": "44", "%J": "44.3", "%5a": "00013", "%b": "3", "%x-%u-%N-%n": "train-mei-h0-2", "%s.%t.%r": "3.7.1", "%%j": "%j",
		`\%j`: "%j", `\\%j`: "%j", "%12j": "0000000044", "%4x": "train", "%99999999999999999999j": "0000000044",
	}
	for pattern, want := range cases {
		if got, err := names.ExpandPattern(pattern); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
	batch := names
	batch.Step, batch.ArrayIndex = "batch", -1
	if got, _ := batch.ExpandPattern("%J"); got != "44" {
		t.Errorf("%%J of a script is %s", got)
	}
	for pattern, want := range map[string]string{"%a": "not an array", "%": "ends with %", "x%3": "ends with %", "%q": "is unknown"} {
		if _, err := batch.ExpandPattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}

func FuzzFileNames(f *testing.F) {
	for _, seed := range []string{"slurm-%j.out", "%4A_%a", `\%`, "%", "%%", "%0", "é%x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		names := Names{JobID: "42", ArrayID: "42", ArrayIndex: 1, JobName: "j"}
		text, err := names.ExpandPattern(pattern)
		if err == nil && !strings.Contains(pattern, "%") && !strings.HasPrefix(pattern, `\`) && text != pattern {
			t.Errorf("%q became %q", pattern, text)
		}
	})
}

func TestLaterVariablesTakeThePlaceOfEarlierOnes(t *testing.T) {
	t.Parallel()
	got := MergeVariables([]string{"A=1", "B=2"}, []string{"A=3", "C="})
	if diff := cmp.Diff([]string{"A=3", "B=2", "C="}, got); diff != "" {
		t.Error(diff)
	}
	env := []string{"A=1", "MULTI=line\nline", "E="}
	if diff := cmp.Diff(env, SplitEnvironment(JoinEnvironment(env))); diff != "" {
		t.Error(diff)
	}
	if got := SplitEnvironment([]byte("=x\x00nothing\x00\x00A=1\x00")); !cmp.Equal(got, []string{"A=1"}) {
		t.Errorf("%q", got)
	}
}

func TestMPIStartsItsDaemonsByOurAgent(t *testing.T) {
	t.Parallel()
	env := MPIVariables("/opt/vc/run/hostfile", "/opt/vc/bin/vc-rsh", false)
	for name, want := range map[string]string{"OMPI_MCA_plm": "^slurm", "OMPI_MCA_ras": "^slurm", "PRTE_MCA_plm": "^slurm", "PRTE_MCA_ras": "^slurm", "I_MPI_HYDRA_BOOTSTRAP": "ssh",
		"HYDRA_BOOTSTRAP": "ssh", "OMPI_MCA_plm_rsh_agent": "/opt/vc/bin/vc-rsh", "OMPI_MCA_orte_default_hostfile": "/opt/vc/run/hostfile", "HYDRA_HOST_FILE": "/opt/vc/run/hostfile",
		"OMPI_ALLOW_RUN_AS_ROOT": ""} {
		if got := VariableValue(env, name); got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
	if got := HostfileText([]string{"a", "b"}, []int{2, 0}); got != "a slots=2\nb slots=1\n" {
		t.Error(got)
	}
}

func TestAReportFitsIntoATerminationMessage(t *testing.T) {
	t.Parallel()
	r := Report{Code: 3, Usage: Usage{CPUMillis: 1234}}
	for i := range 300 {
		r.Steps = append(r.Steps, Step{ID: i, Name: "python", Nodes: "train-x7k2p-head-0,train-x7k2p-node-[0-14]", Tasks: 128, Start: 1_700_000_000, End: 1_700_000_001})
	}
	text := r.EncodeText()
	if len(text) > MaxReport {
		t.Fatalf("%d bytes", len(text))
	}
	back, ok := ParseReport(text)
	if !ok || back.Code != 3 || back.CPUMillis != 1234 || back.Forgotten+len(back.Steps) != 300 || back.Steps[len(back.Steps)-1].ID != 299 || len(back.Steps) < 15 {
		t.Errorf("%t %d %d steps", ok, back.Forgotten, len(back.Steps))
	}
	if _, ok := ParseReport("Killed"); ok {
		t.Error("anything is taken for a report")
	}
}

// If the job controller does not set the array index, a pod derives its index from its own number.
func TestElementsWithoutOurController(t *testing.T) {
	t.Parallel()
	spec := Spec{JobName: "sweep", Nodes: 2, Array: &Array{Count: 5, Min: 1, Max: 9, Step: 1, Elements: "1-3,7,9"}}
	for pod, want := range map[string]string{"j-head-0": "1 j_1", "j-head-5": "3 j_3", "j-head-6": "7 j_7", "j-head-9": "9 j_9"} {
		p, err := ReadPod(func(name string) string {
			return map[string]string{EnvPod: pod, EnvJob: "j", EnvTask: "head", EnvRetries: "2"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FindPlace(&spec, &p); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %s", p.ArrayIndex, p.SlurmJobID()); got != want || p.Restarts != 2 {
			t.Errorf("%s is %s with %d restarts, want %s", pod, got, p.Restarts, want)
		}
	}
	p := Pod{Name: "j-head-10", Job: "j", Task: "head", ArrayIndex: -1}
	if _, err := FindPlace(&spec, &p); err == nil || err.Error() != `pod "j-head-10" is at position 5, but the array 1-3,7,9 has fewer tasks` {
		t.Errorf("%v", err)
	}
	for elements, want := range map[string]bool{"": false, "0-x": false, "x": false, "4": true} {
		if _, ok := (&Array{Elements: elements}).ElementIndex(0); ok != want {
			t.Errorf("%q: %v", elements, ok)
		}
	}
}
