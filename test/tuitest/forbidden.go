package tuitest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
)

// hideObjects reduces a cluster to the objects that a user with few permissions may see. With own, these are all nodes
// and queues, and the other objects of namespace nlp; otherwise they are only the queues.
func hideObjects(objects []runtime.Object, own bool) (seen []runtime.Object, hidden []snapshot.Hidden) {
	for _, kind := range []string{"jobs", snapshot.PodGroups, snapshot.Pods, "events", "nodes"} {
		h := snapshot.Hidden{Kind: kind, Why: fmt.Sprintf("%s is forbidden: User \"kim\" cannot list resource \"%s\" at the cluster scope", kind, kind)}
		switch {
		case own && kind == "nodes":
			continue
		case own:
			h.Namespaces = []string{"nlp"}
		}
		hidden = append(hidden, h)
	}
	for _, object := range objects {
		switch object.(type) {
		case *schedulingv1beta1.Queue:
			seen = append(seen, object)
		case *corev1.Node:
			if own {
				seen = append(seen, object)
			}
		default:
			if about, err := meta.Accessor(object); own && err == nil && about.GetNamespace() == "nlp" {
				seen = append(seen, object)
			}
		}
	}
	return seen, hidden
}
