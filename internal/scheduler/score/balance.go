package score

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// gpu is the device that is balanced like cpu and memory if a pod requests it.
const gpu = "nvidia.com/gpu"

// prepareBalance returns the resources whose use should be balanced for a shape: cpu and memory, and GPUs if the
// shape requests them. It returns nil if the shape requests none of them.
func (w *Weights) prepareBalance(resources *resource.Names, s *model.Shape) []packed {
	cpu, memory := s.Request.Get(resource.CPU), s.Request.Get(resource.Memory)
	list := []packed{{index: resource.CPU, value: float64(cpu)}, {index: resource.Memory, value: float64(memory)}}
	if index, known := resources.Find(gpu); known && s.Request.Get(index) > 0 && !w.Left[gpu] {
		return append(list, packed{index: index, value: float64(s.Request.Get(index))})
	}
	if cpu+memory == 0 {
		return nil
	}
	return list
}

// balanceScore returns the balance score of a node, from 50 to 100. It is about 75 if the pod does not change how
// even the used fractions are, and more if it makes them more even. The score matches kube-scheduler's
// NodeResourcesBalancedAllocation (1.37).
func (r *Request) balanceScore(o *overlay.Overlay, base int) float64 {
	return 50 + (50+measureEvenness(o, base, r.balance, 1)-measureEvenness(o, base, r.balance, 0))/2
}

// measureEvenness returns 100 minus the deviation of the used fractions, in points. with is 1 to include the pod's
// request, and 0 otherwise.
func measureEvenness(o *overlay.Overlay, base int, of []packed, with float64) float64 {
	var parts [3]float64
	n, sum := 0, 0.0
	for i := range of {
		alloc, idle := o.Nodes.Alloc[base+of[i].index], o.Idle[base+of[i].index]
		if alloc <= 0 {
			continue
		}
		part := min((float64(alloc-idle)+with*of[i].value)/float64(alloc), 1)
		parts[n] = part
		n, sum = n+1, sum+part
	}
	if n == 2 {
		return (1 - math.Abs(parts[0]-parts[1])/2) * 100
	}
	mean, squares := sum/float64(max(n, 1)), 0.0
	for _, part := range parts[:n] {
		squares += (part - mean) * (part - mean)
	}
	return (1 - math.Sqrt(squares/float64(max(n, 1)))) * 100
}
