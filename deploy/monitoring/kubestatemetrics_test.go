package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/vc-batch/vc/deploy"
)

// schemaOf returns the schema of a kind in a version.
func schemaOf(group, version, kind string) (*apiextensionsv1.JSONSchemaProps, error) {
	for _, crd := range deploy.CRDs() {
		if crd.Spec.Group != group || crd.Spec.Names.Kind != kind {
			continue
		}
		for i := range crd.Spec.Versions {
			if v := &crd.Spec.Versions[i]; v.Name == version {
				return v.Schema.OpenAPIV3Schema, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no CRD of %s/%s, %s", group, version, kind)
}

// metadataFields are the fields of metadata with their schemas, which are not part of a CRD.
var metadataFields = map[string]apiextensionsv1.JSONSchemaProps{
	"name": {Type: "string"}, "namespace": {Type: "string"}, "uid": {Type: "string"},
	"creationTimestamp": {Type: "string", Format: "date-time"},
	"annotations":       {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
}

// fieldAt returns the schema of the field at a path.
func fieldAt(schema *apiextensionsv1.JSONSchemaProps, path Path) (*apiextensionsv1.JSONSchemaProps, error) {
	for i, name := range path {
		properties := schema.Properties
		if i == 1 && path[0] == "metadata" {
			properties = metadataFields
		}
		next, ok := properties[name]
		switch {
		case ok:
			schema = &next
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
			schema = schema.AdditionalProperties.Schema
		default:
			return nil, fmt.Errorf("there is no field %s", strings.Join(path[:i+1], "."))
		}
	}
	return schema, nil
}

// checkMetric returns the errors of a metric.
func checkMetric(object *apiextensionsv1.JSONSchemaProps, m *StateMetric) []error {
	field, err := fieldAt(object, m.Path)
	if err != nil {
		return []error{err}
	}
	var errs []error
	report := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	element := field
	if field.Items != nil {
		element = field.Items.Schema
	}
	for label, path := range m.Labels {
		if _, err := fieldAt(element, path); err != nil {
			report(fmt.Errorf("label %s: %w", label, err))
		}
	}
	switch m.Type {
	case StateSet:
		report(checkValues(field, m.Values))
	case StateGauge:
		value, err := fieldAt(element, m.Value)
		report(err)
		if err == nil {
			report(checkGauge(value, m))
		}
	}
	return errs
}

// checkValues compares the values of a state set with those that the schema permits.
func checkValues(field *apiextensionsv1.JSONSchemaProps, values []string) error {
	var permitted []string
	for _, value := range field.Enum {
		if text := strings.Trim(string(value.Raw), `"`); text != "" {
			permitted = append(permitted, text)
		}
	}
	sorted := slices.Sorted(slices.Values(values))
	slices.Sort(permitted)
	if !slices.Equal(sorted, permitted) {
		return fmt.Errorf("has the values %v, but the schema permits %v", sorted, permitted)
	}
	return nil
}

// checkGauge checks that a field has a number, or several of them for a gauge with a label for keys.
func checkGauge(value *apiextensionsv1.JSONSchemaProps, m *StateMetric) error {
	isMap := value.AdditionalProperties != nil
	isNumber := value.Type == "integer" || value.Type == "boolean" || value.Format == "date-time"
	isCondition := len(m.Value) > 0 && value.Type == "string"
	switch {
	case isMap != (m.KeyLabel != ""):
		return fmt.Errorf("a label for keys belongs to objects with arbitrary keys, and only to them")
	case !isMap && !isNumber && !isCondition:
		return fmt.Errorf("a field of type %q has no number", value.Type)
	case m.IsZeroIfMissing && value.Format == "date-time":
		return fmt.Errorf("a missing time is not 1970")
	}
	return nil
}

var (
	validName  = regexp.MustCompile(`^kube_vc_(job|podgroup|queue)_[a-z_]+$`)
	validLabel = regexp.MustCompile(`^[a-z_]+$`)
)

func TestKubeStateMetricsReadsFieldsThatExist(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range StateKinds() {
		schema, err := schemaOf(kind.Group, kind.Version, kind.Kind)
		if err != nil {
			t.Fatal(err)
		}
		for label, path := range kind.Labels {
			if _, err := fieldAt(schema, path); err != nil || !validLabel.MatchString(label) {
				t.Errorf("%s, label %s: %v", kind.Kind, label, err)
			}
		}
		for i := range kind.Metrics {
			m := &kind.Metrics[i]
			name := kind.Prefix + "_" + m.Name
			if seen[name] || !validName.MatchString(name) {
				t.Errorf("%s: the name is used twice or invalid", name)
			}
			seen[name] = true
			if strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_info") != (m.Type == StateInfo) || !strings.HasSuffix(m.Help, ".") {
				t.Errorf("%s: only information ends with _info, nothing counts, and a help text is a sentence: %q", name, m.Help)
			}
			for label := range m.Labels {
				if _, taken := kind.Labels[label]; taken || !validLabel.MatchString(label) {
					t.Errorf("%s: label %s is a label of all metrics of the kind, or invalid", name, label)
				}
			}
			for _, err := range checkMetric(schema, m) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAWrongMetricOfKubeStateMetricsIsFound(t *testing.T) {
	schema, err := schemaOf("batch.volcano.sh", "v1alpha1", "Job")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		metric StateMetric
		want   string
	}{
		{"misspelled field", newNumber("x", "", Path{"status", "retrys"}), "there is no field status.retrys"},
		{"field below a number", newNumber("x", "", Path{"status", "running", "now"}), "there is no field status.running.now"},
		{"text as a number", newNumber("x", "", Path{"spec", "queue"}), "has no number"},
		{"time that defaults to 1970", newNumber("x", "", Path{"metadata", "creationTimestamp"}), "is not 1970"},
		{"object without a label for keys", newTime("x", "", Path{"status", "controlledResources"}), "label for keys"},
		{"missing phase", newStateSet[string]("x", "", "phase", Path{"status", "state", "phase"}, "Running"), "the schema permits"},
		{"misspelled label", newInfo("x", "", nil, map[string]Path{"user": {"spec", "user"}}), "label user: there is no field"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if found := fmt.Sprint(checkMetric(schema, &tc.metric)); !strings.Contains(found, tc.want) {
				t.Errorf("found %s, want %q", found, tc.want)
			}
		})
	}
}
