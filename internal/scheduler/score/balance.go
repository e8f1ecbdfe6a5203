package score

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/place"
)

// gpu is the device that counts as well as cpu and memory when it is asked for.
const gpu = "nvidia.com/gpu"

// prepareBalance lists what of a node a shape is to use evenly: cpu and memory
// always, devices when it asks for them; nothing for a shape that asks for none.
func (w *Weights) prepareBalance(resources *model.Resources, s *model.Shape) []packed {
	cpu, memory := s.Request.Get(model.CPU), s.Request.Get(model.Memory)
	list := []packed{{index: model.CPU, value: float64(cpu)}, {index: model.Memory, value: float64(memory)}}
	if index, known := resources.Find(gpu); known && s.Request.Get(index) > 0 && !w.Left[gpu] {
		return append(list, packed{index: index, value: float64(s.Request.Get(index))})
	}
	if cpu+memory == 0 {
		return nil
	}
	return list
}

// balancing is 50 to 100 points for a node: about 75 where the pod leaves the
// parts in use as even as they are, more where it makes them more even.
// kube-scheduler's NodeResourcesBalancedAllocation of 1.36.
func (r *Request) balancing(o *place.Overlay, base int) float64 {
	return 50 + (50+evenness(o, base, r.balance, 1)-evenness(o, base, r.balance, 0))/2
}

// evenness is 100 less the deviation of the parts in use, in points; with says
// whether the pod counts as well.
func evenness(o *place.Overlay, base int, of []packed, with float64) float64 {
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
