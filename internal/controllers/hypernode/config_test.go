package hypernode

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asVolcano is the configuration in Volcano's documentation.
const asVolcano = `
networkTopologyDiscovery:
  - source: ufm
    enabled: true
    interval: 10m
    credentials:
      secretRef:
        name: ufm-credentials
        namespace: volcano-system
    config:
      endpoint: https://ufm-server:8080
      insecureSkipVerify: true
  - source: roce
    enabled: false
    interval: 15m
    config:
      endpoint: https://roce-server:9090
  - source: label
    enabled: true
    config:
      networkTopologyTypes:
        topologyA2:
          - nodeLabel: "volcano.sh/tor"
          - nodeLabel: "kubernetes.io/hostname"
        topologyA3:
          - nodeLabel: "volcano.sh/hypercluster"
          - nodeLabel: "volcano.sh/hypernode"
          - nodeLabel: "kubernetes.io/hostname"
`

func TestVolcanosConfigurationIsRead(t *testing.T) {
	t.Parallel()
	s, errs := parseConfig(asVolcano)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	want := []topology{{"topologya2", []string{"volcano.sh/tor"}}, {"topologya3", []string{"volcano.sh/hypernode", "volcano.sh/hypercluster"}}}
	if diff := cmp.Diff(want, s.topologies, cmp.AllowUnexported(topology{})); diff != "" {
		t.Errorf("types of network, innermost label first (-want +got):\n%s", diff)
	}
	if u := s.ufm; u == nil || u.endpoint.String() != "https://ufm-server:8080" || !u.insecure || u.secret.Name != "ufm-credentials" || u.interval != 10*time.Minute {
		t.Errorf("ufm %+v", s.ufm)
	}
}

// labelConfig returns a configuration with the levels of one type.
func labelConfig(name string, levels ...string) string {
	text := "networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: {" + name + ": ["
	for _, level := range levels {
		text += "{nodeLabel: " + level + "}, "
	}
	return text + "]}}}]"
}

func TestErrorsInAConfigurationAreReported(t *testing.T) {
	t.Parallel()
	const host = "kubernetes.io/hostname"
	const ufm = "networkTopologyDiscovery: [{source: ufm, enabled: true, "
	const list = "volcano-controller.conf.networkTopologyDiscovery"
	cases := map[string]struct {
		text string
		want []string // parts of the error
	}{
		"no YAML":                        {"a: [", []string{"volcano-controller.conf", "YAML"}},
		"a key that there is not":        {"networkTopologyDiscovery: [{sauce: label}]", []string{"sauce"}},
		"a source that there is not":     {"networkTopologyDiscovery: [{source: roce, enabled: true}]", []string{list + "[0].source", "roce", "label", "ufm"}},
		"a source twice":                 {"networkTopologyDiscovery: [{source: x, enabled: true}, {source: x, enabled: true}]", []string{list + "[1].source", "Duplicate"}},
		"an interval of nothing":         {"networkTopologyDiscovery: [{source: label, enabled: true, interval: 0s}]", []string{list + "[0].interval", "10m"}},
		"no configuration of the source": {"networkTopologyDiscovery: [{source: label, enabled: true}]", []string{list + "[0].config"}},
		"no types":                       {"networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: {}}}]", []string{"networkTopologyTypes"}},
		"the level of nodes missing":     {labelConfig("t", "rack"), []string{list + "[0].config.networkTopologyTypes[t]", host}},
		"only the level of nodes":        {labelConfig("t", host), []string{"at least one level above"}},
		"a label twice":                  {labelConfig("t", "rack", "rack", host), []string{"networkTopologyTypes[t][1].nodeLabel", "Duplicate"}},
		"a label that is none":           {labelConfig("t", "a//b", host), []string{"networkTopologyTypes[t][0].nodeLabel", "a//b"}},
		"a long name":                    {labelConfig("abcdefghijklmnopqrstu", "rack", host), []string{"20"}},
		"a name of no letters":           {labelConfig("'++'", "rack", host), []string{"letter"}},
		"two names that are one": {strings.Replace(labelConfig("a-b", "rack", host), "{a-b:", "{A_b: [{nodeLabel: row}, {nodeLabel: "+host+"}], a-b:", 1),
			[]string{"networkTopologyTypes[a-b]", "rename"}},
		"an address that is none": {ufm + "credentials: {secretRef: {name: a, namespace: b}}, config: {endpoint: ufm}}]", []string{"config.endpoint", "https://"}},
		"no credentials":          {ufm + "config: {endpoint: 'https://ufm'}}]", []string{"credentials.secretRef", "username"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, errs := parseConfig(c.text)
			if len(errs) == 0 {
				t.Fatalf("accepted: %+v", s)
			}
			for _, want := range c.want {
				if text := errs.ToAggregate().Error(); !strings.Contains(text, want) {
					t.Errorf("%q is not in %q", want, text)
				}
			}
			if s.topologies != nil || s.ufm != nil {
				t.Errorf("a faulty source is on: %+v", s)
			}
		})
	}
}

func TestAFaultySourceLeavesTheOthersOn(t *testing.T) {
	t.Parallel()
	s, errs := parseConfig(strings.Replace(asVolcano, "https://ufm-server:8080", "nowhere", 1))
	if len(errs) != 1 || len(s.topologies) != 2 || s.ufm != nil {
		t.Errorf("errors %v, settings %+v", errs, s)
	}
}

// FuzzParse verifies that parse never panics, and that accepted configurations are usable.
func FuzzParse(f *testing.F) {
	f.Add(asVolcano)
	f.Add(labelConfig("t", "rack", "kubernetes.io/hostname"))
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := parseConfig(text)
		for _, topology := range s.topologies {
			if topology.name == "" || len(topology.labels) == 0 {
				t.Errorf("type %+v", topology)
			}
		}
		if s.ufm != nil && (s.ufm.endpoint == nil || s.ufm.interval <= 0) {
			t.Errorf("ufm %+v", s.ufm)
		}
	})
}
