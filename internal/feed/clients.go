package feed

import (
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// clients holds the REST clients of the watched API groups.
type clients struct {
	core, scheduling, policy, storage, devices, ours, nodeinfo, topology, accounts rest.Interface
}

func newClients(config *rest.Config) (*clients, error) {
	typed, err := CoreClients(config)
	if err != nil {
		return nil, err
	}
	c := &clients{core: typed.CoreV1().RESTClient(), scheduling: typed.SchedulingV1().RESTClient(), policy: typed.PolicyV1().RESTClient(),
		storage: typed.StorageV1().RESTClient(), devices: typed.ResourceV1().RESTClient()}
	for _, group := range []struct {
		version schema.GroupVersion
		add     func(*runtime.Scheme) error
		client  *rest.Interface
	}{
		{schedulingv1beta1.GroupVersion, schedulingv1beta1.AddToScheme, &c.ours},
		{nodeinfov1alpha1.GroupVersion, nodeinfov1alpha1.AddToScheme, &c.nodeinfo},
		{topologyv1alpha1.GroupVersion, topologyv1alpha1.AddToScheme, &c.topology},
		{accountv1alpha1.GroupVersion, accountv1alpha1.AddToScheme, &c.accounts},
	} {
		if *group.client, err = GroupClient(config, group.version, group.add); err != nil {
			return nil, err
		}
	}
	return c, nil
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

// CoreClients returns clients for watching Kubernetes' own kinds. They have no rate limit or deadline, use their own
// connection, and use protobuf.
func CoreClients(config *rest.Config) (kubernetes.Interface, error) {
	own := newWatchConfig(config)
	own.ContentType = runtime.ContentTypeProtobuf
	own.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("client for core kinds: %w", err)
	}
	return typed, nil
}

// GroupClient returns a client for watching the kinds of one of this project's API groups. The function add registers
// the kinds.
func GroupClient(config *rest.Config, group schema.GroupVersion, add func(*runtime.Scheme) error) (rest.Interface, error) {
	return apiclient.NewGroupClient(newWatchConfig(config), group, add)
}

// RelistBackoff returns a short backoff, because the scheduler cannot make new decisions until it receives changes.
func RelistBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 5 * time.Second}
}
