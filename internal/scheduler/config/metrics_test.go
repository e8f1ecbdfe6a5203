package config

import "testing"

// TestMetricsKeysAreRead gives every key of the section that the reference names.
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
