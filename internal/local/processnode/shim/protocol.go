package shim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"syscall"
)

// Argv0 is the program name that makes this program run as a container's init.
const Argv0 = "vc-container-init"

// SocketFD is the file descriptor of the socket that connects to the node's process.
const SocketFD = 3

// maxMessageBytes limits the size of a message, so that a faulty peer cannot cause unlimited allocation.
const maxMessageBytes = 64 << 20

// The operations of a Request.
const (
	OpStart  = "start"  // Container is set; three files are attached: stdin, stdout, stderr
	OpExec   = "exec"   // ID and Process are set; three files are attached
	OpSignal = "signal" // ID and Signal are set; ID 0 is the main process
)

// Kinds of events.
const (
	EventStarted = "started" // Pid is the process ID in the container; Root is set for the main process
	EventFailed  = "failed"  // the process could not be started; Message and Code contain the reason
	EventExited  = "exited"  // Code is the exit code (128+signal if killed), Signal the signal or 0
)

// Exit codes of processes that could not be started, as in container runtimes.
const (
	CodeCannotStart = 128 // the container's root or main process could not be created
	CodeNotFound    = 127 // the program of an exec does not exist
	CodeNotRunnable = 126 // the program of an exec exists but cannot be run
)

// Request is a request from the node's process to the init.
type Request struct {
	Op        string
	ID        int `json:",omitempty"`
	Signal    int `json:",omitempty"`
	Process   *Process
	Container *Container
}

// Event is a report from the init.
type Event struct {
	Kind    string
	ID      int
	Pid     int    `json:",omitempty"`
	Code    int    `json:",omitempty"`
	Signal  int    `json:",omitempty"`
	Message string `json:",omitempty"`
	Root    Root   `json:",omitempty"`
}

// Process describes a process and its user.
type Process struct {
	Args   []string // empty for a main process without a command, which only waits for the stop signal
	Env    []string
	Dir    string
	TTY    bool   // stdin is a terminal that becomes the controlling terminal
	UID    *int64 // nil means the same user as the init
	GID    *int64
	Groups []int64
}

// Root is a way to create a container's root.
type Root string

// The ways to create a root, from best to worst.
const (
	RootOverlay Root = "overlay" // an overlay over the machine's root; changes are stored in Upper
	RootMemory  Root = "memory"  // the same, but changes are kept in memory, for unsuitable file systems
	RootPieces  Root = "pieces"  // a root in memory, with overlays over top-level directories where permitted
	RootShared  Root = "shared"  // the machine's root itself, with the volumes mounted over it
	RootNone    Root = "none"    // no mounts at all
)

// Container describes a container's environment and its main process.
type Container struct {
	Root     Root     // the best way to try; worse ones are tried after it
	Dir      string   // directory for the container's root: upper, work, root
	SubRoots []string // other real file systems of the machine that must be visible through overlays
	Masked   []string // directories that appear empty
	ReadOnly bool     // the root is read-only
	Hostname string
	OwnNet   bool // the network namespace belongs to the pod, so a separate sysfs is mounted
	OwnUser  bool // in a user namespace: overlays store their marks in user attributes
	OwnPID   bool // the init is the first process of a process-ID namespace
	Mounts   []Mount
	Process  Process
}

// Mount is a bind mount or a tmpfs.
type Mount struct {
	Source   string // absolute, with symbolic links resolved; "" for a tmpfs
	Target   string // path in the container
	ReadOnly bool
	Options  string // for a tmpfs
	Optional bool   // if it cannot be mounted, the container starts without it
}

// SendMessage writes a message with attached files.
func SendMessage(fd int, message any, files ...int) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a message to the container's init: %w", err)
	}
	packet := make([]byte, 4+len(body))
	binary.BigEndian.PutUint32(packet, uint32(len(body)))
	copy(packet[4:], body)
	var rights []byte
	if len(files) > 0 {
		rights = syscall.UnixRights(files...)
	}
	for len(packet) > 0 {
		n, err := syscall.SendmsgN(fd, packet, rights, nil, syscall.MSG_NOSIGNAL)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("send to the container's init: %w", err)
		}
		packet, rights = packet[n:], nil
	}
	return nil
}

// ReceiveMessage reads a message into the value to which message points, and returns the attached files. At the end of
// the stream, it returns io.EOF.
func ReceiveMessage(fd int, message any) ([]int, error) {
	var header [4]byte
	rights := make([]byte, syscall.CmsgSpace(16*4))
	n, oobn, err := receiveOnce(fd, header[:], rights)
	if err != nil {
		return nil, err
	}
	files, err := parseRights(rights[:oobn])
	if err != nil {
		return nil, err
	}
	if err := readWholeBuffer(fd, header[n:]); err != nil {
		return files, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size > maxMessageBytes {
		return files, fmt.Errorf("message too long: %d bytes", size)
	}
	body := make([]byte, size)
	if err := readWholeBuffer(fd, body); err != nil {
		return files, err
	}
	return files, json.Unmarshal(body, message)
}

func receiveOnce(fd int, buffer, rights []byte) (n, oobn int, err error) {
	for {
		n, oobn, _, _, err = syscall.Recvmsg(fd, buffer, rights, syscall.MSG_CMSG_CLOEXEC)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, 0, err
		case n == 0:
			return 0, 0, io.EOF
		}
		return n, oobn, nil
	}
}

func parseRights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []int
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		files = append(files, fds...)
	}
	return files, nil
}

func readWholeBuffer(fd int, buffer []byte) error {
	for len(buffer) > 0 {
		n, err := syscall.Read(fd, buffer)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		buffer = buffer[n:]
	}
	return nil
}
