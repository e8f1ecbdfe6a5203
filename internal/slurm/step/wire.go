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

	"github.com/vc-batch/vc/internal/usererror"
)

// Port is the TCP port on which the agents of a job with several pods listen.
const Port = "6818"

// kind is the type of a frame.
type kind byte

// The kinds of frames. Frames about a task contain its rank.
const (
	// askFrame opens a connection. It contains a request as JSON.
	askFrame kind = iota + 1
	// answerFrame contains JSON. Its type depends on the request.
	answerFrame
	// errorFrame contains an error message for the user, optionally followed by hintMark and a hint. It is the last
	// frame on a connection.
	errorFrame
	// noticeFrame contains a line of text for the user.
	noticeFrame
	stdinFrame
	stdinEndFrame
	// takenFrame acknowledges a piece of a task's input. At most window pieces may be unacknowledged.
	takenFrame
	stdoutFrame
	stderrFrame
	// signalFrame contains a signal number. It is sent from the head to srun, and from srun to tasks.
	signalFrame
	resizeFrame
	// startedFrame reports that a task is running. exitFrame contains its ending as JSON.
	startedFrame
	exitFrame
	// attachFrame requests srun to send a copy of the tasks' output to the head.
	attachFrame
)

const (
	headerBytes = 9
	// maxFrame is the maximum size of the data in a frame. A command line with its environment must fit.
	maxFrame = 8 << 20
	// window is the maximum number of unacknowledged pieces of a task's input.
	window = 32
	// chunk is the maximum amount of stream data in a frame.
	chunk = 32 << 10
)

// hintMark separates an error message from its hint.
const hintMark = "\x00"

// encodeError encodes an error for a frame.
func encodeError(err error) []byte {
	return []byte(strings.TrimSuffix(err.Error()+hintMark+usererror.FromError(err).Hint, hintMark))
}

// decodeError decodes the error in a frame.
func decodeError(text []byte) *usererror.Error {
	what, hint, _ := strings.Cut(string(text), hintMark)
	return usererror.Errorf(hint, "%s", what)
}

type frame struct {
	kind kind
	task uint32
	data []byte
}

// wire is a connection that transfers frames. Several goroutines may write, but only one may read.
type wire struct {
	net.Conn
	in *bufio.Reader
	mu sync.Mutex // guards writing
}

func newWire(c net.Conn) *wire { return &wire{Conn: c, in: bufio.NewReaderSize(c, chunk)} }

// closeWrite signals the end of the data to the peer, which may continue to send data.
func (w *wire) closeWrite() {
	if half, can := w.Conn.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
}

// closeAfterPeer closes the connection after the peer has closed it, which the peer does when it has received
// everything. If the connection were closed earlier, while data from the peer is unread, the kernel would reset it and
// discard data that the peer has not received yet. The caller must be the only reader. TCP keepalive detects a peer
// that disappears without closing the connection.
func (w *wire) closeAfterPeer() {
	w.closeWrite()
	_, _ = io.Copy(io.Discard, w.in)
	_ = w.Close()
}

func (w *wire) sendFrame(k kind, task uint32, data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("%d bytes exceed the message limit of %d bytes", len(data), maxFrame)
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
	return w.sendFrame(k, task, data)
}

func (w *wire) receiveFrame() (frame, error) {
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

// launcherGone is the hint for the case that the launcher does not respond.
const launcherGone = "the job may be ending: run sacct outside the job to see how it ended, or try again"

// receiveAnswer waits for the response to a request and decodes it into to, which may be nil. It calls notice, which
// may be nil, for each notice that arrives.
func (w *wire) receiveAnswer(to any, notice func(string)) error {
	for {
		f, err := w.receiveFrame()
		if err != nil {
			return usererror.WithHint(fmt.Errorf("the job's launcher does not answer: %w", err), launcherGone)
		}
		switch f.kind {
		case errorFrame:
			return decodeError(f.data)
		case noticeFrame:
			if notice != nil && len(f.data) > 0 { // empty notices only test the connection
				notice(string(f.data))
			}
		case answerFrame:
			if to == nil {
				return nil
			}
			return json.Unmarshal(f.data, to)
		default:
			return fmt.Errorf("the job's launcher answered with an unexpected message of kind %d", f.kind)
		}
	}
}

// stream is the writer that newStream returns.
type stream struct {
	to   *wire
	kind kind
	task uint32
}

// newStream returns a writer that sends the data of a task's stream as frames.
func newStream(to *wire, k kind, task uint32) io.Writer { return stream{to, k, task} }

func (s stream) Write(data []byte) (int, error) {
	for sent := 0; sent < len(data); sent += chunk {
		if err := s.to.sendFrame(s.kind, s.task, data[sent:min(sent+chunk, len(data))]); err != nil {
			return sent, err
		}
	}
	return len(data), nil
}

func decodeNumber(data []byte) int {
	if len(data) != 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(data))
}

func encodeNumber(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
