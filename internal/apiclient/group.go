package apiclient

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// NewGroupClient returns a client for a group of custom resources. Its watches are decoded by this package. add adds
// the group's kinds to a scheme.
func NewGroupClient(config *rest.Config, group schema.GroupVersion, add func(*runtime.Scheme) error) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, group)
	if err := add(scheme); err != nil {
		return nil, fmt.Errorf("kinds of %s: %w", group, err)
	}
	own := groupConfig(config, group, newWatchCodecs(scheme))
	own.APIPath, own.ContentType, own.AcceptContentTypes = "/apis", runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", group, err)
	}
	return client, nil
}

// groupConfig returns a copy of config for an API group.
func groupConfig(config *rest.Config, group schema.GroupVersion, codecs runtime.NegotiatedSerializer) *rest.Config {
	own := rest.CopyConfig(config)
	own.GroupVersion, own.NegotiatedSerializer = &group, codecs
	// The user agent identifies the field manager, and it identifies the client in metrics.
	own.UserAgent = cmp.Or(own.UserAgent, rest.DefaultKubernetesUserAgent())
	return own
}
