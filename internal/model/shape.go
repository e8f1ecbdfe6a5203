package model

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Port is a host port that a pod uses. An empty IP means all addresses.
type Port struct {
	IP       string
	Protocol corev1.Protocol
	Number   int32
}

// ConflictsWith reports whether two ports cannot both be used on the same node.
func (p Port) ConflictsWith(q Port) bool {
	if p.Number != q.Number || p.Protocol != q.Protocol {
		return false
	}
	return p.IP == q.IP || p.IP == "" || q.IP == ""
}

// ShapeSpec is the part of a pod that decides where the pod may run. Pods with equal specs share a Shape and are
// evaluated only once.
type ShapeSpec struct {
	Requests     []Amount // including the pod itself, as 1 of the resource pods
	NodeSelector map[string]string
	NodeAffinity *corev1.NodeAffinity
	Tolerations  []corev1.Toleration
	Ports        []Port
	// Images lists the images of all containers and volumes. ContainerCount is the number of containers, including init
	// containers.
	Images         []string
	ContainerCount int
	// The following fields are set only for pods that have such rules. The rules depend on other pods, so these
	// shapes are slower to evaluate.
	PodAffinity     *corev1.PodAffinity
	PodAntiAffinity *corev1.PodAntiAffinity
	Spread          []corev1.TopologySpreadConstraint
	Namespace       string
	// Labels holds the labels of the pod that the rules above select by.
	Labels map[string]string
	// Containers is set for pods whose placement depends on individual containers: see Container.
	Containers []Container
	// Pinned is true if the pod has QoS class Guaranteed and a container that requests whole CPUs. The kubelet may
	// give such a pod exclusive CPUs.
	Pinned bool
	// LimitMilliCPU and LimitMemoryBytes are the limits of the pod; 0 if unset.
	LimitMilliCPU, LimitMemoryBytes int64
	// Notes holds the annotations that constrain where the pod may run, or prefer some nodes.
	Notes map[string]string
	// Attached is the part of the pod that Kubernetes' plugins for volumes and devices read; nil if none exists. It
	// must not be changed.
	Attached *corev1.Pod
	// Unsupported lists the parts of the pod that only those plugins can check.
	Unsupported []string
	key         string
}

// Key returns a string that is equal for equal specs.
func (s *ShapeSpec) Key() string {
	if s.key != "" {
		return s.key
	}
	b := make([]byte, 0, 192)
	for _, a := range s.Requests {
		b = append(append(b, a.Name...), '=')
		b = append(strconv.AppendInt(b, a.Value, 10), ';')
	}
	b = appendMapKey(append(b, '|'), s.NodeSelector)
	for _, p := range s.Ports {
		b = append(append(append(b, p.IP...), '/'), p.Protocol...)
		b = append(strconv.AppendInt(append(b, ':'), int64(p.Number), 10), ';')
	}
	for _, image := range s.Images {
		b = append(append(b, image...), ';')
	}
	b = append(strconv.AppendInt(b, int64(s.ContainerCount), 10), '|')
	b = appendJSONKey(b, "na", s.NodeAffinity != nil, s.NodeAffinity)
	b = appendJSONKey(b, "to", len(s.Tolerations) > 0, s.Tolerations)
	b = appendJSONKey(b, "pa", s.PodAffinity != nil, s.PodAffinity)
	b = appendJSONKey(b, "aa", s.PodAntiAffinity != nil, s.PodAntiAffinity)
	b = appendJSONKey(b, "sp", len(s.Spread) > 0, s.Spread)
	b = append(append(append(b, '|'), s.Namespace...), '|')
	b = appendMapKey(b, s.Labels)
	b = appendJSONKey(b, "at", s.Attached != nil, s.Attached)
	for _, u := range s.Unsupported {
		b = append(append(b, u...), ';')
	}
	b = s.appendDetails(b)
	s.key = string(b)
	return s.key
}

func appendMapKey(b []byte, m map[string]string) []byte {
	if len(m) == 0 {
		return append(b, '|')
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = append(append(append(append(b, k...), '='), m[k]...), ';')
	}
	return append(b, '|')
}

func appendJSONKey(b []byte, label string, present bool, v any) []byte {
	if !present {
		return b
	}
	j, err := json.Marshal(v) // marshaling an API type never fails
	if err != nil {
		j = []byte(err.Error())
	}
	return append(append(append(b, label...), j...), '|')
}

// Shape is a ShapeSpec that all pods with equal specs share, with its requests as a sparse vector.
type Shape struct {
	ID  int32
	Key string
	ShapeSpec
	Request Request
	// BestEffort is true if the shape requests nothing but a pod slot.
	BestEffort bool
	// Impossible is true if the shape requests more of a resource than any node can ever have.
	Impossible bool
	// Slow is true for shapes with pod affinity or topology spread, whose placement depends on other pods.
	Slow bool
	// Required is the node selector and the required node affinity; nil if unset.
	Required *nodeaffinity.RequiredNodeAffinity
	// Preferred is the preferred node affinity; nil if unset.
	Preferred *nodeaffinity.PreferredSchedulingTerms
	// MalformedAffinity describes the error in an invalid affinity; "" if the affinity is valid. A shape with an
	// invalid affinity fits nowhere.
	MalformedAffinity string

	// Plain is the shape without its volumes and devices. If the shape has none, Plain is the shape itself.
	Plain *Shape

	volumeClaims []string
	tasks        int // live tasks of this shape
	inQueues     int // tasks of gangs that have this shape and have not ended, plus counted placements
}

// IsInQueues reports whether any gang has, or expects, a pod of this shape that has not ended.
func (s *Shape) IsInQueues() bool { return s.inQueues > 0 }

func (s *Shape) readAffinity() {
	if len(s.NodeSelector) > 0 || s.NodeAffinity != nil && s.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: s.NodeSelector}}
		if s.NodeAffinity != nil {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: s.NodeAffinity}
			if req := s.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; req != nil {
				if _, err := nodeaffinity.NewNodeSelector(req); err != nil {
					s.MalformedAffinity = err.Error()
				}
			}
		}
		r := nodeaffinity.GetRequiredNodeAffinity(pod)
		s.Required = &r
	}
	if s.NodeAffinity != nil && len(s.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		p, err := nodeaffinity.NewPreferredSchedulingTerms(s.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		if err != nil {
			s.MalformedAffinity = err.Error()
			return
		}
		s.Preferred = p
	}
}

// normalizeImage adds the tag :latest to an image name without a tag.
func normalizeImage(name string) string {
	if strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
		return name + ":latest"
	}
	return name
}

// toAPINode returns a Node with the fields that the affinity matchers read.
func toAPINode(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}
