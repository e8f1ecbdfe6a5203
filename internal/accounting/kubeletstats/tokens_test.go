package kubeletstats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fakeIssuer is an API server that issues tokens.
type fakeIssuer struct {
	client.SubResourceClient
	err       error
	seconds   int64    // maximum lifetime; 0 means no maximum
	requested []string // SUBRESOURCE NAMESPACE/NAME LIFETIME
	resource  string
}

func (f *fakeIssuer) SubResource(name string) client.SubResourceClient {
	f.resource = name
	return f
}

func (f *fakeIssuer) Create(_ context.Context, account, body client.Object, _ ...client.SubResourceCreateOption) error {
	if f.err != nil {
		return f.err
	}
	request := body.(*authenticationv1.TokenRequest)
	f.requested = append(f.requested, fmt.Sprintf("%s %s/%s %d", f.resource, account.GetNamespace(), account.GetName(), *request.Spec.ExpirationSeconds))
	if f.seconds > 0 {
		request.Spec.ExpirationSeconds = new(f.seconds)
	}
	request.Status.Token = fmt.Sprintf("token %d", len(f.requested))
	return nil
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	unavailable := errors.New("connection refused")
	issuer := &fakeIssuer{}
	tokens := NewTokens(issuer, "batch")
	for _, step := range []struct {
		after time.Duration
		err   error // of the API server
		want  string
	}{
		{after: 0, err: unavailable},
		{after: 0, want: "token 1"},
		{after: 4 * time.Minute, want: "token 1"},
		{after: 6 * time.Minute, err: unavailable, want: "token 1"},
		{after: 7 * time.Minute, want: "token 2"},
		{after: 16 * time.Minute, err: unavailable, want: "token 2"},
		{after: 18 * time.Minute, err: unavailable},
		{after: 19 * time.Minute, want: "token 3"},
	} {
		issuer.err = step.err
		got, err := tokens.Token(t.Context(), begun.Add(step.after))
		if got != step.want || (err != nil) != (step.want == "") {
			t.Errorf("after %s: %q, error %v, want %q", step.after, got, err, step.want)
		}
	}
	for _, request := range issuer.requested {
		if request != "token batch/vc-accounting-kubelets 600" {
			t.Errorf("request %q", request)
		}
	}
}

func TestAShorterLifetimeOfTokensIsRespected(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	issuer := &fakeIssuer{seconds: 60}
	tokens := NewTokens(issuer, "batch")
	for after, want := range []string{"token 1", "token 2", "token 3"} {
		got, err := tokens.Token(t.Context(), begun.Add(time.Duration(after)*40*time.Second))
		if got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

func TestAnErrorSaysWhichRightIsMissing(t *testing.T) {
	t.Parallel()
	resource := corev1.Resource("serviceaccounts")
	for want, err := range map[string]error{
		"no permission to create serviceaccounts/token for the service account batch/vc-accounting-kubelets (apply the manifest": apierrors.NewForbidden(resource, AccountName, errors.New("no rule")),
		"the service account batch/vc-accounting-kubelets is missing: apply the manifest":                                        apierrors.NewNotFound(resource, AccountName),
		"token of the service account batch/vc-accounting-kubelets: timeout":                                                     errors.New("timeout"),
	} {
		_, got := NewTokens(&fakeIssuer{err: err}, "batch").Token(t.Context(), time.Now())
		if got == nil || !strings.Contains(got.Error(), want) || !errors.Is(got, err) {
			t.Errorf("%v, want %q", got, want)
		}
	}
}
