package tuitest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
)

// SwitchesWorld returns twelve nodes below four switches below two spines, with a job on six of the nodes.
func SwitchesWorld() []runtime.Object {
	var objects []runtime.Object
	for leaf := range 4 {
		var members []topologyv1alpha1.MemberSpec
		for i := range 3 {
			name := fmt.Sprintf("gpu%d%d", leaf, i)
			objects = append(objects, demo.NewNode(name, "", "64", "512Gi", 4))
			members = append(members, newMember(topologyv1alpha1.MemberTypeNode, name))
		}
		objects = append(objects, hyperNode(fmt.Sprintf("leaf%d", leaf), 1, members...))
	}
	for spine := range 2 {
		objects = append(objects, hyperNode(fmt.Sprintf("spine%d", spine), 2,
			newMember(topologyv1alpha1.MemberTypeHyperNode, fmt.Sprintf("leaf%d", 2*spine)), newMember(topologyv1alpha1.MemberTypeHyperNode, fmt.Sprintf("leaf%d", 2*spine+1))))
	}
	objects = append(objects, demo.NewQueue("root", "", 1, nil), demo.NewQueue("default", "root", 1, demo.WithQueueLimits(0, 24, 48, 0)))
	job := demo.JobPlan{ID: 7, Namespace: "nlp", Name: "ring", Queue: "default", User: "mei", Phase: batchv1alpha1.Running, Tasks: 6, GPUs: 4, CPU: "16", Memory: "64Gi",
		Age: hour, Ran: 59 * minute, Nodes: []string{"gpu00", "gpu01", "gpu02", "gpu10", "gpu11", "gpu12"}}
	return demo.FillInStatus(append(objects, job.NewObjects()...))
}

func hyperNode(name string, tier int, members ...topologyv1alpha1.MemberSpec) *topologyv1alpha1.HyperNode {
	return &topologyv1alpha1.HyperNode{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("hypernode-" + name), CreationTimestamp: demo.TimeBeforeNow(24 * hour)},
		Spec:       topologyv1alpha1.HyperNodeSpec{Tier: tier, Members: members},
	}
}

func newMember(kind topologyv1alpha1.MemberType, name string) topologyv1alpha1.MemberSpec {
	return topologyv1alpha1.MemberSpec{Type: kind, Selector: topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: name}}}
}
