package kubeletstats

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AccountName is the name of the service account whose tokens are sent to kubelets. It may only read the stats of nodes,
// because a person who controls a node can use the tokens that its kubelet receives.
const AccountName = "vc-accounting-kubelets"

// tokenLifetime is the requested lifetime of tokens, which is the shortest that API servers permit. Tokens are renewed after
// half of it, so a round of requests can take some minutes.
const tokenLifetime = 10 * time.Minute

// Tokens requests tokens of the service account AccountName from the API server. It is not safe for concurrent use.
type Tokens struct {
	api       client.SubResourceClientConstructor
	namespace string
	current   string
	// renewal is the time at which the next token is requested. expiry is the time at which the current token expires.
	renewal, expiry time.Time
}

// NewTokens returns the tokens of the service account in a namespace. The identity of the client needs the permission to
// create serviceaccounts/token for it.
func NewTokens(api client.SubResourceClientConstructor, namespace string) *Tokens {
	return &Tokens{api: api, namespace: namespace}
}

// Token returns a valid token. If another token cannot be requested in time, it returns the current one until that expires.
func (t *Tokens) Token(ctx context.Context, now time.Time) (string, error) {
	if now.Before(t.renewal) {
		return t.current, nil
	}
	token, lifetime, err := t.requestToken(ctx)
	switch {
	case err == nil:
		t.current, t.renewal, t.expiry = token, now.Add(lifetime/2), now.Add(lifetime)
	case !now.Before(t.expiry):
		return "", err
	}
	return t.current, nil
}

// requestToken requests a token from the API server, which may permit only a shorter lifetime.
func (t *Tokens) requestToken(ctx context.Context) (token string, lifetime time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = t.namespace, AccountName
	request := &authenticationv1.TokenRequest{}
	request.Spec.ExpirationSeconds = new(int64(tokenLifetime / time.Second))
	err = t.api.SubResource("token").Create(ctx, account, request)
	switch {
	case apierrors.IsForbidden(err):
		return "", 0, fmt.Errorf("no permission to create serviceaccounts/token for the service account %s/%s (apply the manifest or the chart of this version, or grant it to the user of the kubeconfig): %w",
			t.namespace, AccountName, err)
	case apierrors.IsNotFound(err):
		return "", 0, fmt.Errorf("the service account %s/%s is missing: apply the manifest or the chart of this version again: %w", t.namespace, AccountName, err)
	case err != nil:
		return "", 0, fmt.Errorf("token of the service account %s/%s: %w", t.namespace, AccountName, err)
	}
	lifetime = tokenLifetime
	if seconds := request.Spec.ExpirationSeconds; seconds != nil {
		lifetime = min(lifetime, time.Duration(*seconds)*time.Second)
	}
	return request.Status.Token, lifetime, nil
}
