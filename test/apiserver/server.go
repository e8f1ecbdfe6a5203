package apiserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Change is one entry of the history. Its version is the resource version of Object or, for a deletion, of the deletion.
type Change struct {
	Version     uint64
	Kind        schema.GroupVersionKind
	Old, Object client.Object // nil Old: created; nil Object: deleted. Neither may be modified.
	User        string        // user of the request that caused the change
}

// Server is an API server.
type Server struct {
	// History holds all changes in order.
	History []Change
	// CallWebhook sends a review to a webhook and returns its response. The server calls it for the requests that the
	// stored webhook configurations name. It may wait while the server carries out other requests. If it is nil, webhook
	// configurations have no effect.
	CallWebhook func(c *WebhookCall) (*admissionv1.AdmissionResponse, error)
	// Authorize reports whether a user has a permission. It is used for SubjectAccessReviews and for the conditions of
	// webhooks; the server does not authorize its requests. If it is nil, users have all permissions.
	Authorize func(a authorizer.Attributes) bool
	// ValidateSchemas makes the server validate the objects of this project's kinds with their schemas and CEL rules. This
	// is slow. Otherwise, it checks a few rules only.
	ValidateSchemas bool
	// Changed is called after each change. It may be nil.
	Changed func(Change)
	// KeepCopies makes the server keep copies of all later objects for CheckUnmodified.
	KeepCopies bool

	scheme *runtime.Scheme
	now    func() time.Time

	version uint64 // version of the last change
	// compacted is the oldest version of which lists can still be continued.
	compacted uint64
	created   uint64 // number of UIDs created
	tables    map[schema.GroupVersionKind]*table
	ordered   []*table
	pods      *table
	spaces    *table // namespaces
	classes   *table // priority classes
	quotas    *table
	// webhooks holds the webhooks of the stored configurations. It is nil if it must be computed again.
	webhooks *webhooks
	reviews  uint64 // number of reviews sent to webhooks
	// evaluator computes the usage of quotas by pods.
	evaluator quota.Evaluator
	owned     dependents
	uids      map[types.UID]*entry
	// finalizing holds the objects that the garbage collector must finalize.
	finalizing map[*entry]bool
	copies     []copiedObject
	caches     []*Cache // caches that are always up to date
}

// New returns a server without objects. The scheme must contain all kinds that are listed.
func New(scheme *runtime.Scheme, now func() time.Time) *Server {
	s := &Server{
		scheme: scheme, now: now, version: 1, tables: map[schema.GroupVersionKind]*table{},
		owned: dependents{}, uids: map[types.UID]*entry{}, finalizing: map[*entry]bool{},
	}
	for _, k := range allKinds() {
		t := newTable(k)
		s.tables[k.gvk] = t
		s.ordered = append(s.ordered, t)
	}
	s.pods = s.tables[corev1.SchemeGroupVersion.WithKind("Pod")]
	s.spaces = s.tables[corev1.SchemeGroupVersion.WithKind("Namespace")]
	s.quotas = s.tables[corev1.SchemeGroupVersion.WithKind("ResourceQuota")]
	s.classes = s.tables[priorityClassKind]
	return s
}

// Version returns the resource version of the last change.
func (s *Server) Version() uint64 { return s.version }

// Do carries out a request. It returns the object or, for List, a list. If r.Shared is true, the result belongs to the
// server and must not be modified.
func (s *Server) Do(r *Request) (runtime.Object, error) {
	t := s.tables[r.Kind]
	switch {
	case r.Kind == accessReviewKind:
		return s.reviewAccess(r)
	case t == nil:
		return nil, errNoResource(r)
	}
	result, err := s.dispatch(r, t)
	for review := 1; errors.Is(err, errChanged); review++ {
		if review == maxReviews {
			return nil, apierrors.NewConflict(t.kind.resource, r.Name, err)
		}
		result, err = s.dispatch(r, t)
	}
	if err != nil || result == nil {
		return nil, err
	}
	if r.Shared {
		return result, nil
	}
	return result.DeepCopyObject(), nil
}

func (s *Server) dispatch(r *Request, t *table) (runtime.Object, error) {
	switch {
	case r.Verb == List:
		return s.list(r, t)
	case !t.kind.hasSubresource(r):
		return nil, errNoResource(r)
	case r.Verb == Create && r.Subresource == "binding":
		return s.bind(r)
	}
	switch r.Verb {
	case Get:
		if e := t.find(r.Namespace, r.Name); e != nil {
			return e.object, nil
		}
		return nil, apierrors.NewNotFound(t.kind.resource, r.Name)
	case Create:
		return s.create(r, t)
	case Update:
		return s.update(r, t)
	case Patch:
		return s.patch(r, t)
	case Delete:
		return s.delete(r, t)
	}
	return nil, apierrors.NewMethodNotSupported(t.kind.resource, string(r.Verb))
}

// hasSubresource reports whether the subresource of a request exists and has the verb.
func (k *kind) hasSubresource(r *Request) bool {
	switch r.Subresource {
	case "":
		return true
	case "status":
		return k.hasStatus && slices.Contains([]Verb{Get, Update, Patch}, r.Verb)
	case "binding":
		return k.gvk == podKind && r.Verb == Create
	case "finalize":
		return k.gvk == namespaceKind && r.Verb == Update
	}
	return false
}

