package main

import (
	"bytes"
	"testing"

	"github.com/vc-batch/vc/deploy"
)

func TestInstallYAMLHoldsEveryObjectAsItIsNow(t *testing.T) {
	t.Parallel()
	objects := deploy.Objects()
	for _, crd := range deploy.CRDs() {
		objects = append(objects, crd)
	}
	for _, object := range objects {
		document, err := render(object)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(deploy.InstallYAML, append([]byte("---\n"), document...)) {
			t.Errorf("install.yaml does not hold this; run make generate:\n%s", document[:min(len(document), 400)])
		}
	}
	if documents := bytes.Count(deploy.InstallYAML, []byte("---\n")); documents != len(objects) {
		t.Errorf("install.yaml has %d objects, and there are %d; run make generate", documents, len(objects))
	}
}
