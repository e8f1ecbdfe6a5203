package translate

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/usererror"
)

// Run go test ./internal/slurm/translate -rewrite to rewrite the golden files.
var rewrite = flag.Bool("rewrite", false, "write the goldens anew")

const site = `
defaultImage: base:1
volumes:
- {name: home, mountPath: /home, hostPath: {path: /home}}
- {name: data, mountPath: /data, paths: [/lustre/data], readOnly: true, hostPath: {path: /srv/data}}
partitions:
  gpu: {queue: research, maxTime: 1-0, maxNodes: 8}
  short: {queue: nlp, defaultTime: "30"}
qos: {high: urgent}
accounts: {a1: {}, a2: {queue: nlp, namespace: team2}}
gres:
  gpu:
    resource: nvidia.com/gpu
    types: {a100: {nvidia.com/gpu.product: "A100-40,A100-80"}}
features: {nvlink: {nvlink: "true"}, ib: {net: infiniband}}
licenses: {matlab: example.com/matlab}
`

var moment = time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)

// amounts returns the resources of a node, without GPUs if gpus is empty.
func amounts(cpu, memory, gpus string) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	if gpus != "" {
		list["nvidia.com/gpu"] = resource.MustParse(gpus)
	}
	return list
}

// try translates a line of options as sbatch does.
func try(t *testing.T, line string, change ...func(*Input)) (*Result, error) {
	t.Helper()
	p, err := profile.ParseProfile([]byte(site))
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Profile: p, Title: "run.sh", Script: []byte("#!/bin/sh\n"), ScriptFile: "/home/mei/p/run.sh", Suffix: "x7k2p", Key: "ab12", Namespace: "nlp", Cluster: "prod", User: "mei", Submitter: "mei", Dir: "/home/mei/p", Host: "login1",
		Line: "sbatch " + line, Environ: []string{"PATH=/bin", "LANG=C", "EPOCHS=3", "SLURM_X=1"},
		Facts: Facts{Queues: []Queue{{Name: "default", Open: true}, {Name: "research", Open: true, Admits: func(group string) bool { return group == "gpu" }}, {Name: "nlp", Open: true}, {Name: "old"}, {Name: "root", Open: true}}, Classes: []string{"normal", "urgent"},
			Nodes: []Node{{Count: 100, Allocatable: amounts("16", "64Gi", "")}, {Count: 100, Group: "gpu", Labels: map[string]string{"nvidia.com/gpu.product": "A100-40"}, Allocatable: amounts("8", "32Gi", "4")}}}}
	for _, c := range change {
		c(&in)
	}
	words, err := directive.ParseScript([]byte("#!/bin/sh\n#SBATCH " + line))
	if err != nil {
		t.Fatal(err)
	}
	texts := directive.WordTexts(words.Components[0])
	parsed, err := request.OptionTable(request.Sbatch, "").ParseArguments(texts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := request.BuildRequest(request.Input{Command: request.Sbatch, Line: parsed, Now: moment})
	if err != nil {
		return nil, err
	}
	in.Request, in.Args = r, parsed.Operands
	return Job(in)
}

// at returns the value at a path of a Job's JSON, such as spec.tasks.0.replicas; | stands for a dot in a key.
func at(t *testing.T, r *Result, path string) string {
	t.Helper()
	object := any(r.Job)
	if rest, is := strings.CutPrefix(path, "launch."); is {
		object, path = r.Spec, rest
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	for word := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[strings.ReplaceAll(word, "|", ".")]
		case []any:
			i := 0
			if _, err := fmt.Sscan(word, &i); err != nil || i >= len(v) {
				return ""
			}
			value = v[i]
		default:
			return ""
		}
	}
	if text, is := value.(string); is {
		return text
	}
	if value == nil {
		return ""
	}
	out, _ := json.Marshal(value)
	return string(out)
}

const (
	head = "spec.tasks.0."
	pod  = head + "template.spec."
	main = pod + "containers.0."
)

