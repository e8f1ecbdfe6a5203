package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/deploy"
)

// setVersion sets the version annotation of a CRD. It compares the CRD with the file that an earlier run wrote to path.
func setVersion(crd *apiextensionsv1.CustomResourceDefinition, path string) error {
	previous, err := readPrevious(path)
	if err != nil {
		return err
	}
	version, err := nextVersion(previous, crd)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	crd.Annotations[deploy.CRDVersionAnnotation] = strconv.Itoa(version)
	return nil
}

// readPrevious reads the CRD in a file. It returns nil if the file does not exist.
func readPrevious(path string) (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return crd, nil
}

// nextVersion returns the version of a CRD: the version of the previous CRD if the specs are equal, or the next number.
// The first version is 1.
func nextVersion(previous, crd *apiextensionsv1.CustomResourceDefinition) (int, error) {
	if previous == nil || previous.Annotations[deploy.CRDVersionAnnotation] == "" {
		return 1, nil
	}
	text := previous.Annotations[deploy.CRDVersionAnnotation]
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, fmt.Errorf("annotation %s: %q is not a version: restore the file from git", deploy.CRDVersionAnnotation, text)
	}
	same, err := haveSameSpec(previous, crd)
	if err != nil || same {
		return version, err
	}
	return version + 1, nil
}

// haveSameSpec reports whether two CRDs have the same spec as YAML.
func haveSameSpec(a, b *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	var specs [2]any
	for i, crd := range []*apiextensionsv1.CustomResourceDefinition{a, b} {
		text, err := yaml.Marshal(crd.Spec)
		if err != nil {
			return false, err
		}
		if err := yaml.Unmarshal(text, &specs[i]); err != nil {
			return false, err
		}
	}
	return equality.Semantic.DeepEqual(specs[0], specs[1]), nil
}
