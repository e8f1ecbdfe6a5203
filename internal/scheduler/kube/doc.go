// Package kube runs kube-scheduler's own plugins to check what pods attach: volumes (VolumeBinding, VolumeZone,
// NodeVolumeLimits, VolumeRestrictions) and devices (DynamicResources). It handles only pods that attach something.
//
//	In:   model.Cluster with its Attachable, the session's overlay
//	Out:  a session.NodeRule, and decision.Attach for pods that were placed on a node
//
// The plugins need informers, listers, a client and a framework. Here, an informer is a view of the model without a
// goroutine, and the client only records writes. The writes become data in the decision, which the outbox carries
// out.
//
// # Invariants
//
//   - A verdict equals the plugins' own. Nodes that are excluded before the plugins run (by volumes tied to other
//     host names, or devices of other nodes) would be excluded by the plugins as well.
//   - What a placed task will use counts as used for later tasks of the cycle. Undoing placements in reverse order
//     restores the earlier state.
//   - The same model gives the same verdicts: lists are sorted, and caches are valid for a generation. The
//     exception is the share IDs that Kubernetes draws for devices that several claims may share.
//
// # Concurrency
//
// An Adapter belongs to one engine. The plugins start no goroutine here; the search for devices sets a timer.
package kube
