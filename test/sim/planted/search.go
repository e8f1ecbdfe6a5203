package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// search looks for one bug.
type search struct {
	bug      *bug
	options  *options
	binary   string // the simulator with all bugs
	progress *progress
}

// chunk is the number of seeds that one process of the simulator runs. hangTime is how long it may take.
const (
	chunk    = 50
	hangTime = 5 * time.Minute
)

// run runs seeds until the first violation.
func (s *search) run(ctx context.Context) (*result, error) {
	began := time.Now()
	r := &result{Bug: s.bug.name, Change: s.bug.hash(), First: s.options.first}
	for r.Seeds < s.options.seeds && !r.Found {
		s.progress.report(s.bug.name, fmt.Sprintf("%d seeds", r.Seeds))
		f := s.runSeeds(ctx, s.options.first+r.Seeds, min(chunk, s.options.seeds-r.Seeds))
		r.Seeds += f.seeds
		r.Found, r.Text = f.found, f.text
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// finding is the result of consecutive seeds.
type finding struct {
	found bool
	seeds int    // number of seeds that were run; the last one fails if found is true
	text  string // the violation
}

// runSeeds runs consecutive seeds, up to the first violation. If the simulator panics or does not end, it runs the seeds
// one by one to find the seed that causes this.
func (s *search) runSeeds(ctx context.Context, first, count int) finding {
	f, err := s.runProcess(ctx, first, count)
	if err == nil || count == 1 {
		return f
	}
	for seed := first; seed < first+count; seed++ {
		if f, _ := s.runProcess(ctx, seed, 1); f.found {
			f.seeds = seed - first + 1
			return f
		}
	}
	f.seeds = count // the seeds fail only together
	return f
}

var violationLine = regexp.MustCompile(`seed (\d+): (.*)`)

// runProcess runs consecutive seeds in one process that uses one processor, so that the first violation is that of the
// smallest failing seed. It ends the process at the first violation, and returns an error if the process panics or does
// not end.
func (s *search) runProcess(ctx context.Context, first, count int) (finding, error) {
	ctx, cancel := context.WithTimeout(ctx, hangTime)
	defer cancel()
	command := exec.CommandContext(ctx, s.binary, "-test.v", "-test.timeout", "0", "-test.run", "^TestSeeds$",
		"-first", strconv.Itoa(first), "-seeds", strconv.Itoa(count))
	command.Dir = filepath.Join(s.options.root, "test", "sim")
	command.Env = append(os.Environ(), "GOMAXPROCS=1", switchVariable+"="+s.bug.name)
	out, err := command.StdoutPipe()
	if err != nil {
		return finding{}, err
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		return finding{}, err
	}
	var panicked string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := violationLine.FindStringSubmatch(lines.Text()); m != nil {
			_ = command.Process.Kill()
			_ = command.Wait()
			seed, _ := strconv.Atoi(m[1])
			return finding{found: true, seeds: seed - first + 1, text: m[2]}, nil
		}
		if panicked == "" && strings.HasPrefix(lines.Text(), "panic: ") {
			panicked = lines.Text()
		}
	}
	err = command.Wait()
	switch {
	case ctx.Err() != nil:
		return finding{found: true, seeds: 1, text: fmt.Sprintf("does not end within %s", hangTime)}, ctx.Err()
	case panicked != "":
		return finding{found: true, seeds: 1, text: panicked}, errors.New(panicked)
	case err != nil:
		return finding{found: true, seeds: 1, text: err.Error()}, err
	}
	return finding{seeds: count}, nil
}
