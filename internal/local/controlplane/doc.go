// Package controlplane runs a real Kubernetes control plane inside this
// process: etcd, kube-apiserver and kube-controller-manager, with a
// certificate authority of its own.
//
//	In:   a directory, a port (or none), whether data must survive a power cut
//	Out:  a ready API server on 127.0.0.1 and the credentials to talk to it
//
// # Invariants
//
//   - Nothing listens on anything but 127.0.0.1 and a unix socket in a
//     directory that only its owner may enter.
//   - Start either returns a control plane whose API server and controllers
//     answer, or an error with nothing of it left running.
//   - The authority and the service-account key are made once and kept; every
//     other certificate is made anew at each start, so that none expires.
//
// # Concurrency
//
// kube-apiserver and kube-controller-manager keep settings in global
// variables: at most one ControlPlane may run in a process at a time. The
// methods of a ControlPlane may be called from any goroutine.
package controlplane
