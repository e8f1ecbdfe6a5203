package crds_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// installed adds all CRDs to the cluster, after change has changed the CRD of queues.
func installed(change func(*apiextensionsv1.CustomResourceDefinition)) func(*clitest.Server) {
	return func(s *clitest.Server) {
		s.OnCreate("CustomResourceDefinition", golden.Establish)
		for _, crd := range deploy.CRDs() {
			apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
			crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
			crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
			if crd.Spec.Names.Kind == "Queue" {
				change(crd)
			}
			s.SetObjects(crd)
		}
	}
}

func unchanged(*apiextensionsv1.CustomResourceDefinition) {}

// volcanos makes a CRD similar to Volcano's.
func volcanos(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Annotations = nil
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	delete(spec.Properties, "jobLimits")
	spec.Properties["affinityOld"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
}

// newer makes a CRD one of a later version of vc.
func newer(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Annotations[deploy.CRDVersionAnnotation] = "1000"
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["shiny"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
}

// storedElsewhere makes a CRD one with objects in a version that vcctl's CRD does not serve.
func storedElsewhere(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status.StoredVersions = append(crd.Status.StoredVersions, "v2")
}

func TestCRDsGolden(t *testing.T) {
	t.Parallel()
	empty := func(s *clitest.Server) { s.OnCreate("CustomResourceDefinition", golden.Establish) }
	golden.CompareRuns(t, "crds", append(golden.RunsForCommands(
		golden.Command{Args: "crds list", Wrong: "crds list -o jsno", Prepare: installed(volcanos)},
		golden.Command{Args: "crds apply", Wrong: "crds apply", Prepare: installed(unchanged), WrongPrepare: installed(newer), NoJSON: true},
	), []golden.Run{
		{About: "a cluster without CRDs", Args: "crds list"},
		{About: "all are installed", Args: "crds apply", Prepare: empty},
		{About: "for a script", Args: "crds apply -o name", Prepare: empty},
		{About: "nothing is sent", Args: "crds apply --dry-run", Prepare: installed(volcanos)},
		{About: "nothing is stored", Args: "crds apply --dry-run=server", Prepare: empty, Check: golden.CheckStored("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", 0)},
		{About: "CRDs of Volcano, in a script", Args: "crds apply", Prepare: installed(volcanos)},
		{About: "CRDs of Volcano, and the user declines", Args: "crds apply", Prepare: installed(volcanos), Width: 100, Input: "n\n"},
		{About: "CRDs of Volcano, confirmed", Args: "crds apply --yes", Prepare: installed(volcanos)},
		{About: "an older schema, forced", Args: "crds apply --force", Prepare: installed(newer)},
		{About: "stored versions are never lost", Args: "crds apply --force", Prepare: installed(storedElsewhere)},
	}...))
}
