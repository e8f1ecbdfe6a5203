// Command planted shows which bugs the simulator of package test/sim finds. It plants one bug at a time in production
// code, and runs seeds until the simulator reports a violation. The compiler receives the changed file as an overlay,
// so no file of the tree is modified.
//
//	go run ./test/sim/planted [-seeds 2000] [-only NAME,NAME] [-list]
//
// The result is a table with one line per bug. It is written as soon as a bug is done, and GOMAXPROCS bugs run at the
// same time. Run it from the root of the module.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// options holds the command line.
type options struct {
	root  string
	first int
	seeds int
	only  []string
}

func main() {
	var o options
	var only string
	var list bool
	flag.StringVar(&o.root, "root", ".", "root of the module")
	flag.IntVar(&o.first, "first", 1, "the first seed")
	flag.IntVar(&o.seeds, "seeds", 2000, "maximum number of seeds per bug")
	flag.StringVar(&only, "only", "", "names of bugs, separated by commas; empty: all")
	flag.BoolVar(&list, "list", false, "print the names of the bugs and stop")
	flag.Parse()
	if list {
		for i := range bugs {
			fmt.Printf("%-45s %s\n", bugs[i].name, bugs[i].kind)
		}
		return
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	if err := runBugs(&o); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// runBugs searches the selected bugs and prints the table. It returns an error if the simulator did not find a bug that
// has no note, or if such a bug does not compile.
func runBugs(o *options) error {
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	selected := bugs
	if len(o.only) > 0 {
		selected = slices.DeleteFunc(slices.Clone(bugs), func(b bug) bool { return !slices.Contains(o.only, b.name) })
	}
	next, missed := make(chan *bug), 0
	var workers sync.WaitGroup
	var mu sync.Mutex
	fmt.Printf("| %-40s | %-12s | %6s | %7s | %s |\n|---|---|---|---|---|\n", "bug", "kind", "seeds", "seconds", "violation")
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for b := range next {
				began := time.Now()
				f := searchBug(b, o, filepath.Join(dir, b.name))
				mu.Lock()
				if !f.found && b.note == "" {
					missed++
				} else if !f.found {
					f.text = b.note
				}
				fmt.Printf("| %-40s | %-12s | %6s | %7.0f | %s |\n", b.name, b.kind, f.count(), time.Since(began).Seconds(), f.text)
				mu.Unlock()
			}
		})
	}
	for i := range selected {
		next <- &selected[i]
	}
	close(next)
	workers.Wait()
	if missed > 0 {
		return fmt.Errorf("%d of %d bugs were not found", missed, len(selected))
	}
	return nil
}

// finding is the result of the search for one bug.
type finding struct {
	found bool
	seeds int    // number of seeds that were run; the last one fails if found is true
	text  string // the violation, or why there is none
}

func (f *finding) count() string {
	if !f.found {
		return "> " + strconv.Itoa(f.seeds)
	}
	return strconv.Itoa(f.seeds)
}

// searchBug plants a bug and runs seeds until the first violation.
func searchBug(b *bug, o *options, dir string) finding {
	binary, err := buildWithBug(b, o.root, dir)
	if err != nil {
		return finding{text: err.Error()}
	}
	for seed := o.first; seed < o.first+o.seeds; seed += chunk {
		if f := runSeeds(binary, o.root, seed, min(chunk, o.first+o.seeds-seed)); f.found {
			f.seeds += seed - o.first
			return f
		}
	}
	return finding{seeds: o.seeds, text: "not found"}
}

// buildWithBug builds the simulator with a bug and returns the path of the test binary.
func buildWithBug(b *bug, root, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(root, b.file))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	changed, err := b.plant(string(source))
	if err != nil {
		return "", err
	}
	replacement, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {path: replacement}})
	if err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{replacement: []byte(changed), overlay: text} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", err
		}
	}
	binary := filepath.Join(dir, "sim.test")
	build := exec.Command("go", "test", "-c", "-p", "1", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./test/sim")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("does not compile: %s", strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "; "))
	}
	return binary, nil
}

// chunk is the number of seeds that one process of the simulator runs. hangTime is how long it may take.
const (
	chunk    = 20
	hangTime = 3 * time.Minute
)

var violationLine = regexp.MustCompile(`seed (\d+): (.*)`)

// runSeeds runs consecutive seeds, up to the first violation. If the simulator panics or does not end, it runs the seeds
// one by one to find the seed that causes this.
func runSeeds(binary, root string, first, count int) finding {
	f, err := runProcess(binary, root, first, count)
	if err == nil || count == 1 {
		return f
	}
	for seed := first; seed < first+count; seed++ {
		if f, _ := runProcess(binary, root, seed, 1); f.found {
			f.seeds = seed - first + 1
			return f
		}
	}
	f.seeds = count // the seeds fail only together
	return f
}

// runProcess runs consecutive seeds in one process that uses one processor, so that the first violation is that of the
// smallest failing seed. It returns an error if the process panics or does not end.
func runProcess(binary, root string, first, count int) (finding, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hangTime)
	defer cancel()
	command := exec.CommandContext(ctx, binary, "-test.v", "-test.timeout", "0", "-test.run", "^TestSeeds$",
		"-first", strconv.Itoa(first), "-seeds", strconv.Itoa(count))
	command.Dir = filepath.Join(root, "test", "sim")
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
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
