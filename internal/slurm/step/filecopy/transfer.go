package filecopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

// Store stores the file that the peer sends. It responds twice: when it is ready for the data, and when it has written
// all data.
func Store(conn *protocol.Conn, r *protocol.FileRequest) error {
	file, err := createFile(r.Path, r.Force, r.Stamp)
	if err != nil {
		return addForceHint(err)
	}
	if err := conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}")); err != nil {
		file.discard()
		return err
	}
	for {
		f, err := conn.ReceiveFrame()
		if err == nil && f.Kind == protocol.StdinFrame {
			_, err = file.Write(f.Data)
		}
		switch {
		case err != nil:
			file.discard()
			return slurmerror.SystemReason(err)
		case f.Kind == protocol.StdinEndFrame:
			if err := file.complete(); err != nil {
				return addForceHint(err)
			}
			return conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}"))
		}
	}
}

// addForceHint adds a hint to the error about a file that already exists.
func addForceHint(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return usererror.WithHint(err, "use --force to replace the existing file")
	}
	return err
}

// Fetch sends a file or a directory: first its attributes, then its content, then a response. After the peer has
// confirmed that it has received everything, Fetch removes the source if this is requested, and responds again.
func Fetch(conn *protocol.Conn, r *protocol.FileRequest) error {
	file, err := os.Open(r.Path)
	if err != nil {
		return slurmerror.SystemReason(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return slurmerror.SystemReason(err)
	}
	isTree := info.IsDir() && r.Tree
	if !info.Mode().IsRegular() && !isTree {
		return errors.New("not a regular file")
	}
	stamp := NewStamp(info, true)
	stamp.Mode |= info.Mode().Type()
	if err := conn.SendJSON(protocol.AnswerFrame, 0, stamp); err != nil {
		return err
	}
	if isTree {
		err = sendTree(protocol.NewStream(conn, protocol.StdoutFrame, 0), r.Path)
	} else {
		_, err = io.Copy(protocol.NewStream(conn, protocol.StdoutFrame, 0), file)
	}
	if err != nil {
		return slurmerror.SystemReason(err)
	}
	if err := conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}")); err != nil {
		return err
	}
	f, err := conn.ReceiveFrame()
	switch {
	case err != nil:
		return err
	case f.Kind != protocol.StdinEndFrame:
		return fmt.Errorf("unexpected message of kind %d after the end of a file", f.Kind)
	case r.Remove:
		remove := os.Remove
		if isTree {
			remove = removeTree
		}
		// On a shared disk, another node of the job may already have removed the file.
		if err := remove(r.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return slurmerror.SystemReason(err)
		}
	}
	return conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}"))
}

// ReceiveOptions determine how a received file or directory is stored.
type ReceiveOptions struct {
	// Replace replaces an existing file or directory. KeepTimes preserves the times of the source.
	Replace, KeepTimes bool
}

// Receive receives a file or directory from an agent and stores it under the name to. from is the name of the source.
func Receive(conn *protocol.Conn, from, to string, o ReceiveOptions) error {
	var stamp protocol.FileStamp
	if err := conn.ReceiveAnswer(&stamp, nil); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if !o.KeepTimes {
		stamp.Accessed, stamp.Modified = 0, 0
	}
	begun, err := createCopy(conn, to, stamp, o)
	if err != nil {
		return usererror.Errorf(usererror.FromError(addForceHint(err)).Hint, "%s: %v", to, err)
	}
	if err := begun.complete(); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return nil
}

// copyOf is an incomplete copy of a file or directory. It does not have its final name yet.
type copyOf interface {
	complete() error
}

// createCopy writes a copy under a temporary name. If writing fails, it removes the copy.
func createCopy(conn *protocol.Conn, to string, stamp protocol.FileStamp, o ReceiveOptions) (copyOf, error) {
	from := &content{from: conn}
	if stamp.Mode.IsDir() {
		tree, err := createTree(to, o.Replace, o.KeepTimes, stamp)
		if err != nil {
			return nil, err
		}
		err = tree.unpackArchive(from)
		if err == nil {
			_, err = io.Copy(io.Discard, from) // this skips the padding at the end of the archive
		}
		if err != nil {
			tree.discard()
			return nil, err
		}
		return tree, nil
	}
	stamp.Mode = stamp.Mode.Perm()
	file, err := createFile(to, o.Replace, stamp)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(file, from); err != nil {
		file.discard()
		return nil, err
	}
	return file, nil
}

// content reads the data that a peer sends until the peer's response arrives.
type content struct {
	from *protocol.Conn
	rest []byte
	err  error
}

func (c *content) Read(to []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		f, err := c.from.ReceiveFrame()
		switch {
		case err != nil:
			c.err = err
		case f.Kind == protocol.StdoutFrame:
			c.rest = f.Data
		case f.Kind == protocol.ErrorFrame:
			c.err = protocol.DecodeError(f.Data)
		case f.Kind == protocol.AnswerFrame:
			if c.err = json.Unmarshal(f.Data, &struct{}{}); c.err == nil {
				c.err = io.EOF
			}
		default:
			c.err = fmt.Errorf("unexpected message of kind %d while receiving a file", f.Kind)
		}
	}
	n := copy(to, c.rest)
	c.rest = c.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, c.err
}
