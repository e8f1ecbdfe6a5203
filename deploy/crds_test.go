package deploy

import (
	"context"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

func TestTheAPIServerAcceptsTheCRDsWithTheirRulesAndCosts(t *testing.T) {
	t.Parallel()
	for _, crd := range CRDs() {
		internal := &apiextensions.CustomResourceDefinition{}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
			t.Fatal(err)
		}
		// The storage layer would set these fields.
		for _, version := range internal.Spec.Versions {
			if version.Storage {
				internal.Status.StoredVersions = []string{version.Name}
			}
		}
		for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
			t.Errorf("%s: %v", crd.Name, err)
		}
	}
}
