package feed

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// CoreClients returns clients for watching Kubernetes' own kinds. They have no rate limit or deadline, use their own
// connection, and use protobuf.
func CoreClients(config *rest.Config) (kubernetes.Interface, error) {
	typed, err := kubernetes.NewForConfig(newCoreConfig(config))
	if err != nil {
		return nil, fmt.Errorf("client for core kinds: %w", err)
	}
	return typed, nil
}

// GroupClient returns a client for watching the kinds of one of this project's API groups. The function add registers
// the kinds.
func GroupClient(config *rest.Config, group schema.GroupVersion, add func(*runtime.Scheme) error) (rest.Interface, error) {
	c, err := rest.RESTClientFor(newGroupConfig(config, group, add))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", group, err)
	}
	return c, nil
}

// RelistBackoff returns the backoff for retrying a failed watch.
func RelistBackoff() *wait.Backoff { return relistBackoff() }
