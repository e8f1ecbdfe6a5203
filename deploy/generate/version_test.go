package main

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/vc-batch/vc/deploy"
)

func TestAVersionRisesIfAndOnlyIfTheSpecChanges(t *testing.T) {
	t.Parallel()
	crd := func(version, kind string) *apiextensionsv1.CustomResourceDefinition {
		c := &apiextensionsv1.CustomResourceDefinition{}
		c.Spec.Names.Kind = kind
		if version != "" {
			c.Annotations = map[string]string{deploy.CRDVersionAnnotation: version}
		}
		return c
	}
	for name, test := range map[string]struct {
		previous *apiextensionsv1.CustomResourceDefinition
		want     int
		wrong    bool
	}{
		"the first":              {nil, 1, false},
		"before there were any":  {crd("", "Queue"), 1, false},
		"the same spec":          {crd("7", "Queue"), 7, false},
		"another spec":           {crd("7", "Cue"), 8, false},
		"a version that is none": {crd("seven", "Queue"), 0, true},
	} {
		got, err := nextVersion(test.previous, crd("", "Queue"))
		if got != test.want || (err != nil) != test.wrong {
			t.Errorf("%s: version %d (%v), want %d", name, got, err, test.want)
		}
	}
}

func TestEveryEmbeddedCRDHasAVersion(t *testing.T) {
	t.Parallel()
	for _, crd := range deploy.CRDs() {
		if version, err := nextVersion(crd, crd); err != nil || crd.Annotations[deploy.CRDVersionAnnotation] == "" {
			t.Errorf("%s: version %d: %v; run `make generate`", crd.Name, version, err)
		}
	}
}
