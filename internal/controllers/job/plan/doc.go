// Package plan computes what to do about a job. Its main function, Compute, is a pure function that maps the observed
// objects to writes.
//
//	In:   Input: the job, its pods, PodGroup and queue, the commands for it, the pods that vanished, and the time
//	Out:  Plan: the writes in the order in which to carry them out, the events to record, and the time of the next plan
//
// The plan is level-based, which means that it depends on the observed objects, not on the notifications about them. An
// event to which policies respond is a fact that is visible in the objects, such as a failed pod of the current
// version, a pod that is being deleted by another component, or fewer pods than the status counts. Events are therefore
// not lost if the controller restarts or misses a watch event.
//
// # Invariants
//
//   - Compute is pure: equal inputs give equal plans, whatever the order of their pods, and only the Input is read.
//   - Each phase change is a single write of the status, guarded by the job's resourceVersion. It precedes the
//     writes that follow from the new phase. After a crash between any two writes, the next plan reads the phase
//     and continues with the remaining writes.
//   - A pod is stopped only if the status written before does not rely on it.
//   - The name of a pod is derived from its place (job, task, index), so a place never has two live pods.
//   - status.version increases when all pods of the job are stopped. Live pods of older versions are stopped, and
//     their end is not an event.
package plan
