// Package bench measures how fast the whole is: real API server, real etcd,
// real daemon, simulated nodes. Nothing runs unless VC_BENCH is set:
//
//	VC_BENCH=1   go test ./test/bench -v -count=1 -timeout 60m          # every line
//	VC_BENCH=all go test ./test/bench -v -count=1 -timeout 120m         # and its growth with the nodes
//	VC_BENCH=1   go test ./test/bench -v -count=1 -run TestBindPhase    # one line
//	VC_BENCH=20x100,5000x1 VC_BENCH_ROUNDS=5 go test ./test/bench -v -count=1 -run TestWholeWay
//
// VC_BENCH_VCD names a daemon other than one built from here, VC_BENCH_PROFILE a
// directory for profiles of it. `make bench` shows all figures as one table, and
// keeps them in docs with KEEP=1.
//
// Speed is compared, against the same API server in the same run, with a bare
// loop of creates and then binds for as many pods of the same kind. That is what
// an honest simple client does: fifty workers, protobuf, no rate limit.
//
// The control plane and the simulated nodes live in this process, the daemon is
// the real vcd in a process of its own, all on the same processors.
package bench
