package feed

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// CoreClients are clients to watch Kubernetes' own kinds with: without rate limit and deadline, on a connection of their own, by protobuf.
func CoreClients(config *rest.Config) (kubernetes.Interface, error) {
	typed, err := kubernetes.NewForConfig(coreConfig(config))
	if err != nil {
		return nil, fmt.Errorf("client for core kinds: %w", err)
	}
	return typed, nil
}

// GroupClient is a client to watch the kinds of one group of ours with, which add registers.
func GroupClient(config *rest.Config, group schema.GroupVersion, add func(*runtime.Scheme) error) (rest.Interface, error) {
	c, err := rest.RESTClientFor(ourConfig(config, group, add))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", group, err)
	}
	return c, nil
}

// RelistBackoff is how long to wait before a watch that failed is tried again.
func RelistBackoff() *wait.Backoff { return relistBackoff() }
