// Package taskio writes the output of scripts and tasks to logs, terminals and files, as requested by --output,
// --error, --label and --open-mode.
//
// # Concurrency
//
// Outputs and ScriptOutput accept data from several goroutines.
package taskio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// OutputOptions determine where and how the output of tasks is written.
type OutputOptions struct {
	// Output and Error are the values of --output and --error: "all", "none", a task, or a file name pattern.
	Output, Error string
	// Dir is the directory to which relative names refer. It is also the working directory of the tasks.
	Dir string
	// Append preserves the content of existing files.
	Append bool
	// Label prefixes each line with the number of its task.
	Label      bool
	Unbuffered bool
	// PTY is true if task 0 has a pseudo terminal. Its output is not split into lines.
	PTY bool
}

// Outputs writes the output of the tasks to srun's own streams or to files. By default, it writes only whole lines. It
// can prefix each line with the number of the task.
type Outputs struct {
	options *OutputOptions
	names   launchconfig.Names // names of the step; task and node are added for each task
	Tasks   int

	mu    sync.Mutex // guards the fields below and the order of lines
	files map[string]*os.File
	lines map[lineKey]*line
	// mirror receives a copy of the tasks' output once a viewer has attached to the step. recent holds the tasks' most
	// recent output.
	mirror *protocol.Conn
	recent protocol.Backlog
}

type lineKey struct {
	task  int
	error bool
}

// line holds the destination of a task's stream and the incomplete last line.
type line struct {
	to    io.Writer // nil if the output is discarded
	part  []byte
	label string
}

// NewOutputs returns the outputs of a step with the given number of tasks.
func NewOutputs(o *OutputOptions, names launchconfig.Names, tasks int) *Outputs {
	return &Outputs{options: o, names: names, Tasks: tasks, files: map[string]*os.File{}, lines: map[lineKey]*line{}}
}

// maxLine is the maximum size of an incomplete line that is buffered.
const maxLine = 1 << 20

// OpenTask determines the destinations of a task's streams. host and node identify the node on which the task runs.
func (o *Outputs) OpenTask(task int, host string, node int) error {
	names := o.names
	names.Task, names.Host, names.Node = task, host, node
	out, err := o.findTarget(o.options.Output, names, os.Stdout)
	if err != nil {
		return slurmerror.Errorf("Could not open stdout file %w", err)
	}
	failed := io.Writer(os.Stderr)
	switch {
	case o.options.Error != "":
		failed, err = o.findTarget(o.options.Error, names, os.Stderr)
	case o.options.Output != "":
		failed = out
	}
	if err != nil {
		return slurmerror.Errorf("Could not open stderr file %w", err)
	}
	label := ""
	if o.options.Label {
		digits := len(strconv.Itoa(o.Tasks - 1))
		label = fmt.Sprintf("%0*d: ", digits, task)
	}
	o.lines[lineKey{task, false}] = &line{to: out, label: label}
	o.lines[lineKey{task, true}] = &line{to: failed, label: label}
	return nil
}

// findTarget returns the destination of a task's output for a value of --output or --error. The value is "all", "none",
// the rank of the only task whose output is shown, or a file name pattern. The destination is nil if the output is
// discarded.
func (o *Outputs) findTarget(pattern string, names launchconfig.Names, own io.Writer) (io.Writer, error) {
	switch pattern {
	case "", "all":
		return own, nil
	case "none":
		return nil, nil
	}
	if only, err := strconv.Atoi(pattern); err == nil {
		if only == names.Task {
			return own, nil
		}
		return nil, nil
	}
	path, err := names.ExpandPattern(pattern)
	if err != nil {
		return nil, err
	}
	if file, there := o.files[path]; there {
		return file, nil
	}
	file, err := openFile(AbsolutePath(o.options.Dir, path), o.options.Append)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, slurmerror.SystemReason(err))
	}
	o.files[path] = file
	return file, nil
}

// WriteOutput writes a piece of a task's output.
func (o *Outputs) WriteOutput(task int, isError bool, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.copyToViewers(task, isError, data)
	l := o.lines[lineKey{task, isError}]
	if l == nil || l.to == nil {
		return
	}
	if o.options.PTY || (o.options.Unbuffered && l.label == "") {
		_, _ = l.to.Write(data)
		return
	}
	l.part = append(l.part, data...)
	for {
		end := bytes.IndexByte(l.part, '\n')
		if end < 0 && len(l.part) < maxLine {
			return
		}
		if end < 0 {
			end = len(l.part) - 1
		}
		_, _ = l.to.Write(append([]byte(l.label), l.part[:end+1]...))
		l.part = l.part[end+1:]
	}
}

// copyToViewers records a piece of output and sends it to the viewers. The caller must hold the lock.
func (o *Outputs) copyToViewers(task int, isError bool, data []byte) {
	f := protocol.Frame{Kind: protocol.StdoutFrame, Task: uint32(task), Data: data}
	if isError {
		f.Kind = protocol.StderrFrame
	}
	o.recent.AppendFrame(f)
	if o.mirror != nil {
		_ = o.mirror.SendFrame(f.Kind, f.Task, f.Data) // an error means that the head, and thus the step, has ended
	}
}

// MirrorOutputTo sends the most recent output of the tasks to conn, followed by a copy of all further output.
func (o *Outputs) MirrorOutputTo(conn *protocol.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mirror != nil {
		return
	}
	o.mirror = conn
	for _, f := range o.recent.Frames {
		_ = conn.SendFrame(f.Kind, f.Task, f.Data)
	}
}

// FlushTask writes the incomplete last lines of a task.
func (o *Outputs) FlushTask(task int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, isError := range []bool{false, true} {
		if l := o.lines[lineKey{task, isError}]; l != nil && l.to != nil && len(l.part) > 0 {
			text := append([]byte(l.label), l.part...)
			if l.label != "" {
				text = append(text, '\n')
			}
			_, _ = l.to.Write(text)
			l.part = nil
		}
	}
}

// CloseFiles closes the files.
func (o *Outputs) CloseFiles() {
	for _, file := range o.files {
		_ = file.Close()
	}
}
