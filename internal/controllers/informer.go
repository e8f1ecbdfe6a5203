package controllers

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// frequentKinds lists the kinds of this project that change with every job. They are watched in all namespaces.
var frequentKinds = []struct {
	object   client.Object
	version  schema.GroupVersion
	resource string
}{
	{&batchv1alpha1.Job{}, batchv1alpha1.GroupVersion, "jobs"},
	{&schedulingv1beta1.PodGroup{}, schedulingv1beta1.GroupVersion, "podgroups"},
}

// informers creates the informers of the controllers' cache.
type informers struct {
	retrier *retrier
	quick   map[reflect.Type]toolscache.ListerWatcher // sources for frequentKinds
}

// newInformers returns the informers for a cluster. If config is nil, controller-runtime's source is used for every
// kind.
func newInformers(config *rest.Config) (*informers, error) {
	all := &informers{retrier: &retrier{}, quick: map[reflect.Type]toolscache.ListerWatcher{}}
	if config == nil {
		return all, nil
	}
	for _, kind := range frequentKinds {
		reader, err := apiclient.NewGroupClient(config, kind.version, api.AddToScheme)
		if err != nil {
			return nil, err
		}
		all.quick[reflect.TypeOf(kind.object)] = toolscache.NewListWatchFromClient(reader, kind.resource, metav1.NamespaceAll, fields.Everything())
	}
	return all, nil
}

// newInformer creates an informer. It serves as NewInformer in cache.Options.
func (i *informers) newInformer(source toolscache.ListerWatcher, sample runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	if quick, ok := i.quick[reflect.TypeOf(sample)]; ok {
		source = quick
	}
	return toolscache.NewSharedIndexInformer(i.retrier.wrapSource(source), sample, resync, indexers)
}
