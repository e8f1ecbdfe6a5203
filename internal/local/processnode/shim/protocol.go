package shim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"syscall"
)

// Argv0 is the name under which the program becomes a container's init instead of itself.
const Argv0 = "vc-container-init"

// SocketFD is the file descriptor of the socket to the node's process.
const SocketFD = 3

// maxMessageBytes bounds a message so that a broken peer cannot make the other allocate without end.
const maxMessageBytes = 64 << 20

// Operations of a Request.
const (
	OpStart  = "start"  // Container is set; three files are attached: stdin, stdout, stderr
	OpExec   = "exec"   // ID and Process are set; three files are attached
	OpSignal = "signal" // ID and Signal are set; ID 0 is the main process
)

// Kinds of an Event.
const (
	EventStarted = "started" // Pid is the process id as the container sees it; Root is set for the main process
	EventFailed  = "failed"  // the process could not be started; Message and Code say why
	EventExited  = "exited"  // Code is the exit code (128+signal if killed), Signal the signal or 0
)

// Exit codes of processes that could not be started, as container runtimes report them.
const (
	CodeCannotStart = 128 // the container's root or its main process could not be made
	CodeNotFound    = 127 // an exec's program does not exist
	CodeNotRunnable = 126 // an exec's program exists and cannot be run
)

// Request is what the node's process asks of the init.
type Request struct {
	Op        string
	ID        int `json:",omitempty"`
	Signal    int `json:",omitempty"`
	Process   *Process
	Container *Container
}

// Event is what the init reports.
type Event struct {
	Kind    string
	ID      int
	Pid     int    `json:",omitempty"`
	Code    int    `json:",omitempty"`
	Signal  int    `json:",omitempty"`
	Message string `json:",omitempty"`
	Root    Root   `json:",omitempty"`
}

// Process says what to run and as whom.
type Process struct {
	Args   []string // empty for a main process: wait until told to end
	Env    []string
	Dir    string
	TTY    bool   // stdin is a terminal that becomes the controlling one
	UID    *int64 // nil: as the init runs
	GID    *int64
	Groups []int64
}

// Root names how a container's root was made, best first.
type Root string

// The ways to a root of one's own.
const (
	RootOverlay Root = "overlay" // overlay over the machine's root, changes kept in Upper
	RootMemory  Root = "memory"  // the same, changes kept in memory because Upper's file system cannot hold them
	RootPieces  Root = "pieces"  // a root in memory with an overlay over each of the machine's top directories that allows one
	RootShared  Root = "shared"  // the machine's root itself, with the volumes mounted over it
	RootNone    Root = "none"    // no mounts at all
)

// Container describes the container's surroundings and its main process.
type Container struct {
	Root     Root     // the best way to try; worse ones are tried after it
	Dir      string   // directory of the container with room for the root: upper, work, root
	SubRoots []string // other real file systems of the machine that are to be seen through an overlay as well
	Masked   []string // directories that are shown empty
	ReadOnly bool     // the root cannot be written
	Hostname string
	OwnNet   bool // the network namespace is the pod's: mount a sysfs of its own
	OwnUser  bool // in a user namespace: overlays keep their marks in user attributes
	OwnPID   bool // the init is the first of a process-id namespace
	Mounts   []Mount
	Process  Process
}

// Mount is one bind mount or tmpfs.
type Mount struct {
	Source   string // absolute, symbolic links resolved; "" for a tmpfs
	Target   string // as the container sees it
	ReadOnly bool
	Options  string // of a tmpfs
	Optional bool   // the container starts without it if it cannot be mounted
}

// Send writes a message and attaches files to it.
func Send(fd int, message any, files ...int) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("message to the container's init: %w", err)
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
			return fmt.Errorf("socket of the container's init: %w", err)
		}
		packet, rights = packet[n:], nil
	}
	return nil
}

// Receive reads one message into the value that message points to and returns the files attached to it. At the end of the
// stream the error is io.EOF.
func Receive(fd int, message any) ([]int, error) {
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
	if err := readFull(fd, header[n:]); err != nil {
		return files, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size > maxMessageBytes {
		return files, fmt.Errorf("message of %d bytes is too long", size)
	}
	body := make([]byte, size)
	if err := readFull(fd, body); err != nil {
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

func readFull(fd int, buffer []byte) error {
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
