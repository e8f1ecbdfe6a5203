package step

import (
	"io"
	"os"
	"strconv"
	"sync"
)

// feedInput starts sending srun's input to the tasks that read it.
func (r *runner) feedInput() {
	var readers []*nodeTasks
	for _, n := range r.nodes {
		if len(n.rooms) > 0 {
			readers = append(readers, n)
		}
	}
	if len(readers) == 0 {
		return
	}
	from := io.Reader(os.Stdin)
	mode := r.options.input
	if namesInputFile(mode) && !r.options.pty {
		file, err := os.Open(mode)
		if err != nil {
			r.printNotice("error: Could not open stdin file " + mode + ": " + systemReason(err).Error())
			from = eof{}
		} else {
			from = file
		}
	}
	go pumpInput(from, readers)
}

// namesInputFile reports whether a value of --input is the name of a file, not "all" or the number of a task.
func namesInputFile(mode string) bool {
	_, err := strconv.Atoi(mode)
	isTask := err == nil
	return mode != "" && mode != "all" && !isTask
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// pumpInput reads until the end of the input and sends each piece to all tasks. The slowest task determines the speed.
func pumpInput(from io.Reader, to []*nodeTasks) {
	buffer := make([]byte, chunk)
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
				for rank := range node.rooms {
					_ = node.wire.sendFrame(stdinEndFrame, uint32(rank), nil)
				}
			}
			return
		}
	}
}

// feedTasks sends a piece of input to each task of the node that reads input, as soon as the task's window permits it.
func (n *nodeTasks) feedTasks(data []byte) {
	for _, t := range n.tasks {
		if room := n.rooms[t.Rank]; room != nil && room.waitForRoom() {
			_ = n.wire.sendFrame(stdinFrame, uint32(t.Rank), data)
		}
	}
}

// room counts how many more pieces of input may be sent to a task before the task must acknowledge one.
type room struct {
	mu      sync.Mutex // guards the fields below
	free    int
	ended   bool
	changed chan struct{}
}

func newRoom() *room { return &room{free: window, changed: make(chan struct{})} }

// waitForRoom waits until a piece may be sent. It returns false if the task has ended.
func (r *room) waitForRoom() bool {
	for {
		r.mu.Lock()
		if r.ended {
			r.mu.Unlock()
			return false
		}
		if r.free > 0 {
			r.free--
			r.mu.Unlock()
			return true
		}
		changed := r.changed
		r.mu.Unlock()
		<-changed
	}
}

// giveRoom permits one more piece after the task has acknowledged one. If end is true, the task has ended and accepts
// no more input. Calling give on a nil room does nothing.
func (r *room) giveRoom(end bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free++
	r.ended = r.ended || end
	close(r.changed)
	r.changed = make(chan struct{})
}
