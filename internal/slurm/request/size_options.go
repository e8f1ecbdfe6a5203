package request

import (
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

var sizeOptions = setGroup("Size",
	Option{Option: newRequired("nodes", 'N', "N[-MAX]", "Number of nodes, or minimum and maximum"), Env: "NNODES", set: setNodes},
	Option{Option: newRequired("ntasks", 'n', "N", "Number of tasks that srun starts"), Env: "NTASKS", set: storeNumber("ntasks", func(r *Request) *int64 { return &r.Tasks })},
	Option{Option: newRequired("ntasks-per-node", 0, "N", "Tasks per node"), Env: "NTASKS_PER_NODE", set: storeNumber("ntasks-per-node", func(r *Request) *int64 { return &r.TasksPerNode })},
	newAlias("tasks-per-node", "ntasks-per-node", getopt.Required),
	newAlias("ntasks-per-tres", "ntasks-per-gpu", getopt.Required),
	Option{Option: newRequired("ntasks-per-gpu", 0, "N", "Tasks per GPU"), Env: "NTASKS_PER_GPU", set: storeNumber("ntasks-per-gpu", func(r *Request) *int64 { return &r.TasksPerGPU })},
	Option{Option: newRequired("cpus-per-task", 'c', "N", "CPUs per task"), Env: "CPUS_PER_TASK", set: storeNumber("cpus-per-task", func(r *Request) *int64 { return &r.CPUsPerTask })},
	Option{Option: newRequired("mem", 0, "SIZE", "Memory per node in MiB, or with the suffix K, M, G or T"), Env: "MEM_PER_NODE", set: storeMemory("mem", func(r *Request) **optionvalue.MiB { return &r.Mem })},
	Option{Option: newRequired("mem-per-cpu", 0, "SIZE", "Memory per CPU"), Env: "MEM_PER_CPU", set: storeMemory("mem-per-cpu", func(r *Request) **optionvalue.MiB { return &r.MemPerCPU })},
	Option{Option: newRequired("mem-per-gpu", 0, "SIZE", "Memory per GPU"), Env: "MEM_PER_GPU", set: storeMemory("mem-per-gpu", func(r *Request) **optionvalue.MiB { return &r.MemPerGPU })},
	Option{Option: newRequired("tmp", 0, "SIZE", "Local disk space per node"), Env: "TMP", set: setTmp},
)

var deviceOptions = setGroup("GPUs and other devices",
	Option{Option: newRequired("gres", 0, "NAME[:TYPE]:N", "Generic resources per node: gpu:2, gpu:a100:4"), Env: "GRES", set: storeGres("gres", optionvalue.ParseGres, func(r *Request) *[]optionvalue.Gres { return &r.Gres })},
	Option{Option: newRequired("gpus", 'G', "[TYPE:]N", "Total number of GPUs"), Env: "GPUS", set: storeGres("gpus", optionvalue.ParseGPUs, func(r *Request) *[]optionvalue.Gres { return &r.GPUs })},
	Option{Option: newRequired("gpus-per-node", 0, "[TYPE:]N", "GPUs per node"), Env: "GPUS_PER_NODE", set: storeGres("gpus-per-node", optionvalue.ParseGPUs, func(r *Request) *[]optionvalue.Gres { return &r.GPUsPerNode })},
	Option{Option: newRequired("gpus-per-task", 0, "[TYPE:]N", "GPUs per task"), Env: "GPUS_PER_TASK", set: storeGres("gpus-per-task", optionvalue.ParseGPUs, func(r *Request) *[]optionvalue.Gres { return &r.GPUsPerTask })},
	Option{Option: newRequired("cpus-per-gpu", 0, "N", "CPUs per GPU"), Env: "CPUS_PER_GPU", set: storeNumber("cpus-per-gpu", func(r *Request) *int64 { return &r.CPUsPerGPU })},
	Option{Option: newRequired("tres-per-task", 0, "cpu=N,gres/gpu=N", "CPUs and GPUs per task"), Env: "TRES_PER_TASK", set: setTRES},
	Option{Option: newRequired("licenses", 'L', "NAME[:N]", "Licenses defined in the profile"), Env: "LICENSES", set: storeText(func(r *Request) *string { return &r.Licenses })},
)

// storeNumber returns the setter for an option whose value is a positive number.
func storeNumber(option string, field func(*Request) *int64) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		n, err := optionvalue.ParseNumber(text)
		if err != nil {
			return usererror.Errorf(optionvalue.HintOf(err), "Invalid numeric value \"%s\" for --%s.", text, option)
		}
		*field(r) = n
		return nil
	}
}

// storeMemory returns the setter for an option whose value is an amount of memory.
func storeMemory(option string, field func(*Request) **optionvalue.MiB) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		m, err := optionvalue.ParseMemory(text)
		if err != nil {
			return invalidValueError(option, err)
		}
		*field(r) = &m
		return nil
	}
}

// storeGres returns the setter for an option whose value is a list of generic resources.
func storeGres(option string, parse func(string) ([]optionvalue.Gres, error), field func(*Request) *[]optionvalue.Gres) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		list, err := parse(text)
		if err != nil {
			return invalidValueError(option, err)
		}
		*field(r) = list
		return nil
	}
}

func setNodes(r *Request, text string, _ bool) error {
	c, err := optionvalue.ParseCount(text)
	if err != nil {
		return usererror.Errorf(optionvalue.HintOf(err), "Invalid node count specification: %s", text)
	}
	r.Nodes = &c
	return nil
}

func setTmp(r *Request, text string, _ bool) error {
	m, err := optionvalue.ParseMemory(text)
	if err != nil {
		return invalidValueError("tmp", err)
	}
	r.Tmp = m
	return nil
}

func setTRES(r *Request, text string, _ bool) error {
	cpus, gpus, err := optionvalue.ParseTRES(text)
	if err != nil {
		return invalidValueError("tres-per-task", err)
	}
	if cpus > 0 {
		r.CPUsPerTask = cpus
	}
	if len(gpus) > 0 {
		r.GPUsPerTask = gpus
	}
	return nil
}

// invalidValueError returns Slurm's error for an invalid value. Its exit code is 255, as in Slurm.
func invalidValueError(option string, err error) error {
	return usererror.Errorf(optionvalue.HintOf(err), "Invalid --%s specification", option).WithCode(slurmerror.CodeDirective)
}
