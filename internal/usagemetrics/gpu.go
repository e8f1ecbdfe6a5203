package usagemetrics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/usererror"
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
	// server is the URL of Prometheus.
	server string
	client *http.Client
	// lastBusy holds the Unix times at which GPUs were last busy, by the hash of their labels, because the labels of tens
	// of thousands of GPUs would take several megabytes.
	lastBusy map[uint64]int64
	readAt   time.Time // when lastBusy was read
	// busy is the time that queries have spent on responses, without waiting for them.
	busy time.Duration
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
	if !isWebURL(address) {
		return "", false, fmt.Errorf("%q is neither a URL nor a service in the form NAMESPACE/SERVICE:PORT", address)
	}
	return strings.TrimSuffix(address, "/"), false, nil
}

// isWebURL reports whether an address is a URL with a host and the scheme http or https.
func isWebURL(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return false
	}
	return parsed.Scheme == "http" || parsed.Scheme == "https"
}

// serverAddress returns the URL of the API server.
func serverAddress(config *rest.Config) string {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return config.Host
	}
	return server.String()
}

// newGPUSource returns a source for the Prometheus server at an address. cluster is the client of the API server, which is
// used for a service.
func newGPUSource(address string, config *rest.Config, cluster *http.Client) (*gpuSource, error) {
	target, viaServer, err := ParseAddress(address, serverAddress(config))
	if err != nil {
		return nil, err
	}
	client := cluster
	if !viaServer {
		client = &http.Client{Timeout: requestTimeout}
	}
	return &gpuSource{server: target, client: withoutRedirects(client)}, nil
}

// withoutRedirects returns a copy of a client that follows no redirects. The client of the API server adds its credentials
// to every request, and a service that is reached through the API server could redirect a request to another host.
func withoutRedirects(client *http.Client) *http.Client {
	changed := *client
	changed.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &changed
}

// checkRedirect returns an error if a response is a redirect.
func checkRedirect(response *http.Response) error {
	target, err := response.Location()
	if err != nil || response.StatusCode/100 != 3 {
		return nil
	}
	return fmt.Errorf("the redirect to %s (%s) is not followed", target.Redacted(), response.Status)
}

// addTo adds the use of all GPUs to that of their nodes and pods.
func (s *gpuSource) addTo(ctx context.Context, usage *snapshot.Usage) error {
	if time.Since(s.readAt) >= lastBusyInterval {
		if err := s.readLastBusy(ctx); err != nil {
			return err
		}
	}
	measured := make(map[uint64]bool, len(s.lastBusy))
	err := s.query(ctx, utilizationQuery, func(labels *gpuLabels, percent float64) {
		if isPlausible(percent) {
			usage.HasGPU = true
			measured[labels.hash()] = true
			addGPU(usage, labels, &snapshot.MeasuredGPU{Count: 1, Percent: percent, LastBusy: s.lastBusyTime(labels)})
		}
	})
	if err != nil {
		return err
	}
	return s.query(ctx, memoryQuery, func(labels *gpuLabels, mebibytes float64) {
		if measured[labels.hash()] {
			addGPU(usage, labels, &snapshot.MeasuredGPU{MemoryBytes: int64(mebibytes) << 20})
		}
	})
}

// isPlausible reports whether a number is a utilization. DCGM has large numbers for GPUs that it cannot measure.
func isPlausible(percent float64) bool { return percent >= 0 && percent <= 100 }

// addGPU adds a measurement to the node and the pod of a GPU.
func addGPU(usage *snapshot.Usage, labels *gpuLabels, measured *snapshot.MeasuredGPU) {
	if node := usage.Nodes[string(labels.node())]; node.GPU != nil {
		node.GPU.Merge(measured)
	} else {
		node.GPU = copyGPU(measured)
		usage.Nodes[string(labels.node())] = node
	}
	namespace, name := labels.pod()
	if len(name) == 0 {
		return
	}
	key := snapshot.KeyOfPodText(namespace, name)
	if pod := usage.Pods[key]; pod.GPU != nil {
		pod.GPU.Merge(measured)
	} else {
		pod.GPU = copyGPU(measured)
		usage.Pods[key] = pod
	}
}

