package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Numatopology describes the CPU topology of the node with the same name, and which CPUs are free. It is written by
// an agent on the node and read by the policy numa-aware.
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

// PolicyName is the name of a policy setting of the kubelet.
//
// +kubebuilder:validation:Enum=CPUManagerPolicy;TopologyManagerPolicy
type PolicyName string

// The managers whose policy is reported.
const (
	CPUManagerPolicy      PolicyName = "CPUManagerPolicy"
	TopologyManagerPolicy PolicyName = "TopologyManagerPolicy"
)

// NumatopoSpec is the CPU topology as reported by the agent.
type NumatopoSpec struct {
	// Policies maps the kubelet's managers to their policies, such as static and single-numa-node.
	// +optional
	Policies map[PolicyName]string `json:"policies,omitempty"`
	// ResReserved is the amount of each resource that the kubelet reserves and does not give to pods. CPU is a
	// quantity.
	// +optional
	ResReserved map[string]string `json:"resReserved,omitempty"`
	// NumaResMap describes how much of each resource is free.
	// +optional
	NumaResMap map[string]ResourceInfo `json:"numares,omitempty"`
	// CPUDetail describes the location of each CPU, by CPU number.
	// +optional
	CPUDetail map[string]CPUInfo `json:"cpuDetail,omitempty"`
	// PodAllocations lists the pods, by UID or namespace/name, whose CPUs are no longer included in NumaResMap. The
	// format is defined by the agent.
	// +optional
	PodAllocations *apiextensionsv1.JSON `json:"podAllocations,omitempty"`
}

// ResourceInfo describes the amount of a resource.
type ResourceInfo struct {
	// Allocatable lists the free CPUs, for example 0-3,8.
	// +optional
	Allocatable string `json:"allocatable,omitempty"`
	// Capacity is the total number of CPUs.
	// +optional
	Capacity int `json:"capacity,omitempty"`
}

// CPUInfo describes the location of a CPU. Core numbers are unique only within a socket.
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
