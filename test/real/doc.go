// Package real runs vc on a Kubernetes cluster of this machine that has nothing simulated: three nodes, each with its
// own kubelet, containerd and kube-proxy, and the control plane of vc-local. The images are built by the tests.
//
// The test process starts itself again in new PID, mount and network namespaces. Everything that the cluster starts
// runs in them, so that the machine's network does not change, and no process remains when the tests end.
//
// The tests need root and Debian's packages containerd, runc, containernetworking-plugins, nftables, busybox-static,
// mmdebstrap and libopenmpi-dev. Without them, they skip.
package real
