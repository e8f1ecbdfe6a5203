// Package prospect says what would happen if jobs and queues were submitted now. The job controller's own plan makes the pods, the
// scheduler's own engine decides about them; here is only what brings the two together.
//
//	In:   Question: a Plan and what admission would look at; the engine and the model
//	Out:  insight.PlanStatus
//
// It goes in two steps. Prepare does what needs no model: it judges the objects with the rules of admission and makes the PodGroups, pods and
// claims that the job controller would make. Thought.Answer puts them into the model, runs one cycle, and takes them out again.
//
// # Invariants
//
//   - Pure: nothing is written, and the model is afterwards as it was.
//   - A job is thought of as alone in what it needs: one object that would be refused leaves the others as they are.
//
// # Concurrency
//
// Prepare may run anywhere. Thought.Answer belongs to the goroutine of the model.
package prospect
