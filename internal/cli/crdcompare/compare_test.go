package crdcompare

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/vc-batch/vc/deploy"
)

// ownQueue returns this program's CRD of queues as an API server would return it.
func ownQueue(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	for _, crd := range deploy.CRDs() {
		if crd.Spec.Names.Kind == "Queue" {
			apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
			crd.Status.StoredVersions = []string{"v1beta1"}
			crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
			return crd
		}
	}
	t.Fatal("package deploy has no CRD of queues")
	return nil
}

// dropField removes a field of the spec from all schemas of a CRD.
func dropField(crd *apiextensionsv1.CustomResourceDefinition, name string) {
	for i := range crd.Spec.Versions {
		delete(crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties, name)
	}
}

func TestCompareTellsOlderNewerAndForeignCRDsApart(t *testing.T) {
	t.Parallel()
	version := func(text string) func(*apiextensionsv1.CustomResourceDefinition) {
		return func(crd *apiextensionsv1.CustomResourceDefinition) {
			dropField(crd, "jobLimits")
			crd.Annotations[deploy.CRDVersionAnnotation] = text
		}
	}
	for name, test := range map[string]struct {
		change func(*apiextensionsv1.CustomResourceDefinition)
		want   State
	}{
		"the same":                    {func(*apiextensionsv1.CustomResourceDefinition) {}, Current},
		"the same, without a version": {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Annotations = nil }, Current},
		"a higher version":            {version("1000"), Newer},
		"the same version, changed":   {func(crd *apiextensionsv1.CustomResourceDefinition) { dropField(crd, "jobLimits") }, Changed},
		"no version and a field less": {version(""), Foreign},
		"no number and a field less":  {version("new"), Foreign},
		"no version and another column": {func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Annotations = nil
			crd.Spec.Versions[0].AdditionalPrinterColumns = nil
		}, Older},
	} {
		have := ownQueue(t)
		test.change(have)
		if got := Compare(have, ownQueue(t)); got.State != test.want {
			t.Errorf("%s: %s, want %s: %+v", name, got.State, test.want, got)
		}
	}
	newer := ownQueue(t)
	newer.Annotations[deploy.CRDVersionAnnotation] = "1000"
	old := ownQueue(t)
	dropField(old, "jobLimits")
	if got := Compare(old, newer); got.State != Older || !slices.Contains(got.MissingFields, "spec.jobLimits") {
		t.Errorf("a lower version: %+v", got)
	}
	if got := Compare(nil, newer); got.State != Missing {
		t.Errorf("no CRD: %+v", got)
	}
}

func TestCompareFindsWhatAReplacementWouldLose(t *testing.T) {
	t.Parallel()
	have := ownQueue(t)
	next := *have.Spec.Versions[0].DeepCopy()
	next.Name, next.Storage = "v2", false
	next.Schema = nil
	have.Spec.Versions = append(have.Spec.Versions, next)
	have.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["shiny"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	have.Status.StoredVersions = []string{"v1beta1", "v2"}
	got := Compare(have, ownQueue(t))
	if !slices.Equal(got.LostVersions, []string{"v2"}) || !slices.Equal(got.ExtraFields, []string{"spec.shiny"}) {
		t.Errorf("lost versions %v and fields %v", got.LostVersions, got.ExtraFields)
	}
}

func TestCompareReportsWhyAKindIsNotServed(t *testing.T) {
	t.Parallel()
	have := ownQueue(t)
	have.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionFalse, Message: `"queues" is already in use`},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse},
	}
	if got := Compare(have, ownQueue(t)); got.Established || got.Problem != `"queues" is already in use` {
		t.Errorf("%+v", got)
	}
}
