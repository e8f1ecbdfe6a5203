package feed

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// optionalSource wraps the source of a kind that does not exist in every cluster. Until the kind's definition is
// installed, the list is empty, so that other kinds do not wait for it.
func optionalSource(source cache.ListerWatcher, empty runtime.Object) cache.ListerWatcher {
	return &optionalKind{source, empty}
}

type optionalKind struct {
	cache.ListerWatcher
	empty runtime.Object
}

// List returns the objects, or an empty list if the kind does not exist.
func (o *optionalKind) List(options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.ListerWatcher.List(options) //nolint:staticcheck // List is what cache.ListerWatcher requires
	if apierrors.IsNotFound(err) {
		return o.empty.DeepCopyObject(), nil
	}
	return list, err
}
