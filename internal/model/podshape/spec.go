package podshape

import (
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model/resource"
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

// Spec is the part of a pod that decides where the pod may run. Pods with equal specs have the same model.Shape and
// are evaluated only once.
type Spec struct {
	Requests     []resource.Amount // including the pod itself, as 1 of the resource pods
	NodeSelector map[string]string
	NodeAffinity *corev1.NodeAffinity
	Tolerations  []corev1.Toleration
	Ports        []Port
	// Images lists the images of all containers and volumes. ImageCount is the number of containers, including init
	// containers, and of volumes with an image.
	Images     []string
	ImageCount int
	// The following fields are set only for pods that have such rules. The rules depend on other pods, so these
	// shapes are slower to evaluate.
	PodAffinity     *corev1.PodAffinity
	PodAntiAffinity *corev1.PodAntiAffinity
	Spread          []corev1.TopologySpreadConstraint
	Namespace       string
	// Labels holds those labels of the pod that the rules above use to select pods.
	Labels map[string]string
	// Containers is set for pods whose placement depends on individual containers; see Container.
	Containers []Container
	// Pinned is true if the pod has QoS class Guaranteed and a container that requests whole CPUs. The kubelet may
	// give such a pod exclusive CPUs.
	Pinned bool
	// LimitMilliCPU and LimitMemoryBytes are the limits of the pod; 0 if unset.
	LimitMilliCPU, LimitMemoryBytes int64
	// Notes holds the annotations that constrain where the pod may run, or prefer some nodes.
	Notes map[string]string
	// Attached is the part of the pod that is read by Kubernetes' plugins for volumes and devices; nil if there is no
	// such part. It must not be changed.
	Attached *corev1.Pod
	// Unsupported lists the parts of the pod that only those plugins can check.
	Unsupported []string
	key         string
}

// ResetKey discards the cached key. Call it after a field of a copied spec was changed.
func (s *Spec) ResetKey() { s.key = "" }

// Key returns a string that is equal for equal specs.
func (s *Spec) Key() string {
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
	b = append(strconv.AppendInt(b, int64(s.ImageCount), 10), '|')
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

// appendDetails appends to a shape's key the fields that only some pods need.
func (s *Spec) appendDetails(b []byte) []byte {
	if s.LimitMilliCPU|s.LimitMemoryBytes != 0 {
		b = append(strconv.AppendInt(append(b, "|lc"...), s.LimitMilliCPU, 10), 'm')
		b = strconv.AppendInt(b, s.LimitMemoryBytes, 10)
	}
	if len(s.Notes) > 0 {
		b = appendMapKey(append(b, "|no"...), s.Notes)
	}
	if len(s.Containers) == 0 {
		return b
	}
	b = strconv.AppendBool(append(b, "|co"...), s.Pinned)
	for i := range s.Containers {
		c := &s.Containers[i]
		b = append(append(append(b, '|'), c.Name...), '=')
		b = strconv.AppendBool(strconv.AppendBool(b, c.Init), c.Sidecar)
		b = strconv.AppendInt(append(b, ','), c.MilliCPU, 10)
		for _, a := range c.Devices {
			b = append(append(append(b, ';'), a.Name...), '=')
			b = strconv.AppendInt(b, a.Value, 10)
		}
	}
	return b
}
