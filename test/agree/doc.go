// Package agree holds the engine to kube-scheduler's own plugins: on random nodes
// and pods both let a pod onto the same nodes, and where we say that we score as
// they do, both find the same node best. Everything here is a test.
package agree
