package kubeletstats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/vc-batch/vc/internal/accounting/podmeasure"
)

// maxSummaryBytes is the maximum size of the response of a kubelet.
const maxSummaryBytes = 64 << 20

// Kubelets reads the stats summaries of kubelets directly. The identity of a token needs the permission to get
// nodes/stats. Through the proxy of the API server, it would need nodes/proxy, which also permits running commands in pods.
type Kubelets struct{ client *http.Client }

// NewKubelets returns a reader. It never sends the credentials of the API server's client to kubelets. The certificates of
// kubelets must be from the authority in caFile or, if this is empty, from that of the API server. With insecure, they are
// not verified.
func NewKubelets(config *rest.Config, caFile string, insecure bool) (*Kubelets, error) {
	own := rest.AnonymousClientConfig(config)
	own.Proxy, own.Dial = nil, nil
	own.ServerName = "" // that of the API server
	own.Timeout = requestTimeout
	if caFile != "" {
		own.CAFile, own.CAData = caFile, nil
	}
	if insecure {
		own.Insecure, own.CAFile, own.CAData = true, "", nil
	}
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("client of kubelets: %w", err)
	}
	// Kubelets do not redirect this request. A redirect could send the token to another address.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Kubelets{client: client}, nil
}

// ReadSamples measures the running containers of a node, by the UID of their pod. It sends the token to the node's kubelet.
func (k *Kubelets) ReadSamples(ctx context.Context, node *corev1.Node, token string) (map[types.UID][]podmeasure.Sample, error) {
	address, err := addressOf(node)
	if err != nil {
		return nil, err
	}
	target := url.URL{Scheme: "https", Host: address, Path: "/stats/summary", RawQuery: "only_cpu_and_memory=true"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return nil, fmt.Errorf("%s: %s: %s", target.Host, answer.Status, text)
	}
	var summary statsv1alpha1.Summary
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxSummaryBytes)).Decode(&summary); err != nil {
		return nil, fmt.Errorf("%s: stats summary: %w", target.Host, err)
	}
	return samplesOf(&summary), nil
}

// addressOf returns the address of a node's kubelet.
func addressOf(node *corev1.Node) (string, error) {
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	if port == 0 {
		return "", errors.New("the node has no port of a kubelet in its status")
	}
	for _, wanted := range []corev1.NodeAddressType{corev1.NodeInternalIP, corev1.NodeHostName, corev1.NodeExternalIP} {
		for _, a := range node.Status.Addresses {
			if a.Type == wanted && a.Address != "" {
				return net.JoinHostPort(a.Address, strconv.Itoa(int(port))), nil
			}
		}
	}
	return "", errors.New("the node has no address in its status")
}

// samplesOf returns the samples of the containers whose CPU time is known.
func samplesOf(summary *statsv1alpha1.Summary) map[types.UID][]podmeasure.Sample {
	pods := map[types.UID][]podmeasure.Sample{}
	for i := range summary.Pods {
		uid := types.UID(summary.Pods[i].PodRef.UID)
		for j := range summary.Pods[i].Containers {
			if s, ok := sampleOf(&summary.Pods[i].Containers[j]); ok {
				pods[uid] = append(pods[uid], s)
			}
		}
	}
	return pods
}

// sampleOf returns the sample of a container. ok is false if its CPU time is unknown.
func sampleOf(stats *statsv1alpha1.ContainerStats) (s podmeasure.Sample, ok bool) {
	if stats.CPU == nil || stats.CPU.UsageCoreNanoSeconds == nil {
		return s, false
	}
	s = podmeasure.Sample{
		Container: stats.Name, StartedAt: stats.StartTime.Time, At: stats.CPU.Time.Time, CPU: nanoseconds(*stats.CPU.UsageCoreNanoSeconds),
	}
	if stats.Memory != nil && stats.Memory.WorkingSetBytes != nil {
		s.MemoryBytes = int64(min(*stats.Memory.WorkingSetBytes, 1<<62))
	}
	return s, true
}