var (
	podKind           = corev1.SchemeGroupVersion.WithKind("Pod")
	namespaceKind     = corev1.SchemeGroupVersion.WithKind("Namespace")
	priorityClassKind = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
)

// errNoResource returns the error for a path that does not exist.
func errNoResource(r *Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, string(r.Verb), schema.GroupResource{}, r.Name, "the server could not find the requested resource", 0, false)
}

// context returns the context that the strategies of the real API server expect.
func (s *Server) context(r *Request, k *kind) context.Context {
	info := &genericrequest.RequestInfo{
		IsResourceRequest: true, Verb: string(r.Verb), APIGroup: k.gvk.Group, APIVersion: k.gvk.Version,
		Namespace: r.Namespace, Resource: k.resource.Resource, Subresource: r.Subresource, Name: r.Name,
	}
	ctx := genericrequest.WithNamespace(context.Background(), r.Namespace)
	return genericrequest.WithUser(genericrequest.WithRequestInfo(ctx, info), &user.DefaultInfo{Name: r.User})
}

// ownCopy returns the object of a request as the server decodes it: a copy in canonical form.
func (s *Server) ownCopy(r *Request, t *table) (client.Object, error) {
	object, ok := r.Object.DeepCopyObject().(client.Object)
	if !ok {
		return nil, apierrors.NewBadRequest("the request has no object")
	}
	if _, isTyped := object.(runtime.Unstructured); isTyped || !t.kind.isTypeOf(object) {
		typed, err := t.kind.convert(object)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		object = typed
	}
	canonicalize(object)
	return object, nil
}

// setNamespace sets the namespace of a request's object.
func setNamespace(r *Request, k *kind, object client.Object) error {
	switch namespace := object.GetNamespace(); {
	case !k.namespaced:
		object.SetNamespace("")
	case namespace == "":
		object.SetNamespace(r.Namespace)
	case namespace != r.Namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// put stores a new object, or a new version of an object. It sets the resource version.
func (s *Server) put(r *Request, t *table, e *entry, object client.Object) client.Object {
	s.version++
	object.SetResourceVersion(strconv.FormatUint(s.version, 10))
	var old client.Object
	if e.object == nil {
		e.object = object
		t.insert(e)
		s.uids[object.GetUID()] = e
		s.owned.add(e)
	} else {
		old, e.object = e.object, object
		e.lacksStatus = e.lacksStatus && t.kind.custom // any write of a claim stores the defaults
		if before := old.GetOwnerReferences(); !hasSameOwners(before, object.GetOwnerReferences()) {
			s.owned.remove(e, before)
			s.owned.add(e)
		}
	}
	s.updateFinalizing(e, true)
	s.record(Change{Version: s.version, Kind: t.kind.gvk, Old: old, Object: object, User: r.User})
	return object
}

func hasSameOwners(a, b []ownerReference) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].UID != b[i].UID {
			return false
		}
	}
	return true
}

// drop removes an object.
func (s *Server) drop(r *Request, t *table, e *entry) {
	s.version++
	t.remove(e)
	delete(s.uids, e.object.GetUID())
	s.owned.remove(e, e.object.GetOwnerReferences())
	s.updateFinalizing(e, false)
	s.record(Change{Version: s.version, Kind: t.kind.gvk, Old: e.object, User: r.User})
}

func (s *Server) record(c Change) {
	if c.Kind == mutatingConfigurationKind || c.Kind == validatingConfigurationKind {
		s.webhooks = nil
	}
	s.History = append(s.History, c)
	if s.KeepCopies && c.Object != nil {
		s.copies = append(s.copies, copiedObject{c.Object, copyObject(c.Object)})
	}
	for _, cache := range s.caches {
		cache.Apply(c)
	}
	if s.Changed != nil {
		s.Changed(c)
	}
}

// nextUID returns a new UID. UIDs are numbered, so that they do not differ between two runs.
func (s *Server) nextUID() types.UID {
	s.created++
	const digits = "00000000-0000-4000-8000-000000000000"
	number := strconv.FormatUint(s.created, 16)
	return types.UID(digits[:len(digits)-len(number)] + number)
}

// clock returns the current time in whole seconds.
func (s *Server) clock() metav1.Time { return secondsOf(metav1.NewTime(s.now())) }

// statusError converts an error without a status to the error that a client receives.
func statusError(err error) error {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}}
}

// Resource returns the resource of a kind, and whether its objects belong to namespaces. ok is false if the server does
// not know the kind.
func (s *Server) Resource(k schema.GroupVersionKind) (resource schema.GroupResource, namespaced, ok bool) {
	t := s.tables[k]
	if t == nil {
		return schema.GroupResource{}, false, false
	}
	return t.kind.resource, t.kind.namespaced, true
}

// Kinds returns all kinds that the server knows, in an order that does not change.
func (s *Server) Kinds() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, len(s.ordered))
	for i, t := range s.ordered {
		kinds[i] = t.kind.gvk
	}
	return kinds
}
