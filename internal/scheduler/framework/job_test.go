package framework_test

import (
	"fmt"
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/test/make"
)

// A sum that overflows would be negative and appear as if nothing were requested.
func TestSumOfHugeTasksIsBounded(t *testing.T) {
	c := model.New()
	c.Apply(model.GangFrom(make.Gang("g").Obj()))
	for i := range 9000 {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("p-%d", i)).Gang("g").Memory("1000Ti").Obj(), true))
	}
	if got := framework.SumRequests(c.Gangs[make.Namespace+"/g"].Tasks).Get(resource.Memory); got != resource.MaxSum {
		t.Errorf("sum %d, want the bound %d", got, resource.MaxSum)
	}
}
