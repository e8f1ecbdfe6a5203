package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Metrics describes the source of the nodes' actual load, as in the metrics section of Volcano's file. The zero value
// means that there is no source.
type Metrics struct {
	// Type is prometheus, prometheus_adaptor or elasticsearch, or "" if there is no source.
	Type string
	// Address is the address of the source, such as http://prometheus.monitoring:9090.
	Address string
	// Interval is the time between two queries; the default is 30 s.
	Interval time.Duration
	// InsecureSkipVerify disables verification of the source's certificate.
	InsecureSkipVerify bool
	// Elastic holds the settings for Elasticsearch.
	Elastic Elastic
}

// Elastic holds the settings of an Elasticsearch source.
type Elastic struct {
	Index, Username, Password, HostnameField string
}

// MetricsOptions documents the keys of the section.
var MetricsOptions = []Option{
	{Key: "type", Text: "`prometheus`, `prometheus_adaptor` (through the API server's custom metrics API) or `elasticsearch`"},
	{Key: "address", Text: "URL of the source: http://… or https://…"},
	{Key: "interval", Default: "30s", Text: "time between two queries"},
	{Key: "tls.insecureSkipVerify", Default: "false", Text: "true: accepts any certificate"},
	{Key: "elasticsearch.index", Default: "metricbeat-*", Text: "name of the index"},
	{Key: "elasticsearch.username", Text: "user name"},
	{Key: "elasticsearch.password", Text: "password"},
	{Key: "elasticsearch.hostnameFieldName", Default: "host.hostname", Text: "name of the field that contains the node name"},
}

const defaultInterval = 30 * time.Second

// metricsTypes lists the names of the source types, as in Volcano.
var metricsTypes = []string{"prometheus", "prometheus_adaptor", "elasticsearch"}

// readMetrics parses the metrics section. An unusable source is an error, because otherwise the policies that need it
// would silently have no effect.
func readMetrics(raw map[string]any, warn func(string, ...any)) (Metrics, error) {
	m := Metrics{Interval: defaultInterval, Elastic: Elastic{Index: "metricbeat-*", HostnameField: "host.hostname"}}
	if len(raw) == 0 {
		return Metrics{}, nil
	}
	raw = flattenSections(raw)
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		text := strings.TrimSpace(fmt.Sprint(raw[key]))
		switch key {
		case "type":
			m.Type = text
		case "address":
			m.Address = text
		case "interval":
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 {
				warn("metrics.interval: must be a duration such as 30s, not %q; 30s is used", text)
				continue
			}
			m.Interval = d
		case "tls.insecureSkipVerify":
			yes, err := strconv.ParseBool(text)
			if err != nil {
				warn("metrics.tls.insecureSkipVerify: must be true or false, not %q; false is used", text)
			}
			m.InsecureSkipVerify = yes
		case "elasticsearch.index":
			m.Elastic.Index = text
		case "elasticsearch.username":
			m.Elastic.Username = text
		case "elasticsearch.password":
			m.Elastic.Password = text
		case "elasticsearch.hostnameFieldName":
			m.Elastic.HostnameField = text
		default:
			warn("metrics.%s: not expected; ignored", key)
		}
	}
	if m.Type == "" { // the default, as in Volcano
		warn("metrics.type: missing, so the load of nodes is not read; valid types are %s", joinSortedNames(metricsTypes))
		return Metrics{}, nil
	}
	return m, m.checkSource()
}

// flattenSections replaces the nested keys of tls and elasticsearch with dotted keys. Volcano's guide uses the nested
// form, whereas its source code uses the dotted form.
func flattenSections(raw map[string]any) map[string]any {
	out := maps.Clone(raw)
	for _, section := range []string{"tls", "elasticsearch"} {
		inner, isMap := raw[section].(map[string]any)
		if !isMap {
			continue
		}
		delete(out, section)
		for key, value := range inner {
			out[section+"."+key] = value
		}
	}
	return out
}

func (m *Metrics) checkSource() error {
	if !slices.Contains(metricsTypes, m.Type) {
		return fmt.Errorf("metrics.type: unknown type %q; valid types are %s", m.Type, joinSortedNames(metricsTypes))
	}
	if m.Type == "prometheus_adaptor" && m.Address == "" {
		return nil // the source is the API server itself
	}
	scheme, host, _ := strings.Cut(m.Address, "://")
	isHost := host != "" && !strings.ContainsAny(host, " \t")
	if !isHost || (scheme != "http" && scheme != "https") {
		return fmt.Errorf("metrics.address: must be http://HOST[:PORT] or https://…, not %q", m.Address)
	}
	return nil
}
