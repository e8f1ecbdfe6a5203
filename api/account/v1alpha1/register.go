package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of this package.
const GroupName = "account.vc-batch.dev"

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// SchemeBuilder collects the functions that register these kinds.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers these kinds in a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

// Resource returns the qualified name of a resource in this group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Account{}, &AccountList{}, &QOS{}, &QOSList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
