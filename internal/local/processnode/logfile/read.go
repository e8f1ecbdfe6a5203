package logfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Options selects the part of a log to read.
type Options struct {
	Tail       int64     // number of last lines to read; negative means all
	LimitBytes int64     // maximum length of the output; negative means no limit
	Since      time.Time // earliest time of lines; zero means all
	Timestamps bool      // prefix each line with its time
	Stream     string    // "" for both, or Stdout, Stderr
}

// errLimit stops reading after LimitBytes have been written.
var errLimit = errors.New("byte limit reached")

// Read copies a log to out. It copies the rotated file first, and then the current one. If live is not nil, it follows
// the log until the log is closed or ctx is done.
func Read(ctx context.Context, path string, live *File, options Options, out io.Writer) error {
	p := &printer{out: out, options: options, left: options.LimitBytes}
	err := printLogFile(ctx, path, live, p)
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

func printLogFile(ctx context.Context, path string, live *File, p *printer) error {
	files, err := openLog(path, live)
	if err != nil {
		return err
	}
	defer func() { files.close() }()
	missing, err := seekToTail(files.current, p.options.Tail)
	if err != nil {
		return err
	}
	if missing != 0 && files.rotated != nil {
		if err := printRotated(files.rotated, missing, p); err != nil {
			return err
		}
	}
	for {
		again, err := printAndFollow(ctx, files.current, live, files.rotations, p)
		if err != nil || !again {
			return err
		}
		// If the log is rotated twice before a reader catches up, the reader misses the file in between (ten
		// megabytes).
		files.close()
		if files, err = openLog(path, live); err != nil {
			return err
		}
	}
}

// openFiles holds the files of a log, opened between the same two rotations.
type openFiles struct {
	current   *os.File
	rotated   *os.File // nil if the log has never been rotated
	rotations int      // number of rotations before the files were opened
}

func (f *openFiles) close() {
	if f.current != nil {
		_ = f.current.Close()
	}
	if f.rotated != nil {
		_ = f.rotated.Close()
	}
}

// openLog opens the current and the rotated file of a log. If the log is rotated in between, openLog opens both again,
// because a reader would otherwise print the same file twice.
func openLog(path string, live *File) (openFiles, error) {
	for {
		before := rotationCount(live)
		files, err := openBoth(path)
		files.rotations = before
		if rotationCount(live) == before {
			return files, err
		}
		// During the rotation, the path does not exist for a moment, so an error means nothing here.
		files.close()
	}
}

// rotationCount returns the number of rotations of a log that is being written, and 0 for any other log.
func rotationCount(live *File) int {
	if live == nil {
		return 0
	}
	_, rotations, _ := live.currentState()
	return rotations
}

func openBoth(path string) (openFiles, error) {
	current, err := os.Open(path)
	if err != nil {
		return openFiles{}, err
	}
	rotated, err := os.Open(path + OldSuffix)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		_ = current.Close()
		return openFiles{}, err
	}
	if err != nil {
		rotated = nil
	}
	return openFiles{current: current, rotated: rotated}, nil
}

// seekToTail seeks to the start of the last lines. It returns the number of lines that must be read from the other file
// in addition; a negative number means all lines in that file.
func seekToTail(file *os.File, lines int64) (missing int64, err error) {
	if lines < 0 {
		return lines, nil
	}
	start, found, err := tailOffset(file, lines)
	if err != nil {
		return 0, err
	}
	_, err = file.Seek(start, io.SeekStart)
	return lines - found, err
}

// printRotated prints the last lines of the rotated file.
func printRotated(file *os.File, lines int64, p *printer) error {
	if _, err := seekToTail(file, lines); err != nil {
		return err
	}
	_, err := printAndFollow(context.Background(), file, nil, 0, p)
	return err
}

// printAndFollow prints a file to its end, and then everything that is added until the log is closed. again reports
// whether the log continues in a new file.
func printAndFollow(ctx context.Context, file *os.File, live *File, rotations int, p *printer) (again bool, err error) {
	reader := bufio.NewReaderSize(file, 64<<10)
	var partial []byte
	for {
		// Get the state before reading, so that any write after the read closes the channel.
		var changed <-chan struct{}
		ended, now := true, rotations
		if live != nil {
			changed, now, ended = live.currentState()
		}
		for {
			line, err := reader.ReadBytes('\n')
			partial = append(partial, line...)
			if err == io.EOF {
				break
			}
			if err != nil {
				return false, err
			}
			if err := p.printMatchingLine(partial); err != nil {
				return false, err
			}
			partial = partial[:0]
		}
		if now != rotations {
			return true, nil
		}
		if ended {
			return false, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// printer converts lines of the file to the requested output.
type printer struct {
	out     io.Writer
	options Options
	left    int64
	middle  bool // the previous line was a partial one, so the next one gets no time
}

// selects reports whether a line belongs to the requested stream and is not older than Since.
func (o *Options) selects(line Line) bool {
	if o.Stream != "" && line.Stream != o.Stream {
		return false
	}
	return !line.Time.Before(o.Since)
}

func (p *printer) printMatchingLine(raw []byte) error {
	line, ok := ParseLine(raw)
	if !ok || !p.options.selects(line) {
		return nil
	}
	var text []byte
	if p.options.Timestamps && !p.middle {
		text = append(append(text, line.Stamp...), ' ')
	}
	text = append(text, line.Text...)
	p.middle = line.Partial
	if !line.Partial {
		text = append(text, '\n')
	}
	if p.options.LimitBytes >= 0 && int64(len(text)) >= p.left {
		_, err := p.out.Write(text[:p.left])
		if err != nil {
			return err
		}
		return errLimit
	}
	p.left -= int64(len(text))
	_, err := p.out.Write(text)
	return err
}

// Line is one line of a log file.
type Line struct {
	Time    time.Time
	Stamp   []byte
	Stream  string
	Partial bool
	Text    []byte // without a line end; shares memory with the input
}

// ParseLine parses a line of the form "time stream tag text". ok is false for any other line.
func ParseLine(raw []byte) (line Line, ok bool) {
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	fields := bytes.SplitN(raw, []byte(" "), 4)
	if len(fields) != 4 {
		return Line{}, false
	}
	stamp, err := time.Parse(time.RFC3339Nano, string(fields[0]))
	if err != nil {
		return Line{}, false
	}
	return Line{Time: stamp, Stamp: fields[0], Stream: string(fields[1]), Partial: string(fields[2]) == "P", Text: fields[3]}, true
}

// tailOffset returns the offset of the last n lines of the file, and the number of lines that it found.
func tailOffset(file *os.File, n int64) (offset, found int64, err error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || n == 0 || end == 0 {
		return end, 0, err
	}
	const block = 64 << 10
	buffer := make([]byte, block)
	for position := end; position > 0; {
		size := min(block, position)
		position -= size
		if _, err := file.ReadAt(buffer[:size], position); err != nil && err != io.EOF {
			return 0, 0, err
		}
		for i := size - 1; i >= 0; i-- {
			if buffer[i] != '\n' || position+i == end-1 {
				continue
			}
			if found++; found == n {
				return position + i + 1, found, nil
			}
		}
	}
	return 0, found + 1, nil
}
