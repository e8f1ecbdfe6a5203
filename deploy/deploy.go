// Package deploy contains the objects that a cluster needs to run vc: the CRDs, the RBAC rules of each component, the
// Deployments of vcd, and the Service of its webhooks. They are available as Go objects and as a single file,
// install.yaml.
//
//	In:   package api (by `make generate`), the tables of permissions in this package
//	Out:  CRDs, RBAC, Objects as data; install.yaml and crds/ for administrators
//
// # Invariants
//
//   - install.yaml and crds/ are generated; a test compares them with the objects.
//   - A component has exactly the permissions that its code uses; the tables name the packages that use them.
package deploy

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

//go:generate ../hack/generate.sh

// Namespace is the namespace in which vc is installed.
const Namespace = "volcano-system"

// CRDVersionAnnotation is the annotation of a CRD with the version of its schema: a number that `make generate` raises
// whenever the spec of the CRD changes. It distinguishes older schemas from newer ones.
const CRDVersionAnnotation = "vc-batch.dev/crd-version"

//go:embed crds/*.yaml
var crdFiles embed.FS

// InstallYAML is the content of install.yaml: the CRDs and Objects, in an order in which they can be applied.
//
//go:embed install.yaml
var InstallYAML []byte

// CRDFiles returns the text of the CustomResourceDefinitions by file name.
func CRDFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := crdFiles.ReadDir("crds")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if files[entry.Name()], err = crdFiles.ReadFile("crds/" + entry.Name()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// CRDs returns the CustomResourceDefinitions. Every call returns new copies.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	paths, err := fs.Glob(crdFiles, "crds/*.yaml")
	if err != nil {
		panic(err) // the pattern is constant
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(paths))
	for _, path := range paths {
		data, err := crdFiles.ReadFile(path)
		if err != nil {
			panic(fmt.Errorf("embedded %s: %w", path, err))
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			panic(fmt.Errorf("embedded %s: %w", path, err))
		}
		crds = append(crds, crd)
	}
	return crds
}

// Objects returns all objects of the installation except the CRDs, in an order in which they can be created.
func Objects() []runtime.Object {
	objects := RBAC()
	objects = append(objects, policies()...)
	objects = append(objects, webhooks()...)
	return append(objects, workloads()...)
}
