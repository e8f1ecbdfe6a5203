// Package probe runs the probes of a container: with a command, over HTTP or TCP, or with gRPC's health service.
//
//	In:   a corev1.Probe, a Target
//	Out:  a result whenever it changes, after as many equal outcomes in a row as the thresholds require
//
// The counting is pure (Counter). Run is the loop around it.
package probe
