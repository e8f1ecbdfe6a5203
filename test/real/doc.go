// Package real tests vc on a Kubernetes cluster of three nodes on this machine. Each node has its own kubelet, containerd
// and kube-proxy, and runs real containers. Only the number of processors is simulated. The control plane is that of
// vc-local, and the tests build the images.
//
// The test process starts itself again in new PID, mount and network namespaces. Everything that the cluster starts
// runs in them, so that the machine's network does not change, and no process remains when the tests end.
//
// The tests need root and Debian's packages containerd, runc, containernetworking-plugins, nftables, busybox-static,
// mmdebstrap and libopenmpi-dev. Without them, they skip.
package real
