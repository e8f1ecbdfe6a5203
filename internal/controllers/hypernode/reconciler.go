package hypernode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/eventdedup"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// Reasons for events on the ConfigMap.
const (
	// ConfigInvalid reports that part of the configuration is invalid and has no effect.
	ConfigInvalid = "NetworkTopologyConfigInvalid"
	// DiscoveryFailed reports that a source could not be queried, or that its HyperNodes could not be written.
	DiscoveryFailed = "NetworkTopologyDiscoveryFailed"
)

// coalesce is how long to collect further changes after the first change to a node, because the nodes in a rack often
// start together.
const coalesce = 300 * time.Millisecond

// Options configures the controller.
type Options struct {
	Cache    client.Reader // is kept up to date by watches
	API      client.Client // does not use the cache; does all writes
	Recorder record.EventRecorder
	// ConfigMap is the name of the ConfigMap that contains the configuration.
	ConfigMap types.NamespacedName
	// Now returns the current time.
	Now func() time.Time
}

// ConfigMapName returns the name under which Volcano's chart stores the configuration of the controllers. Environment
// variables may override it.
func ConfigMapName() types.NamespacedName {
	return types.NamespacedName{
		Namespace: cmp.Or(os.Getenv("KUBE_POD_NAMESPACE"), "volcano-system"),
		Name:      cmp.Or(os.Getenv("HELM_RELEASE_NAME"), "volcano") + "-controller-configmap",
	}
}

// ConfigMapScope restricts the cache of ConfigMaps to the configuration of this controller.
func ConfigMapScope() cache.ByObject {
	name := ConfigMapName()
	return cache.ByObject{
		Field:      fields.OneTermEqualSelector(metav1.ObjectNameField, name.Name),
		Namespaces: map[string]cache.Config{name.Namespace: {}},
	}
}

// Reconciler maintains the HyperNodes of the discovered domains.
type Reconciler struct {
	Options
	// watchNodes starts watching nodes. It is called when a configuration enables a source for the first time.
	watchNodes func() error
	watching   bool
	ask        func(context.Context, *ufmSource, credentials) ([]port, error)
	asked      answer
	recorded   eventdedup.Events
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Reconciler{Options: o, watchNodes: func() error { return nil }, ask: requestPorts}
}

// Controller returns the controller. It has a single request, so no kind is reconciled by itself.
func Controller(o Options) registration.Controller {
	r := New(o)
	options, observed := backoff.ControllerOptions(1, r)
	return registration.Controller{
		Name: "hyperNode-controller",
		Watches: []registration.Watch{
			{Kind: &corev1.ConfigMap{}, Handler: enqueueDelayed()},
			// A status change does not affect the topology.
			{Kind: &topologyv1alpha1.HyperNode{}, Handler: enqueueDelayed(), Predicates: []predicate.Predicate{predicate.NewPredicateFuncs(isDiscovered), ignoreStatusChanges()}},
		},
		Reconciler: observed,
		Options:    options,
		OnRegister: func(startWatch func(registration.Watch) error) {
			r.watchNodes = func() error {
				return startWatch(registration.Watch{Kind: nodeMetadata(), Handler: enqueueDelayed(), Predicates: []predicate.Predicate{whenRelabeled()}})
			}
		},
	}
}

func nodeMetadata() *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	return o
}

// enqueueDelayed returns a handler that enqueues the controller's only request.
func enqueueDelayed() handler.EventHandler {
	type workQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(q workQueue) { q.AddAfter(reconcile.Request{}, coalesce) }
	return handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, q workQueue) { wake(q) },
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q workQueue) { wake(q) },
		DeleteFunc: func(_ context.Context, _ event.DeleteEvent, q workQueue) { wake(q) },
	}
}

// isDiscovered reports whether a HyperNode was created from a discovered domain.
func isDiscovered(h client.Object) bool { return h.GetLabels()[keys.TopologySource] != "" }

func whenRelabeled() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
	}}
}

func ignoreStatusChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
	}}
}

// Reconcile updates the HyperNodes of all enabled sources.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var config corev1.ConfigMap
	if err := r.Cache.Get(ctx, r.ConfigMap, &config); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	text, ok := config.Data[ConfigKey]
	if !ok {
		return reconcile.Result{}, nil
	}
	s, wrong := parseConfig(text)
	r.recordProblem(&config, ConfigInvalid, wrong.ToAggregate())
	if s.topologies == nil && s.ufm == nil {
		return reconcile.Result{}, nil
	}
	nodes, err := r.listNodeLabels(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if s.topologies != nil {
		var domains []domain
		for _, t := range s.topologies {
			domains = append(domains, domainsByLabels(t, nodes)...)
		}
		if err := r.updateHyperNodes(ctx, sourceLabel, domains); err != nil {
			r.recordProblem(&config, DiscoveryFailed, err)
			return reconcile.Result{}, err
		}
	}
	if s.ufm == nil {
		r.recordProblem(&config, DiscoveryFailed, nil)
		return reconcile.Result{}, nil
	}
	again, err := r.updateFromUFM(ctx, s.ufm, nodes)
	r.recordProblem(&config, DiscoveryFailed, err)
	return reconcile.Result{RequeueAfter: again}, nil
}

// listNodeLabels returns the names and labels of all nodes.
func (r *Reconciler) listNodeLabels(ctx context.Context) ([]node, error) {
	if !r.watching {
		if err := r.watchNodes(); err != nil {
			return nil, fmt.Errorf("nodes: %w", err)
		}
		r.watching = true
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	if err := r.Cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	nodes := make([]node, len(list.Items))
	for i := range list.Items {
		nodes[i] = node{name: list.Items[i].Name, labels: list.Items[i].Labels}
	}
	return nodes, nil
}

// updateHyperNodes brings the HyperNodes of a source up to date.
func (r *Reconciler) updateHyperNodes(ctx context.Context, source string, domains []domain) error {
	var there topologyv1alpha1.HyperNodeList
	if err := r.Cache.List(ctx, &there, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("hyperNodes: %w", err)
	}
	w := planWrites(source, domains, there.Items)
	for _, h := range w.create {
		// An existing HyperNode was either created by this controller and is not in the cache yet, or it belongs to a
		// user. In both cases, its watch event triggers another reconcile.
		if err := r.API.Create(ctx, h); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("hyperNode %s: %w", h.Name, err)
		}
	}
	for _, h := range w.update {
		if err := r.API.Update(ctx, h); err != nil {
			return fmt.Errorf("hyperNode %s: %w", h.Name, err)
		}
	}
	for _, h := range w.remove {
		of := client.Preconditions{UID: &h.UID}
		if err := r.API.Delete(ctx, h, of); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("hyperNode %s: %w", h.Name, err)
		}
	}
	return nil
}

// recordProblem records an event about a new error. A nil error means that the problem is resolved.
func (r *Reconciler) recordProblem(about *corev1.ConfigMap, reason string, wrong error) {
	if apierrors.IsConflict(wrong) {
		return // the cache was outdated
	}
	text := ""
	if wrong != nil {
		text = wrong.Error()
	}
	if r.recorded.New(r.ConfigMap, reason, text) && text != "" {
		r.Recorder.Event(about, corev1.EventTypeWarning, reason, text+"; previously discovered HyperNodes are not changed")
	}
}
