package submit

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/usererror"
)

// readScript reads the script from the --wrap option, a file, or standard input.
func readScript(c *program.Call, s *jobInput, operands []string) error {
	if wrap, given := c.Parsed.LastValue("wrap"); given {
		if len(operands) > 0 {
			return usererror.Errorf("add the arguments to the command of --wrap", "Script arguments not permitted with --wrap option")
		}
		s.title, s.script = "wrap", []byte("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n"+wrap+"\n")
		return nil
	}
	var err error
	if len(operands) == 0 {
		s.title = "sbatch"
		if s.script, err = io.ReadAll(io.LimitReader(c.Factory.Streams.In, directive.MaxSize+1)); err != nil {
			return err
		}
		return directive.CheckScript(s.script)
	}
	name := operands[0]
	s.title, s.args = filepath.Base(name), operands[1:]
	s.file = findScript(c, name)
	if s.script, err = readScriptFile(s.file); err != nil {
		hint := searchedPathsHint(name)
		if !errors.Is(err, fs.ErrNotExist) {
			hint = err.Error()
		}
		return usererror.Errorf(hint, "Unable to open file %s", name)
	}
	return directive.CheckScript(s.script)
}

// readScriptFile reads a script, but at most one byte more than the maximum size of a script.
func readScriptFile(name string) ([]byte, error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the file is only read
	return io.ReadAll(io.LimitReader(file, directive.MaxSize+1))
}

// findScript returns the path of a script: name itself if it begins with a directory, otherwise the file in the working
// directory, otherwise the file on PATH.
func findScript(c *program.Call, name string) string {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return name
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return name
	}
	for _, dir := range filepath.SplitList(c.Factory.Streams.Env("PATH")) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return name
}

// searchedPathsHint returns a hint that describes where findScript searched for a missing script.
func searchedPathsHint(name string) string {
	if strings.Contains(name, "/") {
		return "the file does not exist; omit the file name to read the script from standard input"
	}
	return "the script is neither in the working directory nor on PATH; use --wrap='COMMAND' to submit a command"
}

// readNodefile reads a file with a list of nodes.
func readNodefile(r *request.Request, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return usererror.Errorf("specify a file that contains a list of nodes", "Unable to open file %s", name)
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#") // a comment
		words = append(words, strings.Fields(line)...)
	}
	nodes, err := hostlist.ExpandList(strings.Join(words, ","))
	if err != nil || len(nodes) == 0 {
		return usererror.Errorf("separate node names, or lists such as n[1-3], with spaces, commas or line breaks", "%s is not a list of nodes: %v", name, cmp.Or(err, errors.New("the file is empty")))
	}
	r.Nodelist = nodes
	return nil
}