func copyGPU(measured *snapshot.MeasuredGPU) *snapshot.MeasuredGPU {
	one := *measured
	return &one
}

// readLastBusy reads when each GPU was last busy.
func (s *gpuSource) readLastBusy(ctx context.Context) error {
	lastBusy := make(map[uint64]int64, len(s.lastBusy))
	if err := s.query(ctx, lastBusyQuery, func(labels *gpuLabels, seconds float64) { lastBusy[labels.hash()] = int64(seconds) }); err != nil {
		return err
	}
	s.lastBusy, s.readAt = lastBusy, time.Now()
	return nil
}

// lastBusyTime returns when a GPU was last busy; zero if it was not busy within a day.
func (s *gpuSource) lastBusyTime(labels *gpuLabels) time.Time {
	seconds, known := s.lastBusy[labels.hash()]
	if !known {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// prometheusResponse holds the fields of a response that precede or replace the result.
type prometheusResponse struct{ status, errorType, problem, resultType string }

// query sends a query, whose result must be a vector, and passes each value to add.
func (s *gpuSource) query(ctx context.Context, query string, add func(*gpuLabels, float64)) error {
	return s.send(ctx, "query", "vector", url.Values{"query": {query}}, func(series *gpuSeries) {
		if !series.Value.isMissing {
			add(&series.Metric, series.Value.number)
		}
	})
}

// send sends a query to an endpoint of Prometheus' API, whose result must have a type, and passes each series to add. The
// result is decoded series by series, because a cluster can have tens of thousands of GPUs. Errors contain the address of the
// server and have a hint.
func (s *gpuSource) send(ctx context.Context, endpoint, resultType string, parameters url.Values, add func(*gpuSeries)) error {
	address := s.server + "/api/v1/" + endpoint + "?" + parameters.Encode()
	problem := func(hint, format string, args ...any) error {
		return usererror.Wrapf(hint, "prometheus at %s: "+format, append([]any{redactURL(s.server)}, args...)...)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return problem(hintOfAddress, "%v", withoutURL(err))
	}
	response, err := s.client.Do(request)
	if err != nil {
		return problem("check that Prometheus runs, and that its address is correct and can be reached from here", "%v", withoutURL(err))
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if err := checkRedirect(response); err != nil {
		return problem("set the address of Prometheus to a URL or a service that answers without a redirect", "%v", err)
	}
	defer addTimeSince(time.Now(), &s.busy)
	var r prometheusResponse
	decoder := json.NewDecoder(response.Body)
	err = r.decode(decoder, resultType, add)
	switch {
	case r.problem != "":
		return problem("the log of Prometheus may contain more", "%s: %s", r.errorType, r.problem)
	case response.StatusCode != http.StatusOK:
		return problem(hintOfStatus(response.StatusCode), "the server answered %s", response.Status)
	case r.resultType != "" && r.resultType != resultType:
		return problem(hintOfAddress, "the result of %s is a %s, not a %s", parameters.Get("query"), r.resultType, resultType)
	case err != nil:
		return problem(hintOfAddress, "the answer to %s is not valid JSON: %v", endpoint, err)
	}
	return nil
}

// hintOfAddress is the hint if the server at the address does not answer as Prometheus does.
const hintOfAddress = "check that the address is that of Prometheus itself, without the path /api/v1, and not that of another program"

// hintOfStatus returns the hint for a response with an HTTP status that is not 200.
func hintOfStatus(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "use an address at which Prometheus needs no login; for a service that is reached through the API server, permit get on services/proxy"
	case status == http.StatusTooManyRequests || status == http.StatusUnprocessableEntity:
		return "the log of Prometheus may contain more"
	case status/100 == 4:
		return hintOfAddress
	}
	return "check that Prometheus is ready; its log may contain more"
}

// withoutURL returns the cause of an error of an HTTP client. The URL is long, because it contains the query.
func withoutURL(err error) error {
	var ofURL *url.Error
	if errors.As(err, &ofURL) {
		return ofURL.Err
	}
	return err
}

// redactURL returns a URL without its password.
func redactURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "an invalid address"
	}
	return parsed.Redacted()
}

