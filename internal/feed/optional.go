package feed

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// optional is a kind that a cluster need not have: as long as its definition is
// not installed its list is empty, and the others do not wait for it.
func optional(source cache.ListerWatcher, empty runtime.Object) cache.ListerWatcher {
	return &optionalKind{source, empty}
}

type optionalKind struct {
	cache.ListerWatcher
	empty runtime.Object
}

// List gives the objects, none when there is no such kind.
func (o *optionalKind) List(options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.ListerWatcher.List(options)
	if apierrors.IsNotFound(err) {
		return o.empty.DeepCopyObject(), nil
	}
	return list, err
}
