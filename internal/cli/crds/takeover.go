package crds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli/crdcompare"
)

// fieldManager is the field manager of the CRDs that vcctl applies.
const fieldManager = "vc-crds"

// kubectlManager is the field manager of kubectl apply without --server-side.
const kubectlManager = "kubectl-client-side-apply"

// applyOne applies one CRD on the server. With dryRun, the server stores nothing.
func (o *applyOptions) applyOne(ctx context.Context, c client.Client, p *pair, dryRun bool) error {
	object, err := toApply(p.own)
	if err != nil {
		return err
	}
	wasKubectls := p.have != nil && isManagedBy(p.have, kubectlManager)
	options := []client.ApplyOption{client.FieldOwner(fieldManager)}
	if dryRun {
		options = append(options, client.DryRunAll)
	} else if wasKubectls {
		if err := takeOverFromKubectl(ctx, c, p.have); err != nil {
			return err
		}
	}
	isReplacement := p.State == crdcompare.Foreign // the user has confirmed it
	// A dry run cannot take fields over first, so it ignores the conflicts if kubectl is the only other manager.
	isTakeover := dryRun && wasKubectls && !hasOtherManagers(p.have)
	if o.forceConflicts || isReplacement || isTakeover {
		options = append(options, client.ForceOwnership)
	}
	return conflictError(c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...), p.Name)
}

// toApply returns the fields of a CRD to apply.
func toApply(crd *apiextensionsv1.CustomResourceDefinition) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return nil, fmt.Errorf("CRD %s: %w", crd.Name, err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: content}, nil
}

// takeOverFromKubectl makes fieldManager the manager of the fields that kubectl apply has set. Otherwise, each changed
// field would be a conflict, and fields that the new CRD lacks would stay.
func takeOverFromKubectl(ctx context.Context, c client.Client, have *apiextensionsv1.CustomResourceDefinition) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(have, sets.New(kubectlManager), fieldManager)
	if err != nil || patch == nil {
		return err
	}
	return c.Patch(ctx, have.DeepCopy(), client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(fieldManager))
}

func isManagedBy(crd *apiextensionsv1.CustomResourceDefinition, manager string) bool {
	return slices.ContainsFunc(crd.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == manager })
}

// hasOtherManagers reports whether fields of a CRD, except its status, are managed by neither kubectl apply nor vcctl.
func hasOtherManagers(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		isKnown := entry.Manager == kubectlManager || entry.Manager == fieldManager
		return !isKnown && entry.Subresource == ""
	})
}

// crdOwners returns a text that lists the managers of a CRD's fields.
func crdOwners(crd *apiextensionsv1.CustomResourceDefinition) string {
	var owners []string
	for _, entry := range crd.ManagedFields {
		if entry.Subresource == "" {
			owners = append(owners, entry.Manager+"/"+string(entry.Operation))
		}
	}
	slices.Sort(owners)
	return strings.Join(owners, " ")
}
