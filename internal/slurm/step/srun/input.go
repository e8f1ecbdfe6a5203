package srun

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// feedInput starts sending srun's input to the tasks that receive it.
func (r *runner) feedInput() {
	var readers []*nodeTasks
	for _, n := range r.nodes {
		if len(n.windows) > 0 {
			readers = append(readers, n)
		}
	}
	if len(readers) == 0 {
		return
	}
	from := io.Reader(os.Stdin)
	mode := r.options.Input
	if namesInputFile(mode) && !r.options.PTY {
		file, err := os.Open(mode)
		if err != nil {
			r.printNotice("error: Could not open stdin file " + mode + ": " + slurmerror.SystemReason(err).Error())
			from = strings.NewReader("")
		} else {
			from = file
		}
	}
	go pumpInput(from, readers)
}

// namesInputFile reports whether a value of --input is the name of a file, rather than "all" or the number of a task.
func namesInputFile(mode string) bool {
	_, err := strconv.Atoi(mode)
	isTask := err == nil
	return mode != "" && mode != "all" && !isTask
}

// pumpInput reads the input until its end and sends each piece to all tasks. It is as slow as the slowest task.
func pumpInput(from io.Reader, to []*nodeTasks) {
	buffer := make([]byte, protocol.ChunkSize)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			var all sync.WaitGroup
			for _, node := range to {
				all.Go(func() { node.feedTasks(buffer[:n]) })
			}
			all.Wait()
		}
		if err != nil {
			for _, node := range to {
				for rank := range node.windows {
					_ = node.conn.SendFrame(protocol.StdinEndFrame, uint32(rank), nil)
				}
			}
			return
		}
	}
}

// feedTasks sends a piece of input to each task on the node that receives input. For each task, it waits until the
// task's window permits sending.
func (n *nodeTasks) feedTasks(data []byte) {
	for _, t := range n.tasks {
		if room := n.windows[t.Rank]; room != nil && room.waitForRoom() {
			_ = n.conn.SendFrame(protocol.StdinFrame, uint32(t.Rank), data)
		}
	}
}
