package framework_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
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

// TestPodsBeyondTheSizeOfACompleteGroupCountTowardTheMinimum has a group that has its size, in a gang that needs one pod more.
func TestPodsBeyondTheSizeOfACompleteGroupCountTowardTheMinimum(t *testing.T) {
	size, least := int32(2), int32(1)
	c := model.New()
	c.Apply(model.NodeFrom(make.Node("a").CPU("4").Obj()))
	c.Apply(model.GangFrom(make.Gang("g").Min(3).SubGroups(schedulingv1beta1.SubGroupPolicySpec{
		Name: "parts", SubGroupSize: &size, MinSubGroups: &least, MatchLabelKeys: []string{"part"},
	}).Obj()))
	for i, node := range []string{"a", "a", ""} {
		pod := make.Pod(fmt.Sprintf("p-%d", i)).Gang("g").CPU("1").Label("part", "0")
		if node != "" {
			pod.On(node).Phase(corev1.PodRunning)
		}
		c.Apply(model.TaskFrom(pod.Obj(), true))
	}
	j := &framework.Job{Gang: c.Gangs[make.Namespace+"/g"]}
	j.LoadFromGang(nil, &framework.Rules{Gang: true, GroupRules: framework.GroupRules{Groups: true}})
	tasks := j.MinimumTasks()
	if len(tasks) != 1 || tasks[0].Name != "p-2" {
		t.Errorf("the minimum lacks %d pods, want p-2 only", len(tasks))
	}
}
