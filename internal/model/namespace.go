package model

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// NamespaceSet adds or replaces a namespace.
type NamespaceSet struct {
	Name   string
	Labels map[string]string
}

// NamespaceGone removes a namespace.
type NamespaceGone struct{ Name string }

// NamespaceFrom converts a namespace.
func NamespaceFrom(n *corev1.Namespace) NamespaceSet {
	return NamespaceSet{Name: n.Name, Labels: n.Labels}
}

func (d NamespaceSet) apply(c *Cluster) {
	if old, known := c.Namespaces[d.Name]; known && maps.Equal(old, d.Labels) {
		return
	}
	c.Namespaces[d.Name] = d.Labels
	c.NamespaceGen = c.nextGeneration()
}

func (d NamespaceGone) apply(c *Cluster) {
	if _, known := c.Namespaces[d.Name]; known {
		delete(c.Namespaces, d.Name)
		c.NamespaceGen = c.nextGeneration()
	}
}
