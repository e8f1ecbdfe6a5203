package step

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// countPerNode returns the number of accelerators that a step requires on each of its nodes. room is the number of
// accelerators per node. ok is false if a node can never provide the required number.
func (r *gpuRequest) countPerNode(counts []int, room int) (each []int, ok bool) {
	switch {
	case r.PerTask > 0:
		for _, tasks := range counts {
			each = append(each, tasks*r.PerTask)
		}
	case r.Total > 0:
		each = launchconfig.SpreadTasks(r.Total, len(counts), 0)
	default:
		each = launchconfig.RepeatCount(r.PerNode, len(counts))
	}
	return each, slices.Max(each) <= room
}

// countAccelerators returns the number of accelerators in a list such as 2, a100:2 or a100:2,v100:1.
func countAccelerators(list string) (int, bool) {
	total := 0
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word[strings.LastIndex(word, ":")+1:])
		if err != nil || n < 0 {
			return 0, false
		}
		total += n
	}
	return total, true
}

// parseGres returns the number of GPUs in the value of --gres, which contains entries such as gpu[:type][:count].
// Steps do not count other resources; they are returned in others.
func parseGres(list string) (count int, others []string, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimPrefix(word, "gres/")
		name, rest, _ := strings.Cut(word, ":")
		name, number, equals := strings.Cut(name, "=")
		if equals {
			rest = number
		}
		switch {
		case name == "none":
		case name != "gpu":
			others = append(others, word)
		default:
			n, err := strconv.Atoi(rest[strings.LastIndex(rest, ":")+1:])
			if err != nil {
				n = 1 // the entry has no count, and possibly no type
			}
			if n < 0 {
				return 0, nil, false
			}
			count += n
		}
	}
	return count, others, true
}

// readAccelerators parses the options that request accelerators only for the step.
func (r *optionReader) readAccelerators() {
	read := func(name string, set func(*gpuRequest, int)) {
		text, given := r.parsed.LastValue(name)
		if !given {
			return
		}
		n, ok := countAccelerators(text)
		if !ok {
			r.setError("Invalid numeric value %q for --%s.", text, name)
			return
		}
		if r.options.begin.GPUs == nil {
			r.options.begin.GPUs = &gpuRequest{}
		}
		set(r.options.begin.GPUs, n)
	}
	read("gpus-per-task", func(g *gpuRequest, n int) { g.PerTask = n })
	read("gpus-per-node", func(g *gpuRequest, n int) { g.PerNode = n })
	read("gpus", func(g *gpuRequest, n int) { g.Total = n })
	text, given := r.parsed.LastValue("gres")
	if !given || r.err != nil {
		return
	}
	n, others, ok := parseGres(text)
	switch {
	case !ok:
		r.setError("Invalid --gres specification %q", text)
	case len(others) > 0:
		r.options.idle = append(r.options.idle, "--gres="+strings.Join(others, ","))
	}
	if len(others) == 0 || n > 0 {
		if r.options.begin.GPUs == nil {
			r.options.begin.GPUs = &gpuRequest{}
		}
		r.options.begin.GPUs.PerNode = n
	}
}

// inheritGPUs uses the number of accelerators per task that the job requested, unless the step has its own request.
func (o *stepOptions) inheritGPUs(spec *launchconfig.Spec) {
	if o.begin.GPUs != nil || spec.GPUsPerTask == "" || spec.GPUsOnNode == 0 {
		return
	}
	if n, ok := countAccelerators(spec.GPUsPerTask); ok && n > 0 {
		o.begin.GPUs = &gpuRequest{PerTask: n, Inherited: true}
	}
}

// gpuVariables returns a task's environment variables about accelerators. A step that requests none shares the job's
// accelerators; the script can choose among them with CUDA_VISIBLE_DEVICES.
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
	if each := r.options.begin.GPUs.PerTask; each > 0 {
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
