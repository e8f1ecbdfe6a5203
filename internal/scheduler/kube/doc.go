// Package kube has kube-scheduler's own plugins judge what pods attach: volumes
// (VolumeBinding, VolumeZone, NodeVolumeLimits, VolumeRestrictions) and devices
// (DynamicResources). Only pods that attach something come here.
//
//	In:   model.Cluster with its Attachable, the session's overlay
//	Out:  a session.NodeRule, and decision.Attach for pods that took a node
//
// The plugins want informers, listers, a client and a framework. Here an informer
// is a view of the model that no goroutine runs, and the client only remembers
// what it was asked to write: that becomes data in the decision, which the outbox
// carries out.
//
// # Invariants
//
//   - A verdict is the plugins' own. What is left out before they are asked (volumes
//     that a node's name rules out, devices of other nodes) they would rule out too.
//   - What a task that took a node will use is used, for those after it in the
//     cycle; undone in reverse, everything is as it was.
//   - The same model gives the same verdicts: lists are sorted, nothing is kept but
//     what generations vouch for. Exception: the share ids that Kubernetes draws for
//     devices that several claims may share.
//
// # Concurrency
//
// An Adapter belongs to one engine. The plugins start no goroutine here; the
// search for devices sets a timer.
package kube
