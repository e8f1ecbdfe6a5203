package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Numatopology says how the cpus of the node of the same name are arranged, and which are free. An agent on the node
// writes it; policy numa-aware reads it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=numatopo,scope=Cluster
type Numatopology struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NumatopoSpec `json:"spec,omitempty"`
}

// NumatopologyList is a list of Numatopology.
//
// +kubebuilder:object:root=true
type NumatopologyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Numatopology `json:"items"`
}

// PolicyName names one of the kubelet's managers.
//
// +kubebuilder:validation:Enum=CPUManagerPolicy;TopologyManagerPolicy
type PolicyName string

// The managers whose policy is reported.
const (
	CPUManagerPolicy      PolicyName = "CPUManagerPolicy"
	TopologyManagerPolicy PolicyName = "TopologyManagerPolicy"
)

// NumatopoSpec is what the agent found.
type NumatopoSpec struct {
	// Policies of the kubelet's managers, such as static and single-numa-node.
	// +optional
	Policies map[PolicyName]string `json:"policies,omitempty"`
	// ResReserved is what the kubelet keeps from pods, by resource; cpu as a quantity.
	// +optional
	ResReserved map[string]string `json:"resReserved,omitempty"`
	// NumaResMap is what is free, by resource.
	// +optional
	NumaResMap map[string]ResourceInfo `json:"numares,omitempty"`
	// CPUDetail says where each cpu sits, by its number.
	// +optional
	CPUDetail map[string]CPUInfo `json:"cpuDetail,omitempty"`
	// PodAllocations lists the pods, by uid or namespace/name, whose cpus are out of NumaResMap already.
	// Its form is the agent's.
	// +optional
	PodAllocations *apiextensionsv1.JSON `json:"podAllocations,omitempty"`
}

// ResourceInfo is how much of a resource there is.
type ResourceInfo struct {
	// Allocatable lists the free cpus: 0-3,8.
	// +optional
	Allocatable string `json:"allocatable,omitempty"`
	// Capacity is how many there are.
	// +optional
	Capacity int `json:"capacity,omitempty"`
}

// CPUInfo says where a cpu sits. A core's number is unique in its socket only.
type CPUInfo struct {
	// +kubebuilder:validation:Minimum=0
	// +optional
	NUMANodeID int `json:"numa,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	SocketID int `json:"socket,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	CoreID int `json:"core,omitempty"`
}
