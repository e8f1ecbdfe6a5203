// Package step is what runs inside the pods of a batch job: the launcher, which runs the script once, in the head; an agent in each pod, which runs the
// tasks of steps; and srun, scontrol, squeue and scancel as a script finds them there. cmd/vc-step is its main function.
//
//	launcher (head) ──┬─ script ── srun ── asks the head for a step: number, nodes, processors
//	                  │             │
//	                  │             ├──▶ agent of the head ── tasks
//	                  └─ agent      └──▶ agents of the other pods ── tasks
//
// A step is srun's: it holds one connection to the head, on which the step lives as long as the connection does, and one to each agent, on which the
// tasks live as long. Streams, signals and exit codes are frames on those. Inside a pod the connection is a socket in a directory of the
// pod; between pods it is TLS in which both sides prove that they know the job's key (auth.go).
//
// # Invariants
//
//   - Whoever does not know the job's key can start nothing; a job of one pod listens on no network at all.
//   - A task outlives neither its srun nor the script, unless it leaves its process group.
//   - The launcher ends when the script has, with the script's code, and tells package launch's Report.
//   - No right to the Kubernetes API is needed, and none is used.
//
// # Concurrency
//
// One goroutine a connection. What the head knows of steps is behind one mutex (head.go).
package step
