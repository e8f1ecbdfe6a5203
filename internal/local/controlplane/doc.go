// Package controlplane runs a real Kubernetes control plane inside this process: etcd, kube-apiserver and
// kube-controller-manager, with their own certificate authority.
//
//	In:   a directory, optionally a port, whether data must survive a power failure
//	Out:  a ready API server on 127.0.0.1 and credentials for it
//
// # Invariants
//
//   - All listeners are on 127.0.0.1, or on a unix socket in a directory that only its owner may enter.
//   - Start returns either a control plane whose API server and controllers respond, or an error with no part left
//     running.
//   - The authority and the service-account key are created once and kept. All other certificates are created at
//     each start, so they never expire.
//
// # Concurrency
//
// kube-apiserver and kube-controller-manager keep settings in global variables, so a process may run only one
// ControlPlane at a time. Any goroutine may call the methods of a ControlPlane.
package controlplane
