package resourcegroup

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// The values of Object.Key, which select the pods of a group.
const (
	byNamespace  = "namespace"
	byAnnotation = "annotation"
)

// Config is the content of the file.
type Config struct {
	Groups []Group `json:"resourceGroups"`
}

// Group describes a part of the cluster by the pods that belong to it and the changes to make to these pods.
type Group struct {
	// Name is the name of the group. Pods may refer to it in their annotation volcano.sh/resource-group.
	Name   string `json:"resourceGroup"`
	Object Object `json:"object"`
	// SchedulerName replaces the scheduler of the pod if it is not empty.
	SchedulerName string `json:"schedulerName"`
	// Tolerations are added to the pod's tolerations.
	Tolerations []corev1.Toleration `json:"tolerations"`
	// Labels are the labels of the group's nodes. They override the pod's node selector.
	Labels map[string]string `json:"labels"`
	// Affinity is a corev1.Affinity as JSON or YAML, for pods without an affinity.
	Affinity string `json:"affinity"`

	annotations []map[string]string // parsed Object.Value, if the group selects by annotation
	affinity    *corev1.Affinity
}

// Object selects the pods of a group.
type Object struct {
	// Key is namespace, annotation, or empty. Empty selects by annotation or by the pod's annotation
	// volcano.sh/resource-group.
	Key string `json:"key"`
	// Value lists namespaces, or annotations as `key: value`; one match is enough.
	Value []string `json:"value"`
}

// Parse parses a file; an empty file has no groups.
func Parse(text []byte) (*Config, error) {
	config := &Config{}
	if err := unmarshalStrict(text, config); err != nil {
		return nil, fmt.Errorf("resource groups: %w", err)
	}
	var errs field.ErrorList
	for i := range config.Groups {
		errs = append(errs, config.Groups[i].resolveFields(field.NewPath("resourceGroups").Index(i))...)
	}
	if err := errs.ToAggregate(); err != nil {
		return nil, fmt.Errorf("resource groups: %w", err)
	}
	return config, nil
}

// resolveFields validates a group and parses its text fields.
func (g *Group) resolveFields(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if g.Name == "" {
		errs = append(errs, field.Required(path.Child("resourceGroup"), "a group must have a name"))
	}
	object := path.Child("object")
	for i, value := range g.Object.Value {
		at := object.Child("value").Index(i)
		switch g.Object.Key {
		case byNamespace:
			for _, text := range validation.IsDNS1123Label(value) {
				errs = append(errs, field.Invalid(at, value, "must be a valid namespace name: "+text))
			}
		case byAnnotation, "":
			annotations := map[string]string{}
			if err := yaml.Unmarshal([]byte(value), &annotations); err != nil || len(annotations) == 0 {
				errs = append(errs, field.Invalid(at, value, "specify an annotation in the form `key: value`"))
			}
			g.annotations = append(g.annotations, annotations)
		}
	}
	switch {
	case g.Object.Key != byNamespace && g.Object.Key != byAnnotation && g.Object.Key != "":
		errs = append(errs, field.NotSupported(object.Child("key"), g.Object.Key, []string{byNamespace, byAnnotation, ""}))
	case g.Object.Key != "" && len(g.Object.Value) == 0:
		errs = append(errs, field.Required(object.Child("value"), "without a value, no pod would belong to the group"))
	}
	errs = append(errs, metav1validation.ValidateLabels(g.Labels, path.Child("labels"))...)
	return append(errs, g.resolveAffinity(path.Child("affinity"))...)
}

func (g *Group) resolveAffinity(path *field.Path) field.ErrorList {
	if strings.TrimSpace(g.Affinity) == "" {
		return nil
	}
	g.affinity = &corev1.Affinity{}
	err := unmarshalStrict([]byte(g.Affinity), g.affinity)
	if err == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, g.Affinity, "must be a valid pod affinity: "+err.Error())}
}

// unmarshalStrict parses YAML or JSON. An unknown field is an error that names its path.
func unmarshalStrict(text []byte, into any) error {
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strange, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(err, errors.Join(strange...))
}