// TestWhatEachOptionBecomes checks the fields that each option sets.
func TestWhatEachOptionBecomes(t *testing.T) {
	t.Parallel()
	const anti = pod + "affinity.podAntiAffinity."
	const nodes = pod + "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms."
	for line, want := range map[string]map[string]string{
		"": {"spec.queue": "default", "spec.minAvailable": "1", head + "replicas": "1", head + "name": "head", main + "resources.requests.cpu": "1", main + "resources.limits.cpu": "1", main + "image": "base:1",
			"metadata.name": "run-sh-x7k2p", "metadata.annotations.vc-batch|dev/job-name": "run.sh", "metadata.annotations.vc-batch|dev/user": "mei", "spec.ttlSecondsAfterFinished": "604800", "spec.maxRetry": "1000",
			"launch.output": "/home/mei/p/slurm-%j.out", "launch.workDir": "/home/mei/p", "launch.submitHost": "login1", "launch.nodes": "1", "launch.tasksGiven": "", pod + "activeDeadlineSeconds": "",
			"spec.policies.0.event": "PodEvicted", "spec.policies.0.action": "RestartJob", "spec.plugins.svc": ""},
		"-J 'My Job! 2'":                       {"metadata.name": "my-job-2-x7k2p", "metadata.annotations.vc-batch|dev/job-name": "My Job! 2", "launch.jobName": "My Job! 2"},
		"-J 3d":                                {"metadata.name": "job-3d-x7k2p"},
		"-p gpu":                               {"spec.queue": "research", "launch.partition": "gpu", main + "resources.limits.cpu": "1", "launch.timeLimit": "86400"},
		"-p nlp":                               {"spec.queue": "nlp"},
		"-p short":                             {"spec.queue": "nlp", "launch.timeLimit": "1800"},
		"-A a1":                                {"metadata.labels.vc-batch|dev/account": "a1", "launch.account": "a1", "spec.queue": "default"},
		"-A a2":                                {"metadata.namespace": "team2", "spec.queue": "nlp"},
		"-q high":                              {"spec.priorityClassName": "urgent", "launch.qos": "high"},
		"-q normal":                            {"spec.priorityClassName": "normal"},
		"-N4":                                  {"spec.minAvailable": "4", head + "replicas": "1", "spec.tasks.1.name": "node", "spec.tasks.1.replicas": "3", anti + "requiredDuringSchedulingIgnoredDuringExecution.0.topologyKey": "kubernetes.io/hostname", "launch.nodes": "4", "spec.plugins.svc": `["--publish-not-ready-addresses=true"]`, pod + "dnsConfig.searches": `["run-sh-x7k2p.nlp.svc.cluster.local"]`},
		"-N2-4":                                {"spec.minAvailable": "2", "spec.tasks.1.replicas": "3", "spec.tasks.1.minAvailable": "1", "launch.minNodes": "2"},
		"-N300":                                {"spec.plugins.svc": `["--publish-not-ready-addresses=true","--inject-hosts-env=false"]`},
		"-n 40":                                {"spec.tasks.1.replicas": "2", main + "resources.requests.cpu": "14", "launch.tasks": "40", "launch.tasksGiven": "true", anti: ""},
		"-n 8 -c4":                             {"spec.tasks.1.replicas": "1", main + "resources.requests.cpu": "16", "launch.cpusPerTask": "4"},
		"-n 8 --mem-per-cpu=16G":               {"spec.tasks.1.replicas": "1", main + "resources.requests.memory": "64Gi"},
		"-n 10 -p gpu":                         {"spec.tasks.1.replicas": "1", main + "resources.requests.cpu": "5", "launch.tasks": "10"},
		"-n 6 --gpus-per-task=1":               {"spec.tasks.1.replicas": "1", main + "resources.limits.nvidia|com/gpu": "3", main + "resources.requests.cpu": "3"},
		"-G 16":                                {"spec.tasks.1.replicas": "3", main + "resources.limits.nvidia|com/gpu": "4", main + "resources.requests.cpu": "1"},
		"-G 6 -n 6":                            {"spec.tasks.1.replicas": "1", main + "resources.limits.nvidia|com/gpu": "3", main + "resources.requests.cpu": "3"},
		"-n 4 --mem-per-cpu=30G -G4":           {"spec.tasks.1.replicas": "3", main + "resources.limits.nvidia|com/gpu": "1"},
		"-n 4 --gres=npu:1":                    {"spec.tasks.1": "", main + "resources.limits.huawei|com/Ascend910": "1"},
		"-n 8 --ntasks-per-gpu=2":              {"spec.tasks.1": "", main + "resources.limits.nvidia|com/gpu": "4", "launch.gpus": ""},
		"-G 8 --gpus-per-task=2 -N2":           {"launch.tasks": "", main + "resources.limits.nvidia|com/gpu": "4", main + "resources.requests.cpu": "2"},
		"--gpus-per-node=4 --gpus-per-task=2":  {"launch.gpusOnNode": "4", main + "resources.requests.cpu": "2", "launch.gpusPerTask": "2"},
		"--gres=gpu:2 --gpus-per-node=2":       {"launch.gpusOnNode": "2"},
		"--gres=gpu:2":                         {"launch.gpusOnNode": "2", "launch.gpusPerNode": ""},
		"-G a100:2 --gpus-per-node=1":          {nodes + "0.matchExpressions.0.key": "nvidia.com/gpu.product", "spec.tasks.1.replicas": "1"},
		"-N2 -n4 --exclusive":                  {main + "resources.requests.cpu": "2", main + "resources.limits": "", "launch.exclusive": "true"},
		"-N2 -n4 --exclusive=user":             {main + "resources.limits.cpu": "2", "launch.exclusive": ""},
		"-N4 -n2":                              {"spec.minAvailable": "2", "spec.tasks.1.replicas": "1"},
		"-n 8 --ntasks-per-node=3":             {"spec.tasks.1.replicas": "2", main + "resources.requests.cpu": "3", "launch.tasksPerNode": "3", "launch.tasks": "8"},
		"-N2 --ntasks-per-node=8 -c4":          {main + "resources.requests.cpu": "32", "launch.tasks": "16"},
		"--gpus-per-node=4 --ntasks-per-gpu=2": {main + "resources.requests.cpu": "8", "launch.tasks": "8"},
		"--gpus-per-node=4 --cpus-per-gpu=6":   {main + "resources.requests.cpu": "24", main + "resources.limits.nvidia|com/gpu": "4", "launch.gpusPerNode": "4", "launch.gpusOnNode": "4"},
		"--mem=4096":                           {main + "resources.requests.memory": "4Gi", main + "resources.limits.memory": "4Gi", "launch.memPerNode": "4096"},
		"--mem=4G":                             {main + "resources.requests.memory": "4Gi"},
		"--mem-per-cpu=2G -c4":                 {main + "resources.requests.memory": "8Gi", "launch.memPerCPU": "2048"},
		"--mem-per-gpu=8G --gpus=2":            {main + "resources.requests.memory": "16Gi", "launch.memPerGPU": "8192", "launch.gpus": "2"},
		"--mem=0 --exclusive":                  {main + "resources.requests.memory": ""},
		"--mem=0":                              {main + "resources.requests.memory": "", main + "resources.limits.memory": ""},
		"--mem-per-gpu=0 -G1":                  {main + "resources.requests.memory": ""},
		"--tasks-per-node=4 -N2":               {"launch.tasksPerNode": "4"},
		"--tasks=4 -N2":                        {"launch.tasksPerNode": "4"},
		"-p old,nlp":                           {"spec.queue": "nlp", "launch.partition": "nlp"},
		"-p default,nlp --nice=5":              {"spec.queue": "default"},
		"--gres=gpu:a100:8":                    {main + "resources.limits.nvidia|com/gpu": "8", nodes + "0.matchExpressions.0.key": "nvidia.com/gpu.product", nodes + "0.matchExpressions.0.values": `["A100-40","A100-80"]`},
		"--gres=npu:2,shard:1":                 {main + "resources.limits.huawei|com/Ascend910": "2", main + "resources.limits.volcano|sh/vgpu-number": "1"},
		"-G 8 -N4":                             {main + "resources.limits.nvidia|com/gpu": "2"},
		"-G 8 --gpus-per-node=4":               {"spec.tasks.1.replicas": "1", main + "resources.limits.nvidia|com/gpu": "4"},
		"--gpus-per-task=2 -n4 -N2":            {main + "resources.limits.nvidia|com/gpu": "4"},
		"--tres-per-task=cpu=3,gres/gpu=1 -n2 -N1": {main + "resources.requests.cpu": "6", main + "resources.limits.nvidia|com/gpu": "2"},
		"-L matlab:2":                            {main + "resources.limits.example|com/matlab": "2"},
		"-t 2:00:00":                             {pod + "activeDeadlineSeconds": "7200", "spec.runningEstimate": "2h0m0s", "launch.timeLimit": "7200"},
		"-t UNLIMITED":                           {pod + "activeDeadlineSeconds": "", "spec.runningEstimate": ""},
		"-t 90":                                  {pod + "activeDeadlineSeconds": "5400"},
		"-a 0-15:4%2":                            {"metadata.annotations.vc-batch|dev/array": "0,4,8,12", "metadata.annotations.vc-batch|dev/array-limit": "2", head + "replicas": "4", "spec.minAvailable": "1", "launch.array": `{"count":4,"elements":"0,4,8,12","max":12,"min":0,"step":4}`, "launch.output": "/home/mei/p/slurm-%A_%a.out", "spec.policies": "", head + "policies.1.event": "PodEvicted", head + "policies.1.action": "RestartPod"},
		"-a 0-3 -N2":                             {head + "replicas": "8", head + "partitionPolicy": `{"minPartitions":1,"partitionSize":2,"totalPartitions":4}`, "spec.minAvailable": "2", "launch.nodes": "2", head + "policies.1.action": "RestartPartition", "spec.tasks.1": ""},
		"-d afterok:42:43":                       {"metadata.annotations.vc-batch|dev/dependency": "afterok:42:43", "launch.dependency": "afterok:42:43"},
		"-d singleton --kill-on-invalid-dep=yes": {"metadata.annotations.vc-batch|dev/kill-on-invalid-dependency": "true"},
		"-b now+1hour":                           {"metadata.annotations.vc-batch|dev/begin": "2026-11-21T15:30:00Z"},
		"-H":                                     {"metadata.annotations.vc-batch|dev/hold": "user"},
		"-w n[1-2] -N2":                          {nodes + "0.matchExpressions.0": `{"key":"kubernetes.io/hostname","operator":"In","values":["n1","n2"]}`},
		"-w n[1-3]":                              {"spec.minAvailable": "3"},
		"-x n1":                                  {nodes + "0.matchExpressions.0": `{"key":"kubernetes.io/hostname","operator":"NotIn","values":["n1"]}`},
		"-C nvlink|ib":                           {nodes + "0.matchExpressions.0.key": "nvlink", nodes + "1.matchExpressions.0": `{"key":"net","operator":"In","values":["infiniband"]}`},
		"-C nvlink&ib -x n1":                     {nodes + "0.matchExpressions.0.key": "kubernetes.io/hostname", nodes + "0.matchExpressions.2.key": "net"},
		"--prefer=ib":                            {pod + "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.preference.matchExpressions.0.key": "net"},
		"--exclusive":                            {anti + "requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchExpressions": `[{"key":"volcano.sh/job-name","operator":"Exists"}]`, anti + "requiredDuringSchedulingIgnoredDuringExecution.0.namespaceSelector": "{}"},
		"--exclusive=user":                       {anti + "requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchExpressions.1": `{"key":"vc-batch.dev/user","operator":"NotIn","values":["mei"]}`, head + "template.metadata.labels.vc-batch|dev/user": "mei"},
		"--switches=1":                           {"spec.networkTopology": `{"highestTierAllowed":1,"mode":"hard"}`},
		"--switches=1@60":                        {"spec.networkTopology.mode": "soft"},
		"--switches=2":                           {"spec.networkTopology.mode": "soft"},
		"--segment=4 -N4":                        {"spec.networkTopology": `{"highestTierAllowed":1,"mode":"hard"}`},
		"--spread-job -N2":                       {anti + "preferredDuringSchedulingIgnoredDuringExecution.0.weight": "100"},
		"--tmp=10G":                              {main + "resources.requests.ephemeral-storage": "10Gi"},
		"--no-requeue":                           {"spec.policies.0.action": "TerminateJob"},
		"-N2":                                    {"spec.tasks.1.policies.0.event": "PodFailed"},
		"-k -N2":                                 {"spec.tasks.1.policies": ""},
		"--signal=B:USR2@30 -t5":                 {"launch.signal": `{"batch":true,"number":12,"seconds":30}`},
		"-o out/%x-%4j.log -e err.%t --open-mode=append": {"launch.output": "/home/mei/p/out/%x-%4j.log", "launch.error": "/home/mei/p/err.%t", "launch.append": "true"},
		"-o /dev/null -i /lustre/data/in":                {"launch.output": "/dev/null", "launch.input": "/data/in"},
		"-o /tmp/x":                                      {"launch.output": ""},
		"-o /lustre/data/x":                              {"launch.output": ""},
		"-D /home/other":                                 {"launch.workDir": "/home/other", "launch.output": "/home/other/slurm-%j.out"},
		"-D sub":                                         {"launch.workDir": "/home/mei/p/sub"},
		"'--container-image=nvcr.io#nvidia/pytorch:24.01'": {main + "image": "nvcr.io/nvidia/pytorch:24.01"},
		"--container-image=docker://a/b":                   {main + "image": "a/b"},
		"--container-workdir=/w":                           {"launch.workDir": "/w"},
		"--container-mounts=/home/mei/x:/x:ro":             {main + "volumeMounts.2": `{"mountPath":"/x","name":"home","readOnly":true,"subPath":"mei/x"}`},
		"--comment=hi --wckey=k --extra=e --mail-user=m":   {"metadata.annotations.vc-batch|dev/slurm": `{"comment":"hi","wckey":"k","extra":"e","workDir":"/home/mei/p","stdOut":"/home/mei/p/slurm-%j.out","stdErr":"/home/mei/p/slurm-%j.out","stdIn":"/dev/null","submitHost":"login1","command":"/home/mei/p/run.sh","submitLine":"sbatch --comment=hi --wckey=k --extra=e --mail-user=m","tasks":1,"cpusPerTask":1,"requeue":true,"mailUser":"m"}`},
		"--mpi=ssh -N2":                                    {"spec.plugins.ssh": "[]"},
		"--hint=nomultithread":                             {head + "topologyPolicy": ""},
	} {
		r, err := try(t, line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		for path, value := range want {
			if got := at(t, r, path); got != value {
				t.Errorf("sbatch %s: %s is %q, want %q", line, path, got, value)
			}
		}
	}
}

func TestWhatCannotBeTranslated(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-p old2":                                    "invalid partition specified: old2\nBatch job submission failed: Invalid partition name specified|open queues: default, nlp, research",
		"-p gpu -N9":                                 "Batch job submission failed: Node count specification invalid|the node limit of partition gpu is 8",
		"-p gpu -t 2-0":                              "Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)|the maximum is 1-00:00:00",
		"-A a3":                                      "Batch job submission failed: Invalid account or account/partition combination specified|known accounts: a1, a2",
		"-q low":                                     "Batch job submission failed: Invalid qos specification|known: high, normal, urgent",
		"--gpus=7 --nodes=2":                         "--gpus=7 cannot be divided evenly among --nodes=2|use --gpus-per-node=4 or --gpus=8",
		"--gres=fpga:1":                              "Batch job submission failed: Invalid generic resource (gres) specification: fpga|known resources: gpu, npu, shard; the site's profile can define others",
		"--gres=gpu:h100:1":                          "Batch job submission failed: Invalid generic resource (gres) specification: gpu:h100|types of gpu: a100",
		"-N2 -n5 --ntasks-per-node=2":                "Batch job submission failed: Task count specification invalid|2 nodes with --ntasks-per-node=2 can run only 4 tasks, but --ntasks=5 was requested: use --nodes=3 or --ntasks-per-node=3",
		"-n9 --ntasks-per-gpu=2 -G4":                 "Batch job submission failed: Task count specification invalid|4 GPUs with --ntasks-per-gpu=2 can run only 8 tasks, but --ntasks=9 was requested",
		"-N4 -G8 --gpus-per-node=4":                  "--gpus=8 and --gpus-per-node=4 conflict for a job with 4 nodes|use --gpus=16, or remove one of the options",
		"-G7 --gpus-per-node=4":                      "--gpus=7 and --gpus-per-node=4 conflict for a job with 2 nodes|use --gpus=8, or remove one of the options",
		"-n3 -G8 --gpus-per-task=2":                  "--gpus=8 and --gpus-per-task=2 conflict for a job with 3 tasks|use --gpus=6, or remove one of the options",
		"--gres=gpu:4 -N1 -n3 --gpus-per-task=2":     "--gres=gpu:4 and --gpus-per-task=2 conflict for a job with 3 tasks per node|use --gpus-per-node=6 or --ntasks-per-node=2",
		"--gres=gpu:2 --gpus-per-node=4":             "--gres=gpu:2 and --gpus-per-node=4 specify different numbers of GPUs per node|use only one of these options",
		"--cpus-per-gpu=2":                           "--cpus-per-gpu requires GPUs, but no GPUs are requested|request GPUs with --gpus or --gpus-per-node",
		"--ntasks-per-gpu=2":                         "--ntasks-per-gpu requires GPUs, but no GPUs are requested|request GPUs with --gpus or --gpus-per-node",
		"--cpus-per-gpu=2 -G1 --tres-per-task=cpu=3": "--cpus-per-gpu=2 and --tres-per-task=cpu=3 both specify the number of CPUs|use only one of these options",
		"--mem-per-gpu=1G":                           "--mem-per-gpu requires GPUs, but no GPUs are requested|request GPUs with --gpus or --gpus-per-node",
		"-C fast":                                    "Batch job submission failed: Invalid feature specification: fast|features: ib, nvlink",
		"-w n1 -N2":                                  "--nodes=2 is more than the number of nodes in --nodelist (1)|list more nodes, or request fewer",
		"-D /etc":                                    "--chdir=/etc is not on any volume that the site's profile defines|directories on volumes: /home, /lustre/data; for a directory in the image, use --container-workdir",
		"-L ansys":                                   `--licenses: the site's profile does not define license "ansys"|the site's profile can map a license to an extended resource`,
		"--segment=3 -N4":                            "--segment=3 does not divide --nodes=4 evenly|set --nodes to a multiple of --segment",
		"--segment=2 -N4":                            "--segment=2 must equal --nodes=4 here, because groups that are smaller than the job are not supported|remove --segment, or use --switches",
		"-o x%a":                                     `Invalid --output specification|"x%a": %a is replaced by an array index, but the job is not an array`,
		"-i /etc/passwd":                             "--input=/etc/passwd is not on any volume that the site's profile defines|directories on volumes: /home, /lustre/data",
		"-d expand:42":                               `Batch job submission failed: Job dependency problem|"expand" is not a dependency type; use after, afterany, afterok, afternotok, aftercorr or singleton`,
		"--container-image=/x.sqsh":                  "--container-image=/x.sqsh: squashfs files cannot be run here|push the image to a registry, and specify it as registry/name:tag",
		"--container-mounts=/etc:/etc":               "--container-mounts: /etc is not on any volume that the site's profile defines|directories on volumes: /home, /lustre/data",
		"--container-mounts=x":                       "Invalid --container-mounts specification|use a comma-separated list of SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths",
	} {
		_, err := try(t, line)
		if err == nil {
			t.Errorf("sbatch %s is no mistake", line)
			continue
		}
		f := usererror.FromError(err)
		if got := f.What + "|" + f.Hint; got != want {
			t.Errorf("sbatch %s:\n got %s\nwant %s", line, got, want)
		}
	}
	_, err := try(t, "", func(in *Input) { in.Profile = &profile.Profile{} })
	if want := "no image is specified, and the site's profile has no default image"; err == nil || err.Error() != want || !strings.Contains(usererror.FromError(err).Hint, "specify --container-image") {
		t.Errorf("without an image: %v", err)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                          "",
		"--export=NONE":             "",
		"--export=NIL":              "",
		"--export=ALL":              "LANG=C EPOCHS=3",
		"--export=EPOCHS":           "EPOCHS=3",
		"--export=EPOCHS,A=1,B=x":   "EPOCHS=3 A=1 B=x",
		"--export=ALL,EPOCHS=5":     "LANG=C EPOCHS=5",
		"--export=PATH":             "PATH=/bin",
		"--export=NONE,A=1":         "A=1",
		`"--export=A='x,y',EPOCHS"`: "A=x,y EPOCHS=3",
	} {
		r, err := try(t, line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if r.Secret != nil {
			got = launchconfig.SplitEnvironment(r.Secret.Data[launchconfig.EnvironmentKey])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s exports %q, want %q", line, got, want)
		}
	}
	r, err := try(t, "--export=NOSUCH")
	if err != nil || !slices.Contains(r.Warnings, "--export: variable NOSUCH is not set") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := try(t, "--export=ALL", func(in *Input) { in.Environ = []string{"X=" + strings.Repeat("x", 200_000)} }); err == nil || !strings.Contains(err.Error(), "the limit is 131072") {
		t.Errorf("a large environment: %v", err)
	}
}

func TestJobsOfTheOwnMachineGetTheWholeEnvironment(t *testing.T) {
	t.Parallel()
	const environ = "PATH=/opt/conda/bin:/bin LD_LIBRARY_PATH=/opt/lib HOME=/home/mei TERM=xterm multiplier=5 SLURM_JOB_ID=7 SBATCH_EXPORT=x PWD=/x CUDA_VISIBLE_DEVICES=3 KUBECONFIG=/k"
	const all = "PATH=/opt/conda/bin:/bin LD_LIBRARY_PATH=/opt/lib HOME=/home/mei TERM=xterm multiplier=5"
	cases := map[string]struct {
		line   string
		change func(*Input)
		want   string
		noted  bool
	}{
		"process nodes":                       {"", func(in *Input) { in.Facts.Helper = true }, all, false},
		"process nodes that cannot be listed": {"", func(in *Input) { in.Profile = &profile.Profile{DefaultImage: processImage} }, all, false},
		"process nodes, nothing":              {"--export=NONE", func(in *Input) { in.Facts.Helper = true }, "", false},
		"process nodes of a strict site":      {"", func(in *Input) { in.Facts.Helper, in.Profile = true, &profile.Profile{Export: "NONE"} }, "", false},
		"containers":                          {"", func(*Input) {}, "", true},
		"containers, everything":              {"--export=ALL", func(*Input) {}, "multiplier=5", false},
		"containers, nothing":                 {"--export=NONE", func(*Input) {}, "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := try(t, c.line, func(in *Input) {
				in.Environ = strings.Fields(environ)
				c.change(in)
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if r.Secret != nil {
				got = launchconfig.SplitEnvironment(r.Secret.Data[launchconfig.EnvironmentKey])
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("exported (-want +got)\n%s", diff)
			}
			if noted := slices.Contains(r.NoteTexts(), nothingExported); noted != c.noted {
				t.Errorf("the note is there: %v, want %v", noted, c.noted)
			}
		})
	}
}

