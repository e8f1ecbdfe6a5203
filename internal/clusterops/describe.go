package clusterops

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/describe"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// describable lists the resources of the kinds that kubectl has no description of its own for.
var describable = map[string]schema.GroupVersionResource{
	"Job":      batchv1alpha1.GroupVersion.WithResource("jobs"),
	"Queue":    schedulingv1beta1.GroupVersion.WithResource("queues"),
	"PodGroup": schedulingv1beta1.GroupVersion.WithResource("podgroups"),
	"CronJob":  batchv1alpha1.GroupVersion.WithResource("cronjobs"),
	"JobFlow":  flowv1alpha1.GroupVersion.WithResource("jobflows"),
}

// Describe returns a description of an object and its events, as `kubectl describe` prints it. The kind is Job, Queue,
// Node, Pod, PodGroup, CronJob or JobFlow.
func (c *Cluster) Describe(_ context.Context, kind, namespace, name string) (string, error) {
	describer, ok := describe.DescriberFor(schema.GroupKind{Kind: kind}, c.Config)
	if resource, isOurs := describable[kind]; isOurs {
		scope := meta.RESTScopeNamespace
		if namespace == "" {
			scope = meta.RESTScopeRoot
		}
		describer, ok = describe.GenericDescriberFor(&meta.RESTMapping{Resource: resource, GroupVersionKind: resource.GroupVersion().WithKind(kind), Scope: scope}, c.Config)
	}
	if !ok {
		return "", fmt.Errorf("cannot describe objects of kind %s", kind)
	}
	return describer.Describe(namespace, name, describe.DescriberSettings{ShowEvents: true, ChunkSize: 500})
}
