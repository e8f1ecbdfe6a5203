// Package plan decides what to do about one job: a pure function from what is there to what to write.
//
//	In:   Input: the job, its pods, its PodGroup and queue, commands for it, pods that were seen to vanish, and the time
//	Out:  Plan: writes in the order in which to carry them out, events to record, when to look again
//
// The plan is level-based: it follows from what is there, not from what was heard. An event that policies answer is a fact
// visible in the objects (a failed pod of the present version, a pod going away that nobody here sent away, fewer pods than status counts),
// so it survives a restart of the controller and a missed watch event.
//
// # Invariants
//
//   - Pure: equal inputs give equal plans; nothing is read but the Input.
//   - Each change of phase is one write of the status, guarded by the job's resourceVersion, and comes before the writes that follow from the
//     new phase. After a crash between any two writes the next plan finds the phase and goes on with the rest.
//   - A pod is stopped only if the status already written does not count on it.
//   - A pod's name is its place (job, task, index): there is never a second live pod for a place.
//   - status.version grows when all pods of the job are stopped. A live pod of an older version is stopped; its end is no event.
package plan
