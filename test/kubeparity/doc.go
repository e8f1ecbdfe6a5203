// Package kubeparity compares the engine with kube-scheduler's own plugins. On random nodes and pods, both must permit the
// same nodes for a pod. For scores that are documented as equal to kube-scheduler's, both must find the same best node.
// The package contains only tests.
package kubeparity
