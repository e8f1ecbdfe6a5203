package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	webhookrules "k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WebhookCall is a review that the server sends to a webhook.
type WebhookCall struct {
	Name    string // of the webhook, such as validatejob.volcano.sh
	Client  admissionregistrationv1.WebhookClientConfig
	Timeout time.Duration
	Request *admissionv1.AdmissionRequest
}

// webhook is one webhook of a configuration.
type webhook struct {
	name       string
	client     admissionregistrationv1.WebhookClientConfig
	rules      []admissionregistrationv1.RuleWithOperations
	namespaces labels.Selector
	objects    labels.Selector
	matcher    matchconditions.Matcher // nil matches all requests
	failsOpen  bool
	timeout    time.Duration
}

// webhooks holds webhooks in the order in which they are called.
type webhooks struct {
	mutating, validating []webhook
	// matching holds those webhooks whose rules match, by what the rules refer to. Most requests match none.
	matching map[ruleTarget]*webhooks
}

// ruleTarget is the part of a request to which the rules of webhooks refer.
type ruleTarget struct {
	kind         *kind
	subresource  string
	operation    admission.Operation
	hasNamespace bool
}

var (
	mutatingConfigurationKind   = admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration")
	validatingConfigurationKind = admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration")
)

// errChanged is the internal error of a request whose object was changed by another request while webhooks reviewed it.
var errChanged = errors.New("the object was changed while webhooks reviewed it")

// maxReviews is the number of times that a request is reviewed if other requests change its object meanwhile.
const maxReviews = 5

// currentWebhooks returns the webhooks of the stored configurations.
func (s *Server) currentWebhooks() *webhooks {
	if s.webhooks != nil {
		return s.webhooks
	}
	all := &webhooks{matching: map[ruleTarget]*webhooks{}}
	s.tables[mutatingConfigurationKind].all("", func(e *entry) bool {
		configuration, _ := e.object.(*admissionregistrationv1.MutatingWebhookConfiguration)
		for i := range configuration.Webhooks {
			h := &configuration.Webhooks[i]
			all.mutating = append(all.mutating, webhook{
				name: h.Name, client: h.ClientConfig, rules: h.Rules, namespaces: selectorOf(h.NamespaceSelector), objects: selectorOf(h.ObjectSelector),
				matcher: matcherOf(h.MatchConditions, h.FailurePolicy), failsOpen: isIgnored(h.FailurePolicy), timeout: timeoutOf(h.TimeoutSeconds),
			})
		}
		return true
	})
	s.tables[validatingConfigurationKind].all("", func(e *entry) bool {
		configuration, _ := e.object.(*admissionregistrationv1.ValidatingWebhookConfiguration)
		for i := range configuration.Webhooks {
			h := &configuration.Webhooks[i]
			all.validating = append(all.validating, webhook{
				name: h.Name, client: h.ClientConfig, rules: h.Rules, namespaces: selectorOf(h.NamespaceSelector), objects: selectorOf(h.ObjectSelector),
				matcher: matcherOf(h.MatchConditions, h.FailurePolicy), failsOpen: isIgnored(h.FailurePolicy), timeout: timeoutOf(h.TimeoutSeconds),
			})
		}
		return true
	})
	s.webhooks = all
	return all
}

func selectorOf(s *metav1.LabelSelector) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing() // the validation of configurations rejects it
	}
	return selector
}

func isIgnored(policy *admissionregistrationv1.FailurePolicyType) bool {
	return policy != nil && *policy == admissionregistrationv1.Ignore
}

func timeoutOf(seconds *int32) time.Duration {
	if seconds == nil {
		return 10 * time.Second
	}
	return time.Duration(*seconds) * time.Second
}

