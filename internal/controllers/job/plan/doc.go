// Package plan computes what to do about one job. It is a pure function from the observed objects to the writes.
//
//	In:   Input: the job, its pods, PodGroup and queue, the commands for it, the pods that vanished, and the time
//	Out:  Plan: the writes in the order in which to carry them out, the events to record, and the time of the next plan
//
// The plan is level-based: it depends on the observed objects, not on the notifications that led to them. An event that
// policies respond to is a fact visible in the objects: a failed pod of the current version, a pod that is deleted by
// another component, or fewer pods than the status counts. Events therefore survive a restart of the controller and a
// missed watch event.
//
// # Invariants
//
//   - Pure: equal inputs give equal plans, and only the Input is read.
//   - Each phase change is one write of the status, guarded by the job's resourceVersion, and comes before the writes
//     that follow from the new phase. After a crash between any two writes, the next plan finds the phase and continues
//     with the remaining writes.
//   - A pod is stopped only if the status already written does not count on it.
//   - A pod's name follows from its place (job, task, index), so a place never has two live pods.
//   - status.version increases when all pods of the job are stopped. Live pods of an older version are stopped, and
//     their end is not an event.
package plan
