package hypernode

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// ConfigKey is the key of the configuration in the ConfigMap.
const ConfigKey = "volcano-controller.conf"

// The supported sources of topology information.
const (
	sourceLabel = "label"
	sourceUFM   = "ufm"
)

const (
	defaultInterval = time.Hour
	maxTypeName     = 20 // the name is part of the names of HyperNodes
)

// settings holds the enabled sources of a configuration.
type settings struct {
	topologies []topology // the topologies of the source "label", sorted by name
	ufm        *ufmSource
}

// topology is a type of network described by node labels.
type topology struct {
	name   string   // in a form that can be part of an object's name
	labels []string // innermost first: labels[0] is the label for tier 1
}

// ufmSource is a fabric manager (UFM) that lists the ports of a network.
type ufmSource struct {
	endpoint *url.URL
	insecure bool // do not verify the server's certificate
	secret   corev1.SecretReference
	interval time.Duration
}

// file is the format of the configuration.
type file struct {
	NetworkTopologyDiscovery []entry `json:"networkTopologyDiscovery"`
}

type entry struct {
	Source      string           `json:"source"`
	Enabled     bool             `json:"enabled"`
	Interval    *metav1.Duration `json:"interval"`
	Credentials *struct {
		SecretRef *corev1.SecretReference `json:"secretRef"`
	} `json:"credentials"`
	Config json.RawMessage `json:"config"`
}

// parseConfig parses a configuration. A source with errors is disabled; the other sources are used.
func parseConfig(text string) (settings, field.ErrorList) {
	var f file
	root := field.NewPath(ConfigKey)
	if err := yaml.UnmarshalStrict([]byte(text), &f); err != nil {
		return settings{}, field.ErrorList{field.Invalid(root, "", fmt.Sprintf("is not a valid configuration: %v; "+
			"the configuration must contain a list networkTopologyDiscovery whose entries have the fields source, enabled, interval, credentials and config", err))}
	}
	var s settings
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range f.NetworkTopologyDiscovery {
		e, path := &f.NetworkTopologyDiscovery[i], root.Child("networkTopologyDiscovery").Index(i)
		if !e.Enabled {
			continue
		}
		if seen[e.Source] {
			errs = append(errs, field.Duplicate(path.Child("source"), e.Source))
			continue
		}
		seen[e.Source] = true
		if e.Interval != nil && e.Interval.Duration <= 0 {
			errs = append(errs, field.Invalid(path.Child("interval"), e.Interval.Duration.String(), "must be greater than 0, for example 10m"))
			continue
		}
		switch e.Source {
		case sourceLabel:
			topologies, wrong := parseLabel(e.Config, path.Child("config"))
			if errs = append(errs, wrong...); len(wrong) == 0 {
				s.topologies = topologies
			}
		case sourceUFM:
			source, wrong := parseUFM(e, path)
			if errs = append(errs, wrong...); len(wrong) == 0 {
				s.ufm = source
			}
		default:
			errs = append(errs, field.NotSupported(path.Child("source"), e.Source, []string{sourceLabel, sourceUFM}))
		}
	}
	return s, errs
}

func parseLabel(config json.RawMessage, path *field.Path) ([]topology, field.ErrorList) {
	var c struct {
		Types map[string][]struct {
			NodeLabel string `json:"nodeLabel"`
		} `json:"networkTopologyTypes"`
	}
	if wrong := decodeSource(config, &c, path); wrong != nil {
		return nil, wrong
	}
	path = path.Child("networkTopologyTypes")
	if len(c.Types) == 0 {
		return nil, field.ErrorList{field.Required(path, "specify a network type and the labels of its levels, outermost first")}
	}
	var topologies []topology
	var errs field.ErrorList
	used := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		t := topology{name: cleanName(name)}
		labels := make([]string, len(c.Types[name]))
		for i, level := range c.Types[name] {
			labels[i] = level.NodeLabel
		}
		wrong := checkNetworkType(name, t.name, labels, path.Key(name))
		if other, ok := used[t.name]; ok && len(wrong) == 0 {
			wrong = append(wrong, field.Invalid(path.Key(name), name, fmt.Sprintf("becomes %q in HyperNode names, and so does %q; rename one of these network types", t.name, other)))
		}
		used[t.name] = name
		errs = append(errs, wrong...)
		if len(wrong) == 0 {
			t.labels = slices.Clone(labels[:len(labels)-1])
			slices.Reverse(t.labels)
			topologies = append(topologies, t)
		}
	}
	return topologies, errs
}

// checkNetworkType returns the errors in the configuration of one type of network.
func checkNetworkType(name, clean string, labels []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(name) > maxTypeName {
		errs = append(errs, field.TooLong(path, name, maxTypeName))
	}
	if clean == "" {
		errs = append(errs, field.Invalid(path, name, "must contain a letter or a digit, because it becomes part of HyperNode names"))
	}
	for i, label := range labels {
		at := path.Index(i).Child("nodeLabel")
		for _, text := range validation.IsQualifiedName(label) {
			errs = append(errs, field.Invalid(at, label, text))
		}
		if slices.Contains(labels[:i], label) {
			errs = append(errs, field.Duplicate(at, label))
		}
	}
	if n := len(labels); n == 0 || labels[n-1] != corev1.LabelHostname {
		errs = append(errs, field.Required(path, "the last level must be the node level, with nodeLabel: "+corev1.LabelHostname))
	} else if n == 1 {
		errs = append(errs, field.Required(path, "specify at least one level above "+corev1.LabelHostname))
	}
	return errs
}

func parseUFM(e *entry, path *field.Path) (*ufmSource, field.ErrorList) {
	var c struct {
		Endpoint           string `json:"endpoint"`
		InsecureSkipVerify bool   `json:"insecureSkipVerify"`
	}
	if wrong := decodeSource(e.Config, &c, path.Child("config")); wrong != nil {
		return nil, wrong
	}
	var errs field.ErrorList
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil || endpoint.Host == "" || !slices.Contains([]string{"http", "https"}, endpoint.Scheme) {
		errs = append(errs, field.Invalid(path.Child("config", "endpoint"), c.Endpoint, "must be a URL such as https://ufm.example.com"))
	}
	s := &ufmSource{endpoint: endpoint, insecure: c.InsecureSkipVerify, interval: defaultInterval}
	if e.Credentials != nil && e.Credentials.SecretRef != nil {
		s.secret = *e.Credentials.SecretRef
	}
	if s.secret.Name == "" || s.secret.Namespace == "" {
		errs = append(errs, field.Required(path.Child("credentials", "secretRef"), "specify the name and namespace of a Secret with the keys username and password"))
	}
	if e.Interval != nil {
		s.interval = e.Interval.Duration
	}
	return s, errs
}

// decodeSource parses the source-specific part of the configuration.
func decodeSource(config json.RawMessage, into any, path *field.Path) field.ErrorList {
	if len(config) == 0 {
		return field.ErrorList{field.Required(path, "this source requires this field")}
	}
	if err := yaml.UnmarshalStrict(config, into); err != nil {
		return field.ErrorList{field.Invalid(path, "", strings.TrimPrefix(err.Error(), "error unmarshaling JSON: "))}
	}
	return nil
}

// cleanName converts a name to a form that is valid within an object's name.
func cleanName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(clean, "-")
}
