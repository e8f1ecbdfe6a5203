// Package probe runs the probes of a container by a command, by HTTP or TCP, or by gRPC's health service.
//
//	In:   a corev1.Probe, a Target
//	Out:  a result whenever it changes, that is, after as many equal outcomes in a row as the threshold requires
//
// The counting is pure (Counter). Run implements the loop around it. The kubelet's probers
// (k8s.io/kubernetes/pkg/probe) send the requests. Commands run in the container without a prober, because the prober's
// interface is that of a local process.
package probe
