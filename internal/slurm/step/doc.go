// Package step implements the program vc-step, which runs inside the pods of a batch job. The program selects the
// command by the name under which it is called. Package launcher runs the script in the first pod (the head), and an
// agent in each pod runs the tasks of steps. Packages srun and podcommands implement the commands that scripts call.
// The main function is in cmd/vc-step.
//
//	launcher (head) ──┬─ script ── srun ── requests a step from stepmgr: number, nodes, processors
//	                  │             │
//	                  │             ├──▶ agent of the head ── tasks
//	                  └─ agent      └──▶ agents of the other pods ── tasks
//
// A step belongs to its srun, which has one connection to the head and one to each agent. The step ends when the
// connection to the head is closed, and tasks end when the connection to their agent is closed. Streams, signals and
// exit codes are transferred as frames on these connections. Within a pod, a connection uses a socket in a directory of
// the pod. Between pods, it uses TLS, and both sides prove that they have the job's key (package protocol).
//
// # Invariants
//
//   - Without the job's key, nothing can be started. A job with a single pod does not listen on the network.
//   - A task ends together with its srun and with the script, unless the task leaves its process group.
//   - After the script has ended, the launcher writes a launchconfig.Report and ends with the script's exit code.
//   - No package below this directory needs or uses access to the Kubernetes API, because podcommands runs vcctl for
//     the commands that do.
package step
