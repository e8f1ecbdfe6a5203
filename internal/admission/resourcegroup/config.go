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

// What a group goes by: Object.Key.
const (
	byNamespace  = "namespace"
	byAnnotation = "annotation"
)

// Config is the file.
type Config struct {
	Groups []Group `json:"resourceGroups"`
}

// Group is a part of the cluster, the pods that go there, and what these need for it.
type Group struct {
	// Name is that of the group; pods may name it in their annotation volcano.sh/resource-group.
	Name   string `json:"resourceGroup"`
	Object Object `json:"object"`
	// SchedulerName takes the place of the pod's when it is not empty.
	SchedulerName string `json:"schedulerName"`
	// Tolerations are added to the pod's.
	Tolerations []corev1.Toleration `json:"tolerations"`
	// Labels are those of the group's nodes; they overrule the pod's node selector.
	Labels map[string]string `json:"labels"`
	// Affinity is a corev1.Affinity as JSON or YAML, for pods that have none.
	Affinity string `json:"affinity"`

	annotations []map[string]string // of Object.Value, when the group goes by annotations
	affinity    *corev1.Affinity
}

// Object says which pods belong to a group.
type Object struct {
	// Key is namespace, annotation, or empty: by annotation, or by the pod's annotation volcano.sh/resource-group.
	Key string `json:"key"`
	// Value lists namespaces, or annotations as `key: value`; one of them is enough.
	Value []string `json:"value"`
}

// Parse reads a file; an empty one has no groups.
func Parse(text []byte) (*Config, error) {
	config := &Config{}
	if err := unmarshal(text, config); err != nil {
		return nil, fmt.Errorf("resource groups: %w", err)
	}
	var errs field.ErrorList
	for i := range config.Groups {
		errs = append(errs, config.Groups[i].resolve(field.NewPath("resourceGroups").Index(i))...)
	}
	if err := errs.ToAggregate(); err != nil {
		return nil, fmt.Errorf("resource groups: %w", err)
	}
	return config, nil
}

// resolve checks a group and reads the texts in it.
func (g *Group) resolve(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if g.Name == "" {
		errs = append(errs, field.Required(path.Child("resourceGroup"), "a group has a name"))
	}
	object := path.Child("object")
	for i, value := range g.Object.Value {
		at := object.Child("value").Index(i)
		switch g.Object.Key {
		case byNamespace:
			for _, text := range validation.IsDNS1123Label(value) {
				errs = append(errs, field.Invalid(at, value, "is no name of a namespace: "+text))
			}
		case byAnnotation, "":
			annotations := map[string]string{}
			if err := yaml.Unmarshal([]byte(value), &annotations); err != nil || len(annotations) == 0 {
				errs = append(errs, field.Invalid(at, value, "want an annotation as `key: value`"))
			}
			g.annotations = append(g.annotations, annotations)
		}
	}
	switch {
	case g.Object.Key != byNamespace && g.Object.Key != byAnnotation && g.Object.Key != "":
		errs = append(errs, field.NotSupported(object.Child("key"), g.Object.Key, []string{byNamespace, byAnnotation, ""}))
	case g.Object.Key != "" && len(g.Object.Value) == 0:
		errs = append(errs, field.Required(object.Child("value"), "no pod would belong to the group"))
	}
	errs = append(errs, metav1validation.ValidateLabels(g.Labels, path.Child("labels"))...)
	return append(errs, g.resolveAffinity(path.Child("affinity"))...)
}

func (g *Group) resolveAffinity(path *field.Path) field.ErrorList {
	if strings.TrimSpace(g.Affinity) == "" {
		return nil
	}
	g.affinity = &corev1.Affinity{}
	err := unmarshal([]byte(g.Affinity), g.affinity)
	if err == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, g.Affinity, "is no affinity of a pod: "+err.Error())}
}

// unmarshal reads YAML or JSON; fields that there are not are errors that say where they stand.
func unmarshal(text []byte, into any) error {
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strange, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(err, errors.Join(strange...))
}
