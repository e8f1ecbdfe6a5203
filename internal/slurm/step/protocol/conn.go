// Package protocol defines the messages that are exchanged by srun, the other commands in a pod, the agents and the
// head of a job, and the connections that transfer these messages. A connection starts with a Request. All further
// messages are frames, which contain either JSON or the data of a task's stream.
//
// # Invariants
//
//   - An ErrorFrame is the last frame on a connection.
//   - Both sides of a connection between pods prove that they have the job's key (NewIdentity).
//
// # Concurrency
//
// Several goroutines may send on a Conn, but only one may receive.
package protocol

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

// Kind is the type of a frame.
type Kind byte

// The kinds of frames. Frames about a task contain its rank.
const (
	// AskFrame opens a connection. It contains a request as JSON.
	AskFrame Kind = iota + 1
	// AnswerFrame contains JSON. Its type depends on the request.
	AnswerFrame
	// ErrorFrame contains an error message for the user, optionally followed by hintMark and a hint. It is the last
	// frame on a connection.
	ErrorFrame
	// NoticeFrame contains a line of text for the user.
	NoticeFrame
	StdinFrame
	StdinEndFrame
	// TakenFrame acknowledges a piece of a task's input. At most InputWindow pieces may be unacknowledged.
	TakenFrame
	StdoutFrame
	StderrFrame
	// SignalFrame contains a signal number. It is sent from the head to srun, and from srun to tasks.
	SignalFrame
	ResizeFrame
	// StartedFrame reports that a task is running. ExitFrame contains the Ending of the task as JSON.
	StartedFrame
	ExitFrame
	// AttachFrame requests that srun send a copy of the tasks' output to the head.
	AttachFrame
)

const (
	headerBytes = 9
	// maxFrame is the maximum size of the data in a frame. It is large because a command line with its environment must
	// fit into a frame.
	maxFrame = 8 << 20
	// InputWindow is the maximum number of unacknowledged pieces of a task's input.
	InputWindow = 32
	// ChunkSize is the maximum amount of stream data in a frame.
	ChunkSize = 32 << 10
)

// hintMark separates an error message from its hint.
const hintMark = "\x00"

// EncodeError encodes an error for a frame.
func EncodeError(err error) []byte {
	return []byte(strings.TrimSuffix(err.Error()+hintMark+usererror.FromError(err).Hint, hintMark))
}

// DecodeError decodes the error in a frame.
func DecodeError(text []byte) *usererror.Error {
	what, hint, _ := strings.Cut(string(text), hintMark)
	return usererror.Errorf(hint, "%s", what)
}

// Frame is a message. Task is the rank of the task to which the message refers.
type Frame struct {
	Kind Kind
	Task uint32
	Data []byte
}

// Conn is a connection that transfers frames. Several goroutines may send frames, but only one may receive them.
type Conn struct {
	net.Conn
	in *bufio.Reader
	mu sync.Mutex // guards writing
}

// NewConn returns a connection that transfers frames over c.
func NewConn(c net.Conn) *Conn { return &Conn{Conn: c, in: bufio.NewReaderSize(c, ChunkSize)} }

// CloseWrite signals to the peer that no more data follows. The peer may continue to send data.
func (c *Conn) CloseWrite() {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
}

// AwaitClose returns a channel that is closed when the peer has disconnected. The peer must not send anything more, and
// the caller must not receive from the connection until the channel is closed.
func (c *Conn) AwaitClose() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = c.ReceiveFrame()
	}()
	return gone
}

// CloseAfterPeer closes the connection after the peer has closed it. The peer does so when it has received everything.
// If the connection were closed earlier, while data from the peer is unread, the kernel would reset the connection and
// discard data that the peer has not received yet. The caller must be the only reader. TCP keepalive detects a peer
// that disappears without closing the connection.
func (c *Conn) CloseAfterPeer() {
	c.CloseWrite()
	_, _ = io.Copy(io.Discard, c.in)
	_ = c.Close()
}

// SendFrame sends a frame.
func (c *Conn) SendFrame(k Kind, task uint32, data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("a message of %d bytes exceeds the limit of %d bytes", len(data), maxFrame)
	}
	message := make([]byte, headerBytes, headerBytes+len(data))
	message[0] = byte(k)
	binary.BigEndian.PutUint32(message[1:], task)
	binary.BigEndian.PutUint32(message[5:], uint32(len(data)))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.Write(append(message, data...))
	return err
}

// SendJSON sends a frame that contains value as JSON.
func (c *Conn) SendJSON(k Kind, task uint32, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return c.SendFrame(k, task, data)
}

// ReceiveFrame waits for the next frame.
func (c *Conn) ReceiveFrame() (Frame, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(c.in, header[:]); err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(header[5:])
	if size > maxFrame {
		return Frame{}, fmt.Errorf("message too long: %d bytes", size)
	}
	f := Frame{Kind: Kind(header[0]), Task: binary.BigEndian.Uint32(header[1:]), Data: make([]byte, size)}
	_, err := io.ReadFull(c.in, f.Data)
	return f, err
}

// LauncherGoneHint is the hint for errors that occur because the launcher does not respond.
const LauncherGoneHint = "the job might be ending; try again, or run sacct outside the job to see how it ended"

// ReceiveAnswer waits for the response to a request and decodes it into to, which may be nil. It calls notice, which
// may be nil, for each notice that arrives before the response.
func (c *Conn) ReceiveAnswer(to any, notice func(string)) error {
	for {
		f, err := c.ReceiveFrame()
		if err != nil {
			return usererror.WithHint(fmt.Errorf("the job's launcher does not respond: %w", err), LauncherGoneHint)
		}
		switch f.Kind {
		case ErrorFrame:
			return DecodeError(f.Data)
		case NoticeFrame:
			if notice != nil && len(f.Data) > 0 { // empty notices only test the connection
				notice(string(f.Data))
			}
		case AnswerFrame:
			if to == nil {
				return nil
			}
			return json.Unmarshal(f.Data, to)
		default:
			return fmt.Errorf("the job's launcher returned an unexpected message of kind %d", f.Kind)
		}
	}
}

// stream is the writer that NewStream returns.
type stream struct {
	to   *Conn
	kind Kind
	task uint32
}

// NewStream returns a writer that sends the data of a task's stream as frames.
func NewStream(to *Conn, k Kind, task uint32) io.Writer { return stream{to, k, task} }

func (s stream) Write(data []byte) (int, error) {
	for sent := 0; sent < len(data); sent += ChunkSize {
		if err := s.to.SendFrame(s.kind, s.task, data[sent:min(sent+ChunkSize, len(data))]); err != nil {
			return sent, err
		}
	}
	return len(data), nil
}

// DecodeNumber returns the number that a frame contains, or 0 if it contains no number.
func DecodeNumber(data []byte) int {
	if len(data) != 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(data))
}

// EncodeNumber encodes a number for a frame.
func EncodeNumber(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
