package feed

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"

	"github.com/vc-batch/vc/internal/model"
)

func numaSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(o *nodeinfov1alpha1.Numatopology) (model.Delta, bool) { return model.NumaFrom(o), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.NumaGone{Node: n.Name} })
}
