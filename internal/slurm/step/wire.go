package step

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/fault"
)

// kind says what a frame carries.
type kind byte

// The frames. Those of a task carry its rank.
const (
	// askFrame opens a connection: JSON of a request.
	askFrame kind = iota + 1
	// answerFrame is JSON, as the request has it.
	answerFrame
	// errorFrame is a text for a person, with a hint behind hintMark where there is one; the connection ends with it.
	errorFrame
	// noticeFrame is a line for a person.
	noticeFrame
	stdinFrame
	stdinEndFrame
	// takenFrame says that a task took one piece of its input: no more than window of them may be under way.
	takenFrame
	stdoutFrame
	stderrFrame
	// signalFrame carries a number; to a step from the head, and from srun to tasks.
	signalFrame
	resizeFrame
	// startedFrame says that a task runs, exitFrame how it ended: JSON of an ending.
	startedFrame
	exitFrame
	// attachFrame asks srun to send the head a copy of what its tasks print.
	attachFrame
)

const (
	headerBytes = 9
	// maxFrame bounds what a frame may carry: a command line with its environment.
	maxFrame = 8 << 20
	// window is how many pieces of input may be on their way to a task.
	window = 32
	// chunk is how much of a stream goes into one frame.
	chunk = 32 << 10
)

// hintMark stands between what is wrong and what to do about it.
const hintMark = "\x00"

// errorText is an error as a frame carries it.
func errorText(err error) []byte {
	return []byte(strings.TrimSuffix(err.Error()+hintMark+fault.Of(err).Hint, hintMark))
}

// errorOf is the error that a frame carries.
func errorOf(text []byte) *fault.Error {
	what, hint, _ := strings.Cut(string(text), hintMark)
	return fault.Errorf(hint, "%s", what)
}

type frame struct {
	kind kind
	task uint32
	data []byte
}

// wire is a connection of frames. Frames may be written from several goroutines; one reads.
type wire struct {
	net.Conn
	in *bufio.Reader
	mu sync.Mutex // guards writing
}

func newWire(c net.Conn) *wire { return &wire{Conn: c, in: bufio.NewReaderSize(c, chunk)} }

// closeWrite tells the peer that nothing more will be sent. The peer may go on sending.
func (w *wire) closeWrite() {
	if half, can := w.Conn.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
}

// finish closes the connection after the peer has: the peer closes it when it has received everything. Closing it earlier, while data of the peer is
// unread, makes the kernel reset the connection, and a reset discards what was sent and not received yet. The caller must be the only reader. A peer that
// disappears without closing is found by TCP keepalive.
func (w *wire) finish() {
	w.closeWrite()
	_, _ = io.Copy(io.Discard, w.in)
	_ = w.Close()
}

func (w *wire) send(k kind, task uint32, data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("%d bytes are more than fit into a message of %d", len(data), maxFrame)
	}
	message := make([]byte, headerBytes, headerBytes+len(data))
	message[0] = byte(k)
	binary.BigEndian.PutUint32(message[1:], task)
	binary.BigEndian.PutUint32(message[5:], uint32(len(data)))
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.Write(append(message, data...))
	return err
}

func (w *wire) sendJSON(k kind, task uint32, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.send(k, task, data)
}

func (w *wire) receive() (frame, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(w.in, header[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(header[5:])
	if size > maxFrame {
		return frame{}, fmt.Errorf("a message of %d bytes is too long", size)
	}
	f := frame{kind: kind(header[0]), task: binary.BigEndian.Uint32(header[1:]), data: make([]byte, size)}
	_, err := io.ReadFull(w.in, f.data)
	return f, err
}

// launcherGone is what to do when nobody answers for the job.
const launcherGone = "the job may be ending: sacct tells outside of it how it ended; else try again"

// answer waits for the answer to what was asked; notices go to the function, which may be nil.
func (w *wire) answer(to any, notice func(string)) error {
	for {
		f, err := w.receive()
		if err != nil {
			return fault.Hinted(fmt.Errorf("the job's launcher does not answer: %w", err), launcherGone)
		}
		switch f.kind {
		case errorFrame:
			return errorOf(f.data)
		case noticeFrame:
			if notice != nil && len(f.data) > 0 { // empty ones only ask whether we are there
				notice(string(f.data))
			}
		case answerFrame:
			if to == nil {
				return nil
			}
			return json.Unmarshal(f.data, to)
		default:
			return fmt.Errorf("the job's launcher answers with a message of kind %d", f.kind)
		}
	}
}

// stream writes to a stream of a task, as frames.
type stream struct {
	to   *wire
	kind kind
	task uint32
}

func (s stream) Write(data []byte) (int, error) {
	for sent := 0; sent < len(data); sent += chunk {
		if err := s.to.send(s.kind, s.task, data[sent:min(sent+chunk, len(data))]); err != nil {
			return sent, err
		}
	}
	return len(data), nil
}

func number(data []byte) int {
	if len(data) != 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(data))
}

func numberBytes(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
