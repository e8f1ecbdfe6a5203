package apiserver

import (
	"context"
	"reflect"
	"slices"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	batchjob "k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// kind describes a kind of object and holds the rules for writing it.
type kind struct {
	gvk        schema.GroupVersionKind
	resource   schema.GroupResource
	namespaced bool
	// custom reports whether a CustomResourceDefinition defines the kind.
	custom bool
	// hasStatus reports whether the kind has the subresource status.
	hasStatus bool
	// hasAppliedStatus reports whether the status is written with server-side apply.
	hasAppliedStatus bool
	// unconditionalUpdate reports whether an update need not contain a resource version. createOnUpdate reports whether
	// an update creates a missing object.
	unconditionalUpdate, createOnUpdate bool
	collection                          rest.GarbageCollectionPolicy
	// statusField is the index of the field Status in the Go type, or -1.
	statusField int
	fields      []topLevelField
	goType      reflect.Type
	rules       rules
}

// rules are the rules for writing objects of one kind. The functions may modify object, but not old.
type rules interface {
	setDefaults(object client.Object)
	prepareCreate(ctx context.Context, object client.Object) error
	prepareUpdate(ctx context.Context, subresource string, object, old client.Object) error
}

// newObject returns an empty object of the kind.
func (k *kind) newObject() client.Object {
	object, _ := reflect.New(k.goType).Interface().(client.Object)
	return object
}

// builtinKind describes a kind of Kubernetes by the strategies of the real API server.
type builtinKind struct {
	object           client.Object
	resource         string
	strategy, status rest.RESTUpdateStrategy
}

// allowAll is an authorizer that allows everything.
type allowAll struct{}

func (allowAll) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

func builtinKinds() []builtinKind {
	claims := resourceclaim.NewStrategy(nil, allowAll{})
	return []builtinKind{
		{&corev1.Pod{}, "pods", pod.Strategy, pod.StatusStrategy},
		{&corev1.Node{}, "nodes", node.Strategy, node.StatusStrategy},
		{&corev1.Namespace{}, "namespaces", namespace.Strategy, namespace.StatusStrategy},
		{&corev1.ConfigMap{}, "configmaps", configmap.Strategy, nil},
		{&corev1.Secret{}, "secrets", secret.Strategy, nil},
		{&corev1.Service{}, "services", service.Strategy, service.StatusStrategy},
		{&corev1.Event{}, "events", event.Strategy, nil},
		{&corev1.PersistentVolumeClaim{}, "persistentvolumeclaims", persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy},
		{&corev1.PersistentVolume{}, "persistentvolumes", persistentvolume.Strategy, persistentvolume.StatusStrategy},
		{&corev1.ResourceQuota{}, "resourcequotas", resourcequota.Strategy, resourcequota.StatusStrategy},
		{&schedulingv1.PriorityClass{}, "priorityclasses", priorityclass.Strategy, nil},
		{&policyv1.PodDisruptionBudget{}, "poddisruptionbudgets", poddisruptionbudget.Strategy, poddisruptionbudget.StatusStrategy},
		{&coordinationv1.Lease{}, "leases", lease.Strategy, nil},
		{&networkingv1.NetworkPolicy{}, "networkpolicies", networkpolicy.Strategy, nil},
		{&appsv1.ReplicaSet{}, "replicasets", replicaset.Strategy, replicaset.StatusStrategy},
		{&appsv1.StatefulSet{}, "statefulsets", statefulset.Strategy, statefulset.StatusStrategy},
		{&appsv1.DaemonSet{}, "daemonsets", daemonset.Strategy, daemonset.StatusStrategy},
		{&batchv1.Job{}, "jobs", batchjob.Strategy, batchjob.StatusStrategy},
		{&admissionregistrationv1.MutatingWebhookConfiguration{}, "mutatingwebhookconfigurations", newConfigurationStrategy(mutatingwebhookconfiguration.Strategy), nil},
		{&admissionregistrationv1.ValidatingWebhookConfiguration{}, "validatingwebhookconfigurations", newConfigurationStrategy(validatingwebhookconfiguration.Strategy), nil},
		{&resourcev1.ResourceClaim{}, "resourceclaims", claims, resourceclaim.NewStatusStrategy(claims)},
	}
}

// customKind describes a kind that a CustomResourceDefinition of this project defines.
type customKind struct {
	object     client.Object
	resource   string
	namespaced bool
	hasStatus  bool
	defaults   func(client.Object)
	validate   func(object, old client.Object) fieldErrors
}

func customKinds() []customKind {
	return []customKind{
		{&batchv1alpha1.Job{}, "jobs", true, true, defaultJob, validateJob},
		{&batchv1alpha1.CronJob{}, "cronjobs", true, true, defaultCronJob, nil},
		{&busv1alpha1.Command{}, "commands", true, false, nil, nil},
		{&schedulingv1beta1.PodGroup{}, "podgroups", true, false, defaultPodGroup, nil},
		{&schedulingv1beta1.Queue{}, "queues", false, true, defaultQueue, nil},
		{&flowv1alpha1.JobFlow{}, "jobflows", true, true, nil, nil},
		{&flowv1alpha1.JobTemplate{}, "jobtemplates", true, true, defaultJobTemplate, nil},
		{&topologyv1alpha1.HyperNode{}, "hypernodes", false, true, nil, nil},
		{&nodeinfov1alpha1.Numatopology{}, "numatopologies", false, false, nil, nil},
		{&accountv1alpha1.Account{}, "accounts", false, false, nil, nil},
		{&accountv1alpha1.QOS{}, "qoses", false, false, nil, nil},
		{&insightv1alpha1.Plan{}, "plans", true, true, nil, validatePlan},
	}
}

// allKinds returns all kinds, in an order that does not change.
var allKinds = sync.OnceValue(func() []*kind {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(api.AddToScheme(scheme))
	kinds, err := kindsOf(scheme)
	utilruntime.Must(err)
	return kinds
})

// findKind returns the kind that has a property, or nil.
func findKind(has func(*kind) bool) *kind {
	if i := slices.IndexFunc(allKinds(), has); i >= 0 {
		return allKinds()[i]
	}
	return nil
}

func kindsOf(scheme *runtime.Scheme) ([]*kind, error) {
	var kinds []*kind
	for _, b := range builtinKinds() {
		k, err := newKind(scheme, b.object, b.resource)
		if err != nil {
			return nil, err
		}
		k.namespaced = b.strategy.NamespaceScoped()
		k.hasStatus = b.status != nil
		k.unconditionalUpdate, k.createOnUpdate = b.strategy.AllowUnconditionalUpdate(context.Background()), b.strategy.AllowCreateOnUpdate(context.Background())
		if policy, ok := b.strategy.(rest.GarbageCollectionDeleteStrategy); ok {
			k.collection = policy.DefaultGarbageCollectionPolicy(context.Background())
		}
		if k.rules, err = newBuiltinRules(k, &b); err != nil {
			return nil, err
		}
		kinds = append(kinds, k)
	}
	for _, c := range customKinds() {
		k, err := newKind(scheme, c.object, c.resource)
		if err != nil {
			return nil, err
		}
		k.custom, k.namespaced, k.hasStatus = true, c.namespaced, c.hasStatus
		k.hasAppliedStatus = k.gvk == queueKind || k.gvk == hyperNodeKind
		k.rules = &customRules{kind: k, defaults: c.defaults, validate: c.validate}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func newKind(scheme *runtime.Scheme, object client.Object, resource string) (*kind, error) {
	gvks, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	k := &kind{
		gvk: gvks[0], resource: schema.GroupResource{Group: gvks[0].Group, Resource: resource},
		collection: rest.DeleteDependents, goType: reflect.TypeOf(object).Elem(), statusField: -1,
	}
	k.fields = fieldsOfKind(k.goType)
	if f, ok := k.goType.FieldByName("Status"); ok {
		k.statusField = f.Index[0]
	}
	return k, nil
}
