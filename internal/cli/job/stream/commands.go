// Package stream implements the commands of `vcctl job` that connect to the pods of a job: logs, exec and attach.
//
//	In:           a job's pods; the logs and streams of their containers
//	Out:          log lines with a label for each container; the input and output of a program in a pod
//	Invariants:   each line is written whole; a log that breaks off continues after its last printed line
//	Concurrency:  with --follow, each container has a goroutine; all of them write to one sink, which is locked
package stream

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Commands returns the commands that connect to pods.
func Commands(f *cli.Factory) []*cobra.Command {
	return []*cobra.Command{newLogs(f, printLogs), newExec(f, runInPod), newAttach(f, runInPod)}
}
