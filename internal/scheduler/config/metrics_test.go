package config

import "testing"

// TestMetricsMayHaveSections checks that tls and elasticsearch may be sections, as in Volcano's guide, and not only
// keys with dots.
func TestMetricsMayHaveSections(t *testing.T) {
	t.Parallel()
	m, err := readMetrics(map[string]any{
		"type": "elasticsearch", "address": "https://logs:9200", "tls": map[string]any{"insecureSkipVerify": "true"},
		"elasticsearch": map[string]any{"index": "beats", "username": "me", "password": "secret", "hostnameFieldName": "host"},
	}, func(format string, args ...any) { t.Errorf(format, args...) })
	if want := (Elastic{Index: "beats", Username: "me", Password: "secret", HostnameField: "host"}); err != nil || !m.InsecureSkipVerify || m.Elastic != want {
		t.Errorf("read %+v, %v", m, err)
	}
}

// TestMetricsKeysAreRead sets every key of the section that the reference lists.
func TestMetricsKeysAreRead(t *testing.T) {
	t.Parallel()
	raw := map[string]any{}
	for _, o := range MetricsOptions {
		raw[o.Key] = o.Default
	}
	raw["type"], raw["address"] = "elasticsearch", "https://logs:9200"
	read := func(raw map[string]any) Metrics {
		m, err := readMetrics(raw, func(format string, args ...any) { t.Errorf(format, args...) })
		if err != nil {
			t.Error(err)
		}
		return m
	}
	if all, least := read(raw), read(map[string]any{"type": raw["type"], "address": raw["address"]}); all != least {
		t.Errorf("with their defaults given: %+v; without: %+v", all, least)
	}
}
