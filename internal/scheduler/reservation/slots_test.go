package reservation

import (
	"math"
	"testing"

	"github.com/vc-batch/vc/internal/model/resource"
)

func TestTheScarcestResourceLimitsTheSlots(t *testing.T) {
	t.Parallel()
	request := resource.Request{{Index: resource.CPU, Value: 2}, {Index: resource.Pods, Value: 1}}
	row := func(cpu, pods int64) []int64 {
		row := make([]int64, max(resource.CPU, resource.Pods)+1)
		row[resource.CPU], row[resource.Pods] = cpu, pods
		return row
	}
	for name, c := range map[string]struct {
		request      resource.Request
		idle, future []int64
		want         int32
	}{
		"cpu":                                    {request, row(5, 9), row(9, 9), 2},
		"pods":                                   {request, row(9, 1), row(9, 9), 1},
		"what pods that are promised leave":      {request, row(9, 9), row(3, 9), 1},
		"a node whose capacity shrank":           {request, row(-4, 9), row(9, 9), 0},
		"nothing, because nothing is requested":  {nil, row(0, 0), row(0, 0), math.MaxInt16},
		"nothing of a resource that is not used": {resource.Request{{Index: resource.CPU}}, row(0, 0), row(0, 0), math.MaxInt16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := SlotsIn(c.request, c.idle, c.future); got != c.want {
				t.Errorf("%d slots, want %d", got, c.want)
			}
		})
	}
}
