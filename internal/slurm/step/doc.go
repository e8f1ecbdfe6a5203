// Package step runs inside the pods of a batch job. It contains the launcher, which runs the script once in the first
// pod (the head); an agent in each pod, which runs the tasks of steps; and the commands srun, scontrol, squeue and
// scancel that scripts call. cmd/vc-step is its main function.
//
//	launcher (head) ──┬─ script ── srun ── asks the head for a step: number, nodes, processors
//	                  │             │
//	                  │             ├──▶ agent of the head ── tasks
//	                  └─ agent      └──▶ agents of the other pods ── tasks
//
// A step belongs to its srun, which holds one connection to the head and one to each agent. The step ends when the
// connection to the head closes; tasks end when the connection to their agent closes. Streams, signals and exit codes
// are frames on these connections. Within a pod the connection is a socket in a directory of the pod. Between pods it
// is TLS, and both sides prove that they have the job's key (auth.go).
//
// # Invariants
//
//   - Without the job's key nothing can be started; a job with one pod does not listen on the network.
//   - A task ends with its srun and with the script, unless it leaves its process group.
//   - The launcher ends after the script with the script's exit code and writes a launch.Report.
//   - The package itself neither needs nor uses access to the Kubernetes API; outside.go runs vcctl for commands
//     that do.
//
// # Concurrency
//
// Each connection has one goroutine. One mutex guards the head's record of the steps (head.go).
package step
