package explain

import (
	"math"
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

func TestAmountsBeyondAQuantityAreBounded(t *testing.T) {
	resources := model.New().Resources
	list := ResourceList([]float64{0, 1 << 63, 0, math.Inf(1)}, resources)
	if got := list.Memory().Value(); len(list) != 1 || got != resource.MaxSum {
		t.Errorf("list %v, want only memory, with %d", list, resource.MaxSum)
	}
	if got := formatRoundedUp("memory", 1<<63); got != "4Ei" {
		t.Errorf("amount %s, want 4Ei", got)
	}
}

func TestExplanationOfNoQueue(t *testing.T) {
	if e := ToAPIExplanation(&Verdict{}, nil, model.New().Resources); e.Queue != nil {
		t.Errorf("queue %v, want none", e.Queue)
	}
}