// Variables that describe a pod of one job would mislead the launcher of another job.
func TestAJobThatAnotherSubmitsInheritsNothingOfItsPod(t *testing.T) {
	t.Parallel()
	const environ = "VC_POD_NAME=a-head-0 VC_JOB_ID=7 OMPI_MCA_plm=^slurm HYDRA_LAUNCHER=ssh MASTER_ADDR=a-head-0 KUBERNETES_PORT=1 N=2"
	for inJob, want := range map[bool]string{true: "N=2", false: "VC_POD_NAME=a-head-0 VC_JOB_ID=7 OMPI_MCA_plm=^slurm HYDRA_LAUNCHER=ssh MASTER_ADDR=a-head-0 N=2"} {
		r, err := try(t, "--export=ALL", func(in *Input) { in.Environ, in.InJob = strings.Fields(environ), inJob })
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(launchconfig.SplitEnvironment(r.Secret.Data[launchconfig.EnvironmentKey]), " "); got != want {
			t.Errorf("in a job: %v: exported %q, want %q", inJob, got, want)
		}
	}
}

func TestJobsRunAsTheServiceAccountOfTheirNamespace(t *testing.T) {
	t.Parallel()
	site := func(image string) *profile.Profile {
		return &profile.Profile{DefaultImage: image, ServiceAccount: "slurm-job"}
	}
	cases := map[string]struct {
		facts            Facts
		profile          *profile.Profile
		account, program string
	}{
		"process nodes":                   {Facts{ServiceAccount: true}, site(processImage), "slurm-job", "/usr/local/bin/vcctl"},
		"containers":                      {Facts{ServiceAccount: true}, site("debian:12"), "slurm-job", ""},
		"a namespace without the account": {Facts{}, site(processImage), "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := try(t, "-N2", func(in *Input) {
				in.Facts, in.Profile, in.Program, in.ScriptFile = c.facts, c.profile, "/usr/local/bin/vcctl", "/home/mei/run.sh"
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Spec.ServiceAccount != c.account || r.Spec.Program != c.program || r.Spec.Command != "/home/mei/run.sh" {
				t.Errorf("the launcher is told %+v", r.Spec)
			}
			for _, task := range r.Job.Spec.Tasks {
				if got := task.Template.Spec.ServiceAccountName; got != c.account {
					t.Errorf("task %s runs as %q, want %q", task.Name, got, c.account)
				}
			}
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-o /tmp/x":        "no shared volume contains /tmp; the output is in the pod log",
		"-n 40 -v":         "no single node of queue default has enough resources for the job, so it uses 3 nodes",
		"--signal=USR1@90": "--signal=USR1@90 requires a time limit, but --time is not set",
	} {
		r, err := try(t, line)
		if err != nil || !slices.Contains(r.NoteTexts(), want) {
			t.Errorf("%s: %v, %v; want %q", line, r, err, want)
		}
	}
}

// Every created job passes the validation of the admission webhook.
func TestWhatIsMadeIsAllowed(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "-N4 --ntasks-per-node=8 -c4 --gres=gpu:a100:8 --mem=200G -t 2:00:00", "-a 0-99%10", "-a 0-3 -N2", "-N2-4 -k", "--exclusive=user --spread-job -N2", "-d afterany:1 -b now+1hour -H", "--switches=1 -N2", "--mpi=ssh -N2", "-a 1-9:2 --no-requeue"} {
		r, err := try(t, line)
		if err != nil {
			t.Fatal(err)
		}
		job := r.Job.DeepCopy()
		batchv1alpha1.DefaultJob(job, "volcano")
		if problems := batchv1alpha1.ValidateJob(job, nil); len(problems) > 0 {
			t.Errorf("sbatch %s: %v", line, problems)
		}
	}
}

// TestTheSkeleton checks a complete example.
func TestTheSkeleton(t *testing.T) {
	t.Parallel()
	r, err := try(t, "-N4 --ntasks-per-node=8 -c4 --gres=gpu:a100:8 --mem=200G -t 2:00:00 -p nlp run.sh a b", func(in *Input) { in.Title = "run.sh" })
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, object := range []any{r.Job, r.ConfigMap, r.Secret, r.Made} {
		one, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(one))
	}
	const file = "testdata/skeleton.yaml"
	if *rewrite {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Error(diff)
	}
}
