package deploy

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestRemovingTheReleaseKeepsEverybodysObjects checks that the CRDs, also in install.yaml, have the annotation that
// stops Helm from deleting them, and with them all objects of their kinds (#1438).
func TestRemovingTheReleaseKeepsEverybodysObjects(t *testing.T) {
	t.Parallel()
	kept := func(crd *apiextensionsv1.CustomResourceDefinition) {
		if got := crd.Annotations["helm.sh/resource-policy"]; got != "keep" {
			t.Errorf("%s: helm.sh/resource-policy is %q: its objects go with the release", crd.Name, got)
		}
	}
	for _, crd := range CRDs() {
		kept(crd)
	}
	installed := 0
	for document := range strings.SplitSeq(string(InstallYAML), "\n---\n") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(document), crd); err != nil || crd.Kind != "CustomResourceDefinition" {
			continue
		}
		installed++
		kept(crd)
	}
	if installed != len(CRDs()) {
		t.Errorf("%d CRDs are installed, and there are %d", installed, len(CRDs()))
	}
}

// TestKubectlShowsWhatPeopleLookFor checks the columns of kubectl get: the state and usage of a queue, and similar
// columns for the other kinds.
func TestKubectlShowsWhatPeopleLookFor(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"queues.scheduling.volcano.sh":    "PARENT STATE WEIGHT PENDING INQUEUE RUNNING AGE",
		"podgroups.scheduling.volcano.sh": "STATUS MINMEMBER RUNNINGS AGE",
		"jobs.batch.volcano.sh":           "STATUS MINAVAILABLE RUNNINGS AGE",
		"cronjobs.batch.volcano.sh":       "SCHEDULE TIMEZONE SUSPEND LAST AGE",
		"jobflows.flow.volcano.sh":        "STATUS AGE",
		"accounts.account.vc-batch.dev":   "PARENT SHARES DESCRIPTION AGE",
		"qoses.account.vc-batch.dev":      "PRIORITY-CLASS DESCRIPTION AGE",
		"hypernodes.topology.volcano.sh":  "TIER TIERNAME NODECOUNT READY AGE",
	}
	for _, crd := range CRDs() {
		columns, ok := want[crd.Name]
		if !ok {
			continue
		}
		delete(want, crd.Name)
		for _, version := range crd.Spec.Versions {
			var shown []string
			for _, column := range version.AdditionalPrinterColumns {
				if column.Priority == 0 {
					shown = append(shown, strings.ToUpper(column.Name))
				}
			}
			if got := strings.Join(shown, " "); got != columns {
				t.Errorf("%s %s shows %q, want %q", crd.Name, version.Name, got, columns)
			}
		}
	}
	for name := range want {
		t.Errorf("there is no CRD %s", name)
	}
}
