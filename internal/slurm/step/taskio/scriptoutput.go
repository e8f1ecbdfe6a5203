package taskio

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
)

// ScriptOutput holds the destinations of the script's output. These are the pod's log and, if a file was requested and
// is available in this pod, the file.
type ScriptOutput struct {
	Stdout, Stderr io.Writer
	// together is true if a file receives both streams. The script then uses a single descriptor for both, which
	// preserves the order of its output.
	together bool
	files    []*os.File
}

// ErrorWriter returns the writer for the error output of a process. It returns nil if the error output uses the
// descriptor of the standard output.
func (o *ScriptOutput) ErrorWriter() io.Writer {
	if o.together {
		return nil
	}
	return o.Stderr
}

// tee writes to the log and to a file. If writing to the file fails, for example because the disk is full, tee reports
// the error once, and from then on it writes only to the log.
type tee struct {
	log  io.Writer
	path string
	mu   *sync.Mutex // guards file and lost, because both streams may use the same file
	file *os.File
	lost *bool
}

func (t tee) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !*t.lost {
		if _, err := t.file.Write(data); err != nil {
			*t.lost = true
			fmt.Fprintf(os.Stderr, "slurmstepd: error: write %s: %v; further output is only in the pod's log\n", t.path, err)
		}
	}
	return t.log.Write(data)
}

// OpenScriptOutput opens the files specified with --output and --error, which may be the same file.
func OpenScriptOutput(spec *launchconfig.Spec, names launchconfig.Names) (*ScriptOutput, error) {
	o := &ScriptOutput{Stdout: os.Stdout, Stderr: os.Stderr}
	opened := map[string]tee{} // by absolute path
	for _, stream := range []struct {
		what, pattern string
		to            *io.Writer
	}{{"stdout", spec.Output, &o.Stdout}, {"stderr", cmp.Or(spec.Error, spec.Output), &o.Stderr}} {
		if stream.pattern == "" {
			continue
		}
		path, err := names.ExpandPattern(stream.pattern)
		if err != nil {
			return nil, err
		}
		path = AbsolutePath(spec.WorkDir, path)
		file, there := opened[path]
		o.together = there
		if !there {
			f, err := openFile(path, spec.Append)
			if err != nil {
				return nil, slurmerror.Errorf("Could not open %s file %s: %w", stream.what, path, slurmerror.SystemReason(err))
			}
			o.files = append(o.files, f)
			file = tee{path: path, mu: &sync.Mutex{}, file: f, lost: new(bool)}
			opened[path] = file
		}
		file.log = *stream.to
		*stream.to = file
	}
	return o, nil
}

// AbsolutePath returns path as an absolute path. A relative path is interpreted relative to dir.
func AbsolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// openFile opens a file for output. It truncates the file unless keep is true.
func openFile(path string, keep bool) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !keep {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o644)
}

// CloseFiles closes the files.
func (o *ScriptOutput) CloseFiles() {
	for _, file := range o.files {
		_ = file.Close()
	}
}
