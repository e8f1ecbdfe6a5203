package apiserver

import (
	"errors"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// hooked returns a server with a mutating and a validating webhook for ConfigMaps without the label off. calls holds
// the operations of the validating webhook, which call decides about.
func hooked(t *testing.T, policy admissionregistrationv1.FailurePolicyType, call func(*WebhookCall) (*admissionv1.AdmissionResponse, error)) (f *fixture) {
	t.Helper()
	f = newFixture(t)
	rule := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	where := admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhooks.example/x")}
	conditions := []admissionregistrationv1.MatchCondition{{Name: "on", Expression: "request.operation == 'DELETE' || !('off' in object.metadata.?labels.orValue({}))"}}
	f.create(&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{
		Name: "m.example.com", ClientConfig: where, Rules: rule, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &policy, MatchConditions: conditions,
	}}})
	f.create(&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{
		Name: "v.example.com", ClientConfig: where, Rules: rule, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &policy, MatchConditions: conditions,
	}}})
	f.server.CallWebhook = call
	return f
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: name, Labels: labels}}
}

func allowed() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

func TestWebhooksAreCalledForTheRequestsThatTheConfigurationsName(t *testing.T) {
	var calls []string
	f := hooked(t, admissionregistrationv1.Fail, func(c *WebhookCall) (*admissionv1.AdmissionResponse, error) {
		calls = append(calls, c.Name+" "+string(c.Request.Operation))
		response := allowed()
		if c.Name == "m.example.com" {
			response.Patch = []byte(`[{"op":"add","path":"/data","value":{"by":"webhook"}}]`)
		}
		return response, nil
	})
	f.create(configMap("off", map[string]string{"off": ""}))
	f.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "other"}})
	if len(calls) > 0 {
		t.Errorf("called for other requests: %v", calls)
	}
	changed := configMap("on", nil)
	f.create(changed)
	if changed.Data["by"] != "webhook" {
		t.Errorf("the patch was not applied: %v", changed.Data)
	}
	if err := f.Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if want := []string{"m.example.com CREATE", "v.example.com CREATE", "v.example.com DELETE"}; !slices.Equal(calls, want) {
		t.Errorf("calls %v, want %v", calls, want)
	}
	if err := f.Delete(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "m"}}); err != nil {
		t.Fatal(err)
	}
	calls = nil
	f.create(configMap("later", nil))
	if want := []string{"v.example.com CREATE"}; !slices.Equal(calls, want) {
		t.Errorf("calls after a configuration was deleted: %v, want %v", calls, want)
	}
}

func TestTheFailurePolicyDecidesAboutFailedCalls(t *testing.T) {
	for policy, fails := range map[admissionregistrationv1.FailurePolicyType]bool{admissionregistrationv1.Fail: true, admissionregistrationv1.Ignore: false} {
		f := hooked(t, policy, func(*WebhookCall) (*admissionv1.AdmissionResponse, error) {
			return nil, errors.New("connection refused")
		})
		if err := f.Create(t.Context(), configMap("a", nil)); (err != nil) != fails {
			t.Errorf("%s: %v", policy, err)
		}
		f.server.CallWebhook = func(*WebhookCall) (*admissionv1.AdmissionResponse, error) {
			return &admissionv1.AdmissionResponse{Result: &metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "wrong"}}, nil
		}
		if err := f.Create(t.Context(), configMap("b", nil)); !apierrors.IsInvalid(err) {
			t.Errorf("%s: a rejection became %v", policy, err)
		}
	}
}

// TestAReviewThatAnotherRequestOvertakesIsRepeated changes an object while webhooks review an update of it.
func TestAReviewThatAnotherRequestOvertakesIsRepeated(t *testing.T) {
	var f *fixture
	overtake := false
	f = hooked(t, admissionregistrationv1.Fail, func(*WebhookCall) (*admissionv1.AdmissionResponse, error) {
		if overtake {
			overtake = false
			other := configMap("a", map[string]string{"off": ""})
			other.Data = map[string]string{"other": "1"}
			if err := f.Update(t.Context(), other); err != nil {
				t.Error(err)
			}
		}
		return allowed(), nil
	})
	stored := configMap("a", nil)
	f.create(stored)
	overtake = true
	if err := f.Update(t.Context(), stored.DeepCopy()); !apierrors.IsConflict(err) {
		t.Errorf("an update with an old version: %v, want a conflict", err)
	}
	overtake = true
	if err := f.Delete(t.Context(), configMap("a", nil)); err != nil {
		t.Error(err)
	}
	if err := f.get(configMap("a", nil)); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
}

// TestAConfigurationIsValidatedAlthoughASimilarOneIsValid verifies that the result of a validation is used only for
// configurations with the same rules and conditions.
func TestAConfigurationIsValidatedAlthoughASimilarOneIsValid(t *testing.T) {
	f := hooked(t, admissionregistrationv1.Fail, nil)
	valid := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	if err := f.get(valid); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*admissionregistrationv1.ValidatingWebhook){
		"condition that does not compile": func(h *admissionregistrationv1.ValidatingWebhook) { h.MatchConditions[0].Expression = "object." },
		"timeout that is too long":        func(h *admissionregistrationv1.ValidatingWebhook) { h.TimeoutSeconds = ptr.To[int32](31) },
		"no URL and no service":           func(h *admissionregistrationv1.ValidatingWebhook) { h.ClientConfig.URL = nil },
	} {
		t.Run(name, func(t *testing.T) {
			c := valid.DeepCopy()
			c.ObjectMeta = metav1.ObjectMeta{Name: "v"}
			if err := f.Create(f.Context(), c.DeepCopy()); !apierrors.IsAlreadyExists(err) {
				t.Errorf("an equal configuration: %v, want that it exists", err)
			}
			change(&c.Webhooks[0])
			if err := f.Create(f.Context(), c); !apierrors.IsInvalid(err) {
				t.Errorf("got %v, want that it is invalid", err)
			}
		})
	}
}

// TestWebhooksFollowChangesOfTheirConfiguration verifies that the server forgets which webhooks match a request.
func TestWebhooksFollowChangesOfTheirConfiguration(t *testing.T) {
	calls := 0
	f := hooked(t, admissionregistrationv1.Fail, func(*WebhookCall) (*admissionv1.AdmissionResponse, error) {
		calls++
		return allowed(), nil
	})
	f.create(configMap("before", nil))
	if calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
	c := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	if err := f.get(c); err != nil {
		t.Fatal(err)
	}
	c.Webhooks[0].Rules[0].Resources = []string{"secrets"}
	if err := f.Update(f.Context(), c); err != nil {
		t.Fatal(err)
	}
	f.create(configMap("after", nil))
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	f.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "after"}})
	if calls != 4 {
		t.Errorf("%d calls, want 4", calls)
	}
}
