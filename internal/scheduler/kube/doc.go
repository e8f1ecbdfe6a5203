// Package kube runs kube-scheduler's own plugins to check the volumes and devices that pods attach: VolumeBinding,
// VolumeZone, NodeVolumeLimits and VolumeRestrictions for volumes, DynamicResources for devices. It handles only pods
// that attach volumes or devices.
//
//	In:   model.Cluster with its Attachable, the session's overlay
//	Out:  a framework.NodeRule, and decision.Attach for pods that were placed on a node
//
// The plugins need informers, listers, a client and a framework. In this package, an informer is a view of the model
// without a goroutine, and the client only records writes. The recorded writes become part of the decision, which the
// outbox carries out.
//
// # Invariants
//
//   - Each verdict equals the verdict that the plugins would return. Nodes that are excluded before the plugins run
//     (because of volumes tied to other host names, or devices of other nodes) would be excluded by the plugins as
//     well.
//   - Volumes and devices for a placed task count as used for later tasks in the cycle. Undoing placements in reverse
//     order restores the earlier state.
//   - The same model leads to the same verdicts: lists are sorted, and caches are valid for a single generation. The
//     only exceptions are the random share IDs that Kubernetes assigns to devices that several claims may share.
//
// # Concurrency
//
// Each engine has its own Adapter. The plugins start no goroutines here, although the search for devices sets a timer.
package kube
