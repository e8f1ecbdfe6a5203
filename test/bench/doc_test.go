// Package bench measures the performance of the whole system: a real API server, a real etcd and a real daemon, with
// simulated nodes. The benchmarks run only if VC_BENCH is set:
//
//	VC_BENCH=1   go test ./test/bench -v -count=1 -timeout 60m          # every line
//	VC_BENCH=all go test ./test/bench -v -count=1 -timeout 120m         # and its growth with the nodes
//	VC_BENCH=1   go test ./test/bench -v -count=1 -run TestBindPhase    # one line
//	VC_BENCH=20x100,5000x1 VC_BENCH_ROUNDS=5 go test ./test/bench -v -count=1 -run TestWholeWay
//
// VC_BENCH_VCD is the path of a daemon to use instead of building one. VC_BENCH_PROFILE is a directory for its
// profiles. `make bench` prints all figures as one table, and stores them in docs with KEEP=1.
//
// Speed is compared with a bare loop on the same API server in the same run. The loop creates and then binds as many
// pods of the same kind, as a simple client would: with fifty workers, protobuf, and no rate limit.
//
// The control plane and the simulated nodes run in this process. The daemon is the real vcd in its own process. All
// share the same processors.
package bench
