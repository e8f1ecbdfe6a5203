package translate

import (
	"fmt"
	"slices"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// isGPU reports whether a generic resource is a GPU.
func isGPU(g optionvalue.Gres) bool { return g.Name == "gpu" }

// sizing is the topic that determines the size of the job.
type sizing struct {
	topic
	gpus gpuRequest
}

// gpuRequest holds the requested GPUs, in total, per node and per task, and the other generic resources.
type gpuRequest struct {
	total, perNode, perTask []optionvalue.Gres
	// areFromGres is true if --gres set the number of GPUs per node.
	areFromGres bool
	otherGres   []optionvalue.Gres
}

// counts returns the number of GPUs in total, per node and per task.
func (g *gpuRequest) counts() (total, perNode, perTask int64) {
	return sumCounts(g.total, "gpu"), sumCounts(g.perNode, "gpu"), sumCounts(g.perTask, "gpu")
}

// normalizeGPUs reduces the options about GPUs to three numbers: in total, per node and per task. --gres=gpu sets the
// number per node. --ntasks-per-gpu, together with a number of tasks, sets the total.
func (b *sizing) normalizeGPUs() {
	r, g := b.r, &b.gpus
	g.total, g.perNode, g.perTask = slices.Clone(r.GPUs), slices.Clone(r.GPUsPerNode), slices.Clone(r.GPUsPerTask)
	ofGres := slices.DeleteFunc(slices.Clone(r.Gres), func(g optionvalue.Gres) bool { return !isGPU(g) })
	switch {
	case len(ofGres) == 0:
	case len(g.perNode) == 0:
		g.areFromGres, g.perNode = true, ofGres
	case sumCounts(ofGres, "gpu") != sumCounts(g.perNode, "gpu"):
		b.addError(usererror.Errorf("use only one of these options", "%s and %s specify different numbers of GPUs per node", r.OptionText("gres"), r.OptionText("gpus-per-node")))
	}
	g.otherGres = slices.DeleteFunc(slices.Clone(r.Gres), isGPU)
	if r.TasksPerGPU > 0 && r.Tasks > 0 && len(g.total)+len(g.perNode) == 0 {
		g.total = []optionvalue.Gres{{Name: "gpu", Count: divideRoundingUp(r.Tasks, r.TasksPerGPU)}}
		b.recordFields("ntasks-per-gpu", containerPath("resources.limits[nvidia.com/gpu]"))
	}
	inheritType(g.perNode, g.total, g.perTask)
	inheritType(g.total, g.perNode, g.perTask)
	inheritType(g.perTask, g.perNode, g.total)
}

// inheritType sets the GPU type of an entry without a type, if another option specifies one.
func inheritType(to []optionvalue.Gres, from ...[]optionvalue.Gres) {
	if len(to) != 1 || to[0].Type != "" {
		return
	}
	for _, other := range from {
		if len(other) == 1 && other[0].Name == to[0].Name && other[0].Type != "" {
			to[0].Type = other[0].Type
			return
		}
	}
}

// gresPerNode returns the generic resources of each pod, as determined by all options together. Because all pods are
// identical, it returns an error if a total cannot be divided evenly among the pods.
func (b *sizing) gresPerNode(s *size) ([]optionvalue.Gres, error) {
	all := slices.Clone(b.gpus.otherGres)
	if len(b.gpus.perNode) > 0 { // tasks share the GPUs, and the total follows from the number per node
		return append(all, b.gpus.perNode...), nil
	}
	var uneven error
	for _, g := range b.gpus.total {
		if each := divideRoundingUp(g.Count, int64(s.nodes)); g.Count%int64(s.nodes) != 0 {
			uneven = usererror.Errorf(fmt.Sprintf("use --gpus-per-node=%d or --gpus=%d", each, each*int64(s.nodes)), "%s cannot be divided evenly among --nodes=%d", b.totalGPUOptions(), s.nodes)
		}
		g.Count /= int64(s.nodes)
		all = append(all, g)
	}
	if len(b.gpus.perTask) == 0 {
		return all, uneven
	}
	all = slices.Clone(b.gpus.otherGres)
	for _, g := range b.gpus.perTask {
		g.Count *= s.onNode
		all = append(all, g)
	}
	return all, uneven
}

// totalGPUOptions returns the options that determine the total number of GPUs, as the user specified them.
func (b *sizing) totalGPUOptions() string {
	if given := b.r.OptionText("gpus"); given != "" {
		return given
	}
	return b.r.OptionText("ntasks-per-gpu") + " with " + b.r.OptionText("ntasks")
}

// sumCounts returns the sum of the counts of all resources with the given name.
func sumCounts(all []optionvalue.Gres, name string) int64 {
	var n int64
	for _, g := range all {
		if g.Name == name {
			n += g.Count
		}
	}
	return n
}

// formatGPUs formats GPUs as in the value of an option, for example 4 or a100:4.
func formatGPUs(all []optionvalue.Gres) string {
	text := ""
	for _, g := range all {
		if text != "" {
			text += ","
		}
		if g.Type != "" {
			text += g.Type + ":"
		}
		text += formatNumber(g.Count)
	}
	return text
}

// divideRoundingUp returns a divided by by, rounded up.
func divideRoundingUp(a, by int64) int64 { return (a + by - 1) / by }
