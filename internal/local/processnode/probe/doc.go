// Package probe asks a container how it is: by a command, over HTTP or TCP, or by gRPC's health service.
//
//	In:   a corev1.Probe, a Target
//	Out:  a result whenever it changes, after as many answers in a row as the thresholds say
//
// Counting is pure (Counter); Run is the loop around it.
package probe
