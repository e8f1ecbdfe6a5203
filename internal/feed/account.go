package feed

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"

	"github.com/vc-batch/vc/internal/model"
)

func qosSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(o *accountv1alpha1.QOS) (model.Delta, bool) { return model.QOSFrom(o), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.QOSGone{Name: n.Name} })
}

func accountSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(o *accountv1alpha1.Account) (model.Delta, bool) { return model.AccountFrom(o), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.AccountGone{Name: n.Name} })
}