// conditionCompiler compiles match conditions. Creating it takes a while.
var conditionCompiler = sync.OnceValue(func() admissioncel.ConditionCompiler {
	return admissioncel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// matchers holds the compiled match conditions by their text, because compiling them is slow.
var matchers sync.Map

func matcherOf(conditions []admissionregistrationv1.MatchCondition, policy *admissionregistrationv1.FailurePolicyType) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	key := strconv.FormatBool(isIgnored(policy))
	expressions := make([]admissioncel.ExpressionAccessor, len(conditions))
	for i := range conditions {
		key += "\x00" + conditions[i].Name + "\x00" + conditions[i].Expression
		expressions[i] = (*matchconditions.MatchCondition)(&conditions[i])
	}
	if known, ok := matchers.Load(key); ok {
		return known.(matchconditions.Matcher)
	}
	compiled := conditionCompiler().CompileCondition(expressions, admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
	matcher := matchconditions.NewMatcher(compiled, policy, "webhook", "", "")
	matchers.Store(key, matcher)
	return matcher
}

// matchingWebhooks returns the webhooks of the stored configurations whose rules match a request.
func (s *Server) matchingWebhooks(r *Request, k *kind, operation admission.Operation) *webhooks {
	all, target := s.currentWebhooks(), ruleTarget{k, r.Subresource, operation, r.Namespace != ""}
	if known := all.matching[target]; known != nil {
		return known
	}
	a := s.attributesOf(r, k, nil, nil, operation)
	matching := &webhooks{mutating: selectMatching(all.mutating, a), validating: selectMatching(all.validating, a)}
	all.matching[target] = matching
	return matching
}

func selectMatching(all []webhook, a admission.Attributes) (matching []webhook) {
	for i := range all {
		if all[i].matchesRules(a) {
			matching = append(matching, all[i])
		}
	}
	return matching
}

// CallsWebhooks reports whether a request may call a webhook, so that it takes time.
func (s *Server) CallsWebhooks(r *Request) bool {
	t := s.tables[r.Kind]
	if s.CallWebhook == nil || t == nil || !r.IsWrite() {
		return false
	}
	for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete} {
		if m := s.matchingWebhooks(r, t.kind, operation); len(m.mutating) > 0 || len(m.validating) > 0 {
			return true
		}
	}
	return false
}

// mutate lets the mutating webhooks change an object. old is nil for a new object.
func (s *Server) mutate(r *Request, k *kind, old, object client.Object) (client.Object, error) {
	if s.CallWebhook == nil {
		return object, nil
	}
	hooks := s.matchingWebhooks(r, k, operationOf(old, object)).mutating
	for i := range hooks {
		response, err := s.callIfSelected(&hooks[i], r, k, old, object)
		if err != nil {
			return nil, err
		}
		if response == nil || len(response.Patch) == 0 {
			continue
		}
		if object, err = k.patched(object, response.Patch); err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("patch of webhook %s: %w", hooks[i].name, err))
		}
		canonicalize(object)
		k.rules.setDefaults(object)
	}
	return object, nil
}

// validate lets the validating webhooks check an object. old is nil for a new object, and object is nil for a deletion.
func (s *Server) validate(r *Request, k *kind, old, object client.Object) error {
	if s.CallWebhook == nil {
		return nil
	}
	hooks := s.matchingWebhooks(r, k, operationOf(old, object)).validating
	for i := range hooks {
		if _, err := s.callIfSelected(&hooks[i], r, k, old, object); err != nil {
			return err
		}
	}
	return nil
}

// operationOf returns the operation of a request. old is nil for a new object, and object is nil for a deletion.
func operationOf(old, object client.Object) admission.Operation {
	switch {
	case object == nil:
		return admission.Delete
	case old == nil:
		return admission.Create
	}
	return admission.Update
}

// callIfSelected calls a webhook whose rules match the request if its selectors and conditions match, too. The response
// is nil if the webhook was not called, or if the call failed and the webhook fails open. An error rejects the request.
func (s *Server) callIfSelected(h *webhook, r *Request, k *kind, old, object client.Object) (*admissionv1.AdmissionResponse, error) {
	a := s.attributesOf(r, k, old, object, operationOf(old, object))
	if matches, err := s.matchesObject(h, r, k, a, old, object); err != nil || !matches {
		return nil, err
	}
	request, err := s.reviewOf(k, a, old, object)
	if err != nil {
		return nil, err
	}
	response, err := s.CallWebhook(&WebhookCall{Name: h.name, Client: h.client, Timeout: h.timeout, Request: request})
	switch {
	case err != nil && h.failsOpen:
		return nil, nil
	case err != nil:
		return nil, apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: %w", h.name, err))
	case !response.Allowed:
		return nil, webhookerrors.ToStatusErr(h.name, response.Result)
	}
	return response, nil
}

// attributesOf returns the attributes of a request in the form that the real API server uses.
func (s *Server) attributesOf(r *Request, k *kind, old, object client.Object, operation admission.Operation) admission.Attributes {
	var newObject, oldObject runtime.Object
	name := r.Name
	if object != nil {
		newObject, name = object, object.GetName()
	}
	if old != nil {
		oldObject = old
	}
	resource := schema.GroupVersionResource{Group: k.gvk.Group, Version: k.gvk.Version, Resource: k.resource.Resource}
	return admission.NewAttributesRecord(newObject, oldObject, k.gvk, r.Namespace, name, resource, r.Subresource, operation, nil, false, &user.DefaultInfo{Name: r.User})
}

