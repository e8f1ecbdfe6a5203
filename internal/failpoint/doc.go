// Package failpoint kills vcd in the middle of its work, so that a test sees what a crash between two writes leaves behind.
//
//	In:   $VC_FAILPOINT: at which write to die; $VC_FAILPOINT_LOG: a file that every write is noted in
//	Out:  SIGKILL to the process itself
//
// A point is named by moment, verb, resource, number and texts: "after create pods 3 train" dies as soon as the API server has answered the
// third successful create of a pod whose request contains "train", before anybody in the process hears of the answer; "before …" dies
// without sending it. All writes of all parts pass through here, whatever client sends them.
//
// It is compiled in only with the build tag failpoints: no program that people get can be told to die.
package failpoint
