// Package bench measures how fast the whole is: real API server, real etcd,
// real daemon, simulated nodes. Nothing runs unless VC_BENCH is set:
//
//	VC_BENCH=1   go test ./test/bench -v -count=1 -timeout 30m          # 20 jobs of 100 pods
//	VC_BENCH=all go test ./test/bench -v -count=1 -timeout 60m          # every shape
//	VC_BENCH=20x100,5000x1 VC_BENCH_ROUNDS=5 go test ./test/bench …     # your own
//
// Each line compares, against the same API server in the same run, what we need
// from submitting Jobs to the last bind with what a bare loop of creates and
// then binds needs for as many pods of the same kind. The bare loop is what an
// honest simple client does: fifty workers, protobuf, no rate limit.
//
// The control plane and the simulated nodes live in this process, the daemon is
// the real vcd in a process of its own, all on the same processors.
package bench
