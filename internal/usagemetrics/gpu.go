package usagemetrics

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/snapshot"
)

// The queries for the series of the DCGM exporter, one value for each GPU: its utilization in percent and the memory in
// use in MiB.
const (
	utilizationQuery = `DCGM_FI_DEV_GPU_UTIL`
	memoryQuery      = `DCGM_FI_DEV_FB_USED`
)

// lastBusyQuery returns for each GPU the last time at which it was busy, as a Unix time, from the last day, in steps of
// ten minutes. It takes longer than the other queries, so it is sent less often.
var lastBusyQuery = fmt.Sprintf(`max_over_time(timestamp(max_over_time(%s[10m]) >= %d)[1d:10m])`, utilizationQuery, snapshot.BusyPercent)

// lastBusyInterval is the time between two requests with lastBusyQuery.
const lastBusyInterval = 5 * time.Minute

// gpuSource reads the use of GPUs from Prometheus.
type gpuSource struct {
	api      prometheusv1.API
	lastBusy map[gpuKey]time.Time
	readAt   time.Time // when lastBusy was read
}

// gpuKey identifies a GPU and the pod that uses it.
type gpuKey struct {
	node, gpu string
	pod       types.NamespacedName
}

// serviceAddress is the address of a Prometheus server inside the cluster: namespace/service:port, optionally with the
// scheme https.
var serviceAddress = regexp.MustCompile(`^(https:)?([a-z0-9-]+)/([a-z0-9.-]+):([a-z0-9-]+)$`)

// ParseAddress returns the URL of a Prometheus server. The address is a URL, or a service in the form
// NAMESPACE/SERVICE:PORT, which is reached through the API server at the given URL; viaServer is then true.
func ParseAddress(address, server string) (target string, viaServer bool, err error) {
	if m := serviceAddress.FindStringSubmatch(address); m != nil {
		scheme := cmp.Or(m[1], "http:")
		return fmt.Sprintf("%s/api/v1/namespaces/%s/services/%s%s:%s/proxy", strings.TrimSuffix(server, "/"), m[2], scheme, m[3], m[4]), true, nil
	}
	parsed, err := url.Parse(address)
	isURL := err == nil && parsed.Host != "" && (parsed.Scheme == "http" || parsed.Scheme == "https")
	if !isURL {
		return "", false, fmt.Errorf("%q is neither a URL nor a service in the form NAMESPACE/SERVICE:PORT", address)
	}
	return strings.TrimSuffix(address, "/"), false, nil
}

// serverAddress returns the URL of the API server.
func serverAddress(config *rest.Config) string {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return config.Host
	}
	return server.String()
}

func newGPUSource(address string, config *rest.Config, cluster *http.Client) (*gpuSource, error) {
	target, viaServer, err := ParseAddress(address, serverAddress(config))
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: requestTimeout}
	if viaServer {
		client = &http.Client{Timeout: requestTimeout, Transport: rejectPosts{cluster.Transport}}
	}
	connection, err := api.NewClient(api.Config{Address: target, Client: client})
	if err != nil {
		return nil, err
	}
	return &gpuSource{api: prometheusv1.NewAPI(connection)}, nil
}

// rejectPosts makes the Prometheus library send queries with GET: it does so after the response 405 to a POST. The API
// server allows a POST through its proxy only to users who may create services/proxy, and a GET to all who may get them.
type rejectPosts struct{ next http.RoundTripper }

// RoundTrip sends a request unless it is a POST.
func (r rejectPosts) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost {
		return &http.Response{StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, Request: request}, nil
	}
	return r.next.RoundTrip(request)
}

// addTo adds the use of GPUs to usage.
func (s *gpuSource) addTo(ctx context.Context, usage *snapshot.Usage) error {
	utilization, err := s.query(ctx, utilizationQuery)
	if err != nil {
		return err
	}
	memory, err := s.query(ctx, memoryQuery)
	if err != nil {
		return err
	}
	if time.Since(s.readAt) >= lastBusyInterval {
		if err := s.readLastBusy(ctx); err != nil {
			return err
		}
	}
	addGPUs(usage, utilization, memory, s.lastBusy)
	return nil
}

func (s *gpuSource) readLastBusy(ctx context.Context) error {
	times, err := s.query(ctx, lastBusyQuery)
	if err != nil {
		return err
	}
	s.lastBusy, s.readAt = make(map[gpuKey]time.Time, len(times)), time.Now()
	for _, sample := range times {
		s.lastBusy[gpuKeyOf(sample.Metric)] = time.Unix(int64(sample.Value), 0)
	}
	return nil
}

// query sends an instant query, whose result must be one value for each series.
func (s *gpuSource) query(ctx context.Context, query string) (model.Vector, error) {
	value, _, err := s.api.Query(ctx, query, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("prometheus: %w", err)
	}
	vector, isVector := value.(model.Vector)
	if !isVector {
		return nil, fmt.Errorf("prometheus: the result of %s is a %s, not a vector", query, value.Type())
	}
	return vector, nil
}

// addGPUs adds each GPU to its node and its pod.
func addGPUs(usage *snapshot.Usage, utilization, memory model.Vector, lastBusy map[gpuKey]time.Time) {
	memoryBytes := make(map[gpuKey]int64, len(memory))
	for _, sample := range memory {
		memoryBytes[gpuKeyOf(sample.Metric)] = int64(sample.Value) << 20
	}
	for _, sample := range utilization {
		key := gpuKeyOf(sample.Metric)
		percent := float64(sample.Value)
		isPlausible := percent >= 0 && percent <= 100
		if !isPlausible {
			continue
		}
		one := snapshot.Measured{GPU: &snapshot.MeasuredGPU{Count: 1, Percent: percent, MemoryBytes: memoryBytes[key], LastBusy: lastBusy[key]}}
		usage.HasGPU = true
		usage.Nodes[key.node] = usage.Nodes[key.node].Add(one)
		if key.pod.Name != "" {
			usage.Pods[key.pod] = usage.Pods[key.pod].Add(one)
		}
	}
}

// gpuKeyOf returns the GPU and the pod of a series. Prometheus renames the exporter's labels to exported_pod and
// exported_namespace if the target has labels with these names, which is the default in Kubernetes.
func gpuKeyOf(labels model.Metric) gpuKey {
	first := func(names ...model.LabelName) string {
		for _, name := range names {
			if value := string(labels[name]); value != "" {
				return value
			}
		}
		return ""
	}
	key := gpuKey{node: first("Hostname", "node", "kubernetes_node"), gpu: first("UUID", "gpu")}
	key.pod = types.NamespacedName{Namespace: first("exported_namespace", "namespace"), Name: first("exported_pod", "pod")}
	return key
}
