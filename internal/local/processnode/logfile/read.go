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

// Options choose what of a log is read.
type Options struct {
	Tail       int64     // last lines; negative: all
	LimitBytes int64     // of the output; negative: no limit
	Since      time.Time // zero: all
	Timestamps bool      // each line begins with its time
	Stream     string    // "" for both, or Stdout, Stderr
}

// errLimit ends reading when LimitBytes have been written.
var errLimit = errors.New("limit of bytes reached")

// Read copies a log to out. If live is not nil, it follows until the log is closed or ctx ends.
func Read(ctx context.Context, path string, live *File, options Options, out io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if options.Tail >= 0 {
		start, err := tailOffset(file, options.Tail)
		if err != nil {
			return err
		}
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}
	p := &printer{out: out, options: options, left: options.LimitBytes}
	err = follow(ctx, file, live, p)
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

func follow(ctx context.Context, file *os.File, live *File, p *printer) error {
	reader := bufio.NewReaderSize(file, 64<<10)
	var partial []byte
	for {
		// The state is taken before reading: a write after the read then closes the channel that is waited for.
		var changed <-chan struct{}
		ended := true
		if live != nil {
			changed, ended = live.state()
		}
		for {
			line, err := reader.ReadBytes('\n')
			partial = append(partial, line...)
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if err := p.print(partial); err != nil {
				return err
			}
			partial = partial[:0]
		}
		if ended {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// printer turns lines of the file into what the reader asked for.
type printer struct {
	out     io.Writer
	options Options
	left    int64
	middle  bool // the line before was a part: no time in front of the next
}

func (p *printer) print(raw []byte) error {
	line, ok := ParseLine(raw)
	if !ok || (p.options.Stream != "" && line.Stream != p.options.Stream) || line.Time.Before(p.options.Since) {
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
	Text    []byte // without its end; of the same memory as the input
}

// ParseLine reads "time stream tag text"; ok is false for anything else.
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

// tailOffset finds where the last n lines of the file begin.
func tailOffset(file *os.File, n int64) (int64, error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || n == 0 {
		return end, err
	}
	const block = 64 << 10
	buffer := make([]byte, block)
	seen := int64(0)
	for position := end; position > 0; {
		size := min(block, position)
		position -= size
		if _, err := file.ReadAt(buffer[:size], position); err != nil && err != io.EOF {
			return 0, err
		}
		for i := size - 1; i >= 0; i-- {
			if buffer[i] != '\n' || position+i == end-1 {
				continue
			}
			if seen++; seen == n {
				return position + i + 1, nil
			}
		}
	}
	return 0, nil
}