// matchesRules reports whether one of the rules names the kind and the operation.
func (h *webhook) matchesRules(a admission.Attributes) bool {
	if webhookrules.IsExemptAdmissionConfigurationResource(a) {
		return false
	}
	for i := range h.rules {
		if matcher := (webhookrules.Matcher{Rule: h.rules[i], Attr: a}); matcher.Matches() {
			return true
		}
	}
	return false
}

// matchesObject reports whether the selectors and the conditions of a webhook match.
func (s *Server) matchesObject(h *webhook, r *Request, k *kind, a admission.Attributes, old, object client.Object) (bool, error) {
	if k.namespaced {
		e := s.spaces.find("", r.Namespace)
		if e != nil && !h.namespaces.Matches(labels.Set(e.object.GetLabels())) {
			return false, nil
		}
	}
	selects := func(o client.Object) bool { return o != nil && h.objects.Matches(labels.Set(o.GetLabels())) }
	if !selects(object) && !selects(old) {
		return false, nil
	}
	if h.matcher == nil {
		return true, nil
	}
	versioned := &admission.VersionedAttributes{
		Attributes: a, VersionedKind: k.gvk,
		VersionedObject: admission.NewLazyObject(a.GetObject()), VersionedOldObject: admission.NewLazyObject(a.GetOldObject()),
	}
	result := h.matcher.Match(context.Background(), versioned, nil, webhookAuthorizer{s})
	if result.Error != nil {
		return false, apierrors.NewForbidden(k.resource, a.GetName(), result.Error)
	}
	return result.Matches, nil
}

// reviewOf returns the request of a review.
func (s *Server) reviewOf(k *kind, a admission.Attributes, old, object client.Object) (*admissionv1.AdmissionRequest, error) {
	request := admissioncel.CreateAdmissionRequest(a, metav1.GroupVersionResource(a.GetResource()), metav1.GroupVersionKind(k.gvk))
	s.reviews++
	request.UID = types.UID(strconv.FormatUint(s.reviews, 10))
	var err error
	if request.Object.Raw, err = k.encode(object); err != nil {
		return nil, err
	}
	request.OldObject.Raw, err = k.encode(old)
	return request, err
}

// encode returns the JSON form of an object with its kind, or nil.
func (k *kind) encode(object client.Object) ([]byte, error) {
	if object == nil {
		return nil, nil
	}
	typed := k.newObject()
	reflect.ValueOf(typed).Elem().Set(reflect.ValueOf(object).Elem())
	typed.GetObjectKind().SetGroupVersionKind(k.gvk)
	return json.Marshal(typed)
}

// patched returns an object after a JSON patch.
func (k *kind) patched(object client.Object, patch []byte) (client.Object, error) {
	raw, err := k.encode(object)
	if err != nil {
		return nil, err
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	if raw, err = operations.Apply(raw); err != nil {
		return nil, err
	}
	changed := k.newObject()
	return changed, json.Unmarshal(raw, changed)
}

// webhookAuthorizer authorizes with Server.Authorize.
type webhookAuthorizer struct{ server *Server }

// Authorize implements authorizer.Authorizer.
func (w webhookAuthorizer) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if w.server.Authorize == nil || w.server.Authorize(a) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

var accessReviewKind = authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview")

// reviewAccess carries out the creation of a SubjectAccessReview, which is not stored.
func (s *Server) reviewAccess(r *Request) (runtime.Object, error) {
	review, ok := r.Object.DeepCopyObject().(*authorizationv1.SubjectAccessReview)
	if !ok || r.Verb != Create || review.Spec.ResourceAttributes == nil {
		return nil, errNoResource(r)
	}
	what := review.Spec.ResourceAttributes
	decision, _, err := webhookAuthorizer{s}.Authorize(context.Background(), authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: review.Spec.User, Groups: review.Spec.Groups}, Verb: what.Verb, Namespace: what.Namespace, Name: what.Name,
		APIGroup: what.Group, Resource: what.Resource, Subresource: what.Subresource, ResourceRequest: true,
	})
	review.Status.Allowed = decision == authorizer.DecisionAllow
	return review, err
}
