package feed

import (
	"fmt"
	"net"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/watchjson"
)

// clients holds the REST clients of the watched API groups.
type clients struct {
	core, scheduling, policy, storage, devices, ours, nodeinfo, topology rest.Interface
}

func newClients(config *rest.Config) (*clients, error) {
	typed, err := kubernetes.NewForConfig(newCoreConfig(config))
	if err != nil {
		return nil, fmt.Errorf("client for core kinds: %w", err)
	}
	ours, err := rest.RESTClientFor(newGroupConfig(config, schedulingv1beta1.GroupVersion, schedulingv1beta1.AddToScheme))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", schedulingv1beta1.GroupVersion, err)
	}
	nodeinfo, err := rest.RESTClientFor(newGroupConfig(config, nodeinfov1alpha1.GroupVersion, nodeinfov1alpha1.AddToScheme))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", nodeinfov1alpha1.GroupVersion, err)
	}
	topology, err := rest.RESTClientFor(newGroupConfig(config, topologyv1alpha1.GroupVersion, topologyv1alpha1.AddToScheme))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", topologyv1alpha1.GroupVersion, err)
	}
	return &clients{policy: typed.PolicyV1().RESTClient(), storage: typed.StorageV1().RESTClient(), devices: typed.ResourceV1().RESTClient(), nodeinfo: nodeinfo, topology: topology, core: typed.CoreV1().RESTClient(), scheduling: typed.SchedulingV1().RESTClient(), ours: ours}, nil
}

// newWatchConfig returns a copy of config without a rate limit or deadline. It uses its own connection, so that long
// lists and watches do not delay writes.
func newWatchConfig(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	own.QPS, own.RateLimiter, own.Timeout = -1, nil, 0
	if own.Dial == nil {
		own.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return own
}

func newCoreConfig(config *rest.Config) *rest.Config {
	own := newWatchConfig(config)
	own.ContentType = "application/vnd.kubernetes.protobuf"
	own.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return own
}

// newGroupConfig returns the configuration for one of this project's API groups.
func newGroupConfig(config *rest.Config, group schema.GroupVersion, add func(*runtime.Scheme) error) *rest.Config {
	own := newWatchConfig(config)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, group)
	if err := add(scheme); err != nil {
		panic(fmt.Sprintf("kinds of %s do not register: %v", group, err))
	}
	own.ContentType, own.AcceptContentTypes = "application/json", "application/json"
	own.APIPath = "/apis"
	own.GroupVersion = &group
	own.NegotiatedSerializer = watchjson.NewCodecs(scheme)
	return own
}

// relistBackoff returns a short backoff, because the scheduler cannot make new decisions until it receives changes.
func relistBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 5 * time.Second}
}
