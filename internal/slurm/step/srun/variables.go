package srun

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
)

// ofThePod lists the environment variables whose values differ between pods.
var ofThePod = []string{
	"HOSTNAME", launchconfig.EnvPod, launchconfig.EnvTask, launchconfig.EnvNode, launchconfig.EnvAddress, "VC_TASK_INDEX", "VK_TASK_INDEX", "SLURMD_NODENAME", jobclient.EnvVolumes,
}

// stepVariables returns the variables that all tasks of the step receive in addition to the variables of their
// containers. These are the variables of srun that differ from the variables of the head's container, and the variables
// that describe the step.
func (r *runner) stepVariables() []string {
	var env []string
	for _, entry := range exportedVariables(os.Environ(), r.options.Export) {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(r.job.Container, entry) && !slices.Contains(ofThePod, name) {
			env = append(env, entry)
		}
	}
	total := 0
	for _, count := range r.given.Counts {
		total += count
	}
	step, tasks := strconv.Itoa(r.given.Step), strconv.Itoa(total)
	list, nodes := hostlist.CompressNames(r.given.Hosts), strconv.Itoa(len(r.given.Hosts))
	perNode := launchconfig.FormatRunLength(r.given.Counts)
	env = append(env,
		"SLURM_STEP_ID="+step, "SLURM_STEPID="+step, "SLURM_STEP_NODELIST="+list, "SLURM_NODELIST="+list,
		"SLURM_STEP_NUM_NODES="+nodes, "SLURM_NNODES="+nodes, "SLURM_STEP_NUM_TASKS="+tasks, "SLURM_NTASKS="+tasks, "SLURM_NPROCS="+tasks,
		"SLURM_STEP_TASKS_PER_NODE="+perNode, "SLURM_TASKS_PER_NODE="+perNode, "SLURM_NTASKS_PER_NODE="+strconv.Itoa(slices.Max(r.given.Counts)),
		"SLURM_LAUNCH_NODE_IPADDR="+r.client.Pod.Address, "SLURM_SRUN_COMM_HOST="+r.client.Pod.Address,
	)
	if r.options.CPUsGiven {
		env = append(env, "SLURM_CPUS_PER_TASK="+strconv.Itoa(r.options.Begin.CPUs))
	}
	if r.options.Label {
		env = append(env, "SLURM_LABELIO=1")
	}
	if r.options.Name != "" {
		env = append(env, "SLURM_JOB_NAME="+r.options.Name)
	}
	return env
}

// taskVariables returns the variables that are specific to one task.
func (r *runner) taskVariables(rank, local, node, first int) []string {
	ranks := make([]string, r.given.Counts[node])
	for i := range ranks {
		ranks[i] = strconv.Itoa(first + i)
	}
	env := []string{
		"SLURM_PROCID=" + strconv.Itoa(rank), "SLURM_LOCALID=" + strconv.Itoa(local), "SLURM_NODEID=" + strconv.Itoa(node), "SLURM_GTIDS=" + strings.Join(ranks, ","),
	}
	return append(env, r.gpuVariables(local, node)...)
}

// exportedVariables returns the variables selected by a value of --export, which is ALL, NONE, or a list of names and
// NAME=value entries that may contain ALL. PATH and Slurm's own variables are always included.
func exportedVariables(env []string, export string) []string {
	if export == "" || export == "ALL" {
		return env
	}
	var through []string
	own := func(entry string) bool {
		return strings.HasPrefix(entry, "SLURM_") || strings.HasPrefix(entry, "PATH=")
	}
	words := strings.Split(export, ",")
	all := slices.Contains(words, "ALL")
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if all || own(entry) || slices.Contains(words, name) {
			through = append(through, entry)
		}
	}
	for _, word := range words {
		if strings.Contains(word, "=") {
			through = launchconfig.MergeVariables(through, []string{word})
		}
	}
	return through
}

// gpuVariables returns a task's environment variables about accelerators. If a step requests no accelerators, its tasks
// can use all of the job's accelerators, and the script can choose among them with CUDA_VISIBLE_DEVICES.
func (r *runner) gpuVariables(local, node int) []string {
	onNode := r.job.Spec.GPUsOnNode
	switch {
	case r.given.GPUs == nil && onNode > 0:
		return []string{"SLURM_STEP_GPUS=" + launchconfig.OrdinalList(onNode)}
	case r.given.GPUs == nil:
		return nil
	}
	all := r.given.GPUs[node]
	own := all
	env := []string{"SLURM_STEP_GPUS=" + joinNumbers(all), "SLURM_GPUS_ON_NODE=" + strconv.Itoa(len(all))}
	if each := r.options.Begin.GPUs.PerTask; each > 0 {
		own = all[local*each : (local+1)*each]
		env = append(env, "SLURM_GPUS_PER_TASK="+strconv.Itoa(each))
	}
	return append(env, "CUDA_VISIBLE_DEVICES="+joinNumbers(own))
}

func joinNumbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
