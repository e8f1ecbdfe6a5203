package traceexport

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// The environment variables of OpenTelemetry that this package reads. The library reads more of them, such as those for
// headers and certificates.
const (
	endpointVariable       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocolVariable       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolVariable = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporterVariable       = "OTEL_TRACES_EXPORTER"
	disabledVariable       = "OTEL_SDK_DISABLED"
)

// ParseEndpoint validates the URL of a collector.
func ParseEndpoint(text string) (*url.URL, error) {
	endpoint, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	isWeb := endpoint.Scheme == "http" || endpoint.Scheme == "https"
	if !isWeb || endpoint.Hostname() == "" {
		return nil, fmt.Errorf("%q: must be a URL such as http://collector.monitoring:4317 or, with TLS, https://collector.example.com:4317", text)
	}
	return endpoint, nil
}

// decision is whether traces are sent.
type decision struct {
	enabled bool
	// problem describes why traces are not sent although an endpoint is configured; empty if that is intended.
	problem string
}

// decide reports whether traces are sent. endpoint is the option, which overrides the variables. getenv returns the value
// of an environment variable.
func decide(endpoint string, getenv func(string) string) decision {
	if endpoint != "" {
		return decision{enabled: true}
	}
	protocol := cmp.Or(getenv(tracesProtocolVariable), getenv(protocolVariable), "grpc")
	switch {
	case getenv(tracesEndpointVariable) == "" && getenv(endpointVariable) == "":
		return decision{}
	case strings.EqualFold(getenv(disabledVariable), "true"), getenv(exporterVariable) == "none":
		return decision{}
	case protocol != "grpc":
		return decision{problem: "the environment requires the protocol " + protocol + ", but traces can only be sent by grpc"}
	}
	return decision{enabled: true}
}
