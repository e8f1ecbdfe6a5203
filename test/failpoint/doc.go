// Package failpoint kills vcd between two writes, so that a test can check the state that such a crash leaves.
//
//	In:   $VC_FAILPOINT: the write at which to crash; $VC_FAILPOINT_LOG: a file to which all writes are logged
//	Out:  SIGKILL to the process itself
//
// A failpoint consists of moment, verb, resource, number and texts. "after create pods 3 train" crashes as soon as the
// API server has answered the third successful creation of a pod whose request contains "train", before any code of the
// process sees the answer; "before …" crashes without sending the request. All writes of all components pass through
// this package, whatever client sends them.
//
// cmd/vcd/app uses it only if it is built with the tag failpoints, so released programs do not contain it.
package failpoint
