package feed

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"

	"github.com/vc-batch/vc/internal/model"
)

func hyperNodeSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(o *topologyv1alpha1.HyperNode) (model.Delta, bool) { return model.HyperNodeFrom(o), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.HyperNodeGone{Name: n.Name} })
}