// decode decodes a response. It decodes the result only if it has the expected type.
func (r *prometheusResponse) decode(decoder *json.Decoder, resultType string, add func(*gpuSeries)) error {
	into := func(text *string) func() error { return func() error { return decoder.Decode(text) } }
	return decodeFields(decoder, map[string]func() error{
		"status": into(&r.status), "errorType": into(&r.errorType), "error": into(&r.problem),
		"data": func() error {
			return decodeFields(decoder, map[string]func() error{
				"resultType": into(&r.resultType),
				"result": func() error {
					if r.resultType != "" && r.resultType != resultType {
						return decoder.Decode(new(json.RawMessage))
					}
					return decodeArray(decoder, new(gpuSeries), (*gpuSeries).clear, add)
				},
			})
		},
	})
}

// gpuSeries is one value of a vector, or the values of a series of a matrix.
type gpuSeries struct {
	Metric gpuLabels     `json:"metric"`
	Value  sampleValue   `json:"value"`
	Values []sampleValue `json:"values"`
}

// clear empties all fields and keeps their memory.
func (s *gpuSeries) clear() {
	for _, label := range s.Metric.all() {
		*label = (*label)[:0]
	}
	s.Value, s.Values = sampleValue{}, s.Values[:0]
}

// gpuLabels holds the labels that identify a GPU. If Prometheus has labels of its own for the exporter's pod, it renames
// those of the exporter to exported_….
type gpuLabels struct {
	Hostname          text `json:"Hostname"`
	Node              text `json:"node"`
	KubernetesNode    text `json:"kubernetes_node"`
	UUID              text `json:"UUID"`
	GPU               text `json:"gpu"`
	ExportedNamespace text `json:"exported_namespace"`
	Namespace         text `json:"namespace"`
	ExportedPod       text `json:"exported_pod"`
	Pod               text `json:"pod"`
	// OtherHostname and OtherUUID receive labels that differ only in case, which would otherwise replace those above.
	OtherHostname text `json:"hostname"`
	OtherUUID     text `json:"uuid"`
}

func (l *gpuLabels) all() []*text {
	return []*text{&l.Hostname, &l.Node, &l.KubernetesNode, &l.UUID, &l.GPU, &l.ExportedNamespace, &l.Namespace, &l.ExportedPod, &l.Pod}
}

func (l *gpuLabels) node() text { return firstNotEmpty(l.Hostname, l.Node, l.KubernetesNode) }

func (l *gpuLabels) pod() (namespace, name text) {
	return firstNotEmpty(l.ExportedNamespace, l.Namespace), firstNotEmpty(l.ExportedPod, l.Pod)
}

var gpuSeed = maphash.MakeSeed()

// hash returns a hash of the GPU and the pod that uses it.
func (l *gpuLabels) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(gpuSeed)
	namespace, name := l.pod()
	for _, part := range []text{l.node(), firstNotEmpty(l.UUID, l.GPU), namespace, name} {
		_, _ = h.Write(part)
		_ = h.WriteByte('/')
	}
	return h.Sum64()
}

// sampleValue is the pair [TIME, "NUMBER"]. The time is in seconds since 1970.
type sampleValue struct {
	unix      float64
	number    float64
	isMissing bool
}

// UnmarshalJSON parses the text of a value. NaN is missing.
func (v *sampleValue) UnmarshalJSON(pair []byte) error {
	from, to := bytes.IndexByte(pair, '"'), bytes.LastIndexByte(pair, '"')
	if from < 0 || from == to {
		return fmt.Errorf("the value %s is not a pair of a time and a number", pair)
	}
	unix, err := strconv.ParseFloat(string(bytes.Trim(pair[:from], "[, \t\r\n")), 64)
	if err != nil {
		return fmt.Errorf("the value %s is not a pair of a time and a number", pair)
	}
	number, err := strconv.ParseFloat(string(pair[from+1:to]), 64)
	v.unix, v.number, v.isMissing = unix, number, number != number
	return err
}
