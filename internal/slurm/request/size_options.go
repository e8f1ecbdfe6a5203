package request

import (
	"errors"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/usererror"
)

var sizeOptions = grouped("Size",
	Option{Option: need("nodes", 'N', "N[-MAX]", "Number of nodes, or minimum and maximum"), Env: "NNODES", set: setNodes},
	Option{Option: need("ntasks", 'n', "N", "Number of tasks that srun starts"), Env: "NTASKS", set: number("ntasks", func(r *Request) *int64 { return &r.Tasks })},
	Option{Option: need("ntasks-per-node", 0, "N", "Tasks per node"), Env: "NTASKS_PER_NODE", set: number("ntasks-per-node", func(r *Request) *int64 { return &r.TasksPerNode })},
	alias("tasks-per-node", "ntasks-per-node", getopt.Required),
	alias("ntasks-per-tres", "ntasks-per-gpu", getopt.Required),
	Option{Option: need("ntasks-per-gpu", 0, "N", "Tasks per GPU"), Env: "NTASKS_PER_GPU", set: number("ntasks-per-gpu", func(r *Request) *int64 { return &r.TasksPerGPU })},
	Option{Option: need("cpus-per-task", 'c', "N", "CPUs per task"), Env: "CPUS_PER_TASK", set: number("cpus-per-task", func(r *Request) *int64 { return &r.CPUsPerTask })},
	Option{Option: need("mem", 0, "SIZE", "Memory per node in MiB, or with the suffix K, M, G or T"), Env: "MEM_PER_NODE", set: memory("mem", func(r *Request) **optionvalue.MiB { return &r.Mem })},
	Option{Option: need("mem-per-cpu", 0, "SIZE", "Memory per CPU"), Env: "MEM_PER_CPU", set: memory("mem-per-cpu", func(r *Request) **optionvalue.MiB { return &r.MemPerCPU })},
	Option{Option: need("mem-per-gpu", 0, "SIZE", "Memory per GPU"), Env: "MEM_PER_GPU", set: memory("mem-per-gpu", func(r *Request) **optionvalue.MiB { return &r.MemPerGPU })},
	Option{Option: need("tmp", 0, "SIZE", "Local disk space per node"), Env: "TMP", set: setTmp},
)

var deviceOptions = grouped("GPUs and other devices",
	Option{Option: need("gres", 0, "NAME[:TYPE]:N", "Generic resources per node: gpu:2, gpu:a100:4"), Env: "GRES", set: gres("gres", optionvalue.ParseGres, func(r *Request) *[]optionvalue.Gres { return &r.Gres })},
	Option{Option: need("gpus", 'G', "[TYPE:]N", "Total number of GPUs"), Env: "GPUS", set: gres("gpus", optionvalue.ParseGPUs, func(r *Request) *[]optionvalue.Gres { return &r.GPUs })},
	Option{Option: need("gpus-per-node", 0, "[TYPE:]N", "GPUs per node"), Env: "GPUS_PER_NODE", set: gres("gpus-per-node", optionvalue.ParseGPUs, func(r *Request) *[]optionvalue.Gres { return &r.GPUsPerNode })},
	Option{Option: need("gpus-per-task", 0, "[TYPE:]N", "GPUs per task"), Env: "GPUS_PER_TASK", set: gres("gpus-per-task", optionvalue.ParseGPUs, func(r *Request) *[]optionvalue.Gres { return &r.GPUsPerTask })},
	Option{Option: need("cpus-per-gpu", 0, "N", "CPUs per GPU"), Env: "CPUS_PER_GPU", set: number("cpus-per-gpu", func(r *Request) *int64 { return &r.CPUsPerGPU })},
	Option{Option: need("tres-per-task", 0, "cpu=N,gres/gpu=N", "CPUs and GPUs per task"), Env: "TRES_PER_TASK", set: setTRES},
	Option{Option: need("licenses", 'L', "NAME[:N]", "Licenses defined in the profile"), Env: "LICENSES", set: text(func(r *Request) *string { return &r.Licenses })},
)

// number returns the setter for an option whose value is a positive number.
func number(option string, field func(*Request) *int64) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		n, err := optionvalue.ParseNumber(text)
		if err != nil {
			return usererror.Errorf(hintOf(err), "Invalid numeric value \"%s\" for --%s.", text, option)
		}
		*field(r) = n
		return nil
	}
}

// memory returns the setter for an option whose value is an amount of memory.
func memory(option string, field func(*Request) **optionvalue.MiB) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		m, err := optionvalue.ParseMemory(text)
		if err != nil {
			return invalid(option, err)
		}
		*field(r) = &m
		return nil
	}
}

// gres returns the setter for an option whose value is a list of generic resources.
func gres(option string, parse func(string) ([]optionvalue.Gres, error), field func(*Request) *[]optionvalue.Gres) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		list, err := parse(text)
		if err != nil {
			return invalid(option, err)
		}
		*field(r) = list
		return nil
	}
}

func setNodes(r *Request, text string, _ bool) error {
	c, err := optionvalue.ParseCount(text)
	if err != nil {
		return usererror.Errorf(hintOf(err), "Invalid node count specification: %s", text)
	}
	r.Nodes = &c
	return nil
}

func setTmp(r *Request, text string, _ bool) error {
	m, err := optionvalue.ParseMemory(text)
	if err != nil {
		return invalid("tmp", err)
	}
	r.Tmp = m
	return nil
}

func setTRES(r *Request, text string, _ bool) error {
	cpus, gpus, err := optionvalue.ParseTRES(text)
	if err != nil {
		return invalid("tres-per-task", err)
	}
	if cpus > 0 {
		r.CPUsPerTask = cpus
	}
	if len(gpus) > 0 {
		r.GPUsPerTask = gpus
	}
	return nil
}

// invalid returns Slurm's error for an invalid value. Slurm's commands exit with 255 in that case.
func invalid(option string, err error) error {
	return usererror.Errorf(hintOf(err), "Invalid --%s specification", option).WithCode(usererror.CodeDirective)
}

func hintOf(err error) string {
	var bad *optionvalue.Bad
	if errors.As(err, &bad) {
		return bad.Hint
	}
	return err.Error()
}
