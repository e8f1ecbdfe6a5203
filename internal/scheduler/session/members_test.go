package session

import (
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

func task(cpu int64) *model.Task {
	return &model.Task{Shape: &model.Shape{Request: resource.Request{{Index: resource.CPU, Value: cpu}}}}
}

func TestTheSmallestPodsMakeTheLeastRequest(t *testing.T) {
	t.Parallel()
	tasks := []*model.Task{task(5), task(1), task(3)}
	for name, c := range map[string]struct {
		filter Filter
		need   int
		want   float64
	}{
		"of two":                         {nil, 2, 4},
		"of one, if none is needed":      {nil, 0, 1},
		"of all, if more are needed":     {nil, 9, 9},
		"of those that the filter takes": {func(t *model.Task) bool { return t != tasks[1] }, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := LeastRequest(tasks, c.filter, c.need, resource.CPU); got != c.want {
				t.Errorf("least request %g, want %g", got, c.want)
			}
		})
	}
}
