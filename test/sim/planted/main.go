// Command planted shows which bugs the simulator of package test/sim finds. It plants bugs in production code, and runs
// seeds with each of them until the simulator reports a violation. All bugs are compiled into one binary, each behind a
// switch. The compiler receives the changed files as an overlay, so no file of the tree is modified.
//
//	go run ./test/sim/planted [-seeds 2000] [-only NAME,NAME] [-results FILE] [-list]
//
// Progress goes to standard error. The result is a table with one line per bug, and a summary. With -results, the
// result of each bug is appended to a file as soon as it is known, and bugs whose result is in the file are skipped.
// Remove the file when the code has changed. Run the command from the root of the module.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options holds the command line.
type options struct {
	root     string
	results  string
	first    int
	seeds    int
	parallel int
	only     []string
}

func main() {
	var o options
	var only string
	var list bool
	flag.StringVar(&o.root, "root", ".", "root of the module")
	flag.StringVar(&o.results, "results", "", "file of results; bugs whose result it contains are skipped")
	flag.IntVar(&o.first, "first", 1, "the first seed")
	flag.IntVar(&o.seeds, "seeds", 2000, "maximum number of seeds per bug")
	flag.IntVar(&o.parallel, "parallel", 2, "number of bugs at the same time, with one processor each")
	flag.StringVar(&only, "only", "", "names of bugs, separated by commas; empty: all")
	flag.BoolVar(&list, "list", false, "print the bugs with their recorded results and exit")
	flag.Parse()
	if o.first < 1 || o.seeds < 1 || o.parallel < 1 {
		fmt.Fprintln(os.Stderr, "planted: -first, -seeds and -parallel must be at least 1")
		os.Exit(2)
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &o, list)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// run searches the selected bugs and prints the results. It returns an error if the simulator did not find a bug that
// has no note, or if the simulator does not compile with the bugs.
func run(ctx context.Context, o *options, list bool) error {
	selected, err := selectBugs(o.only)
	if err != nil {
		return err
	}
	results, err := readResults(o)
	if err != nil {
		return err
	}
	if list {
		printTable(os.Stdout, selected, results)
		return nil
	}
	if err := searchBugs(ctx, o, selected, results); err != nil {
		return err
	}
	printTable(os.Stdout, selected, results)
	s := summarize(selected, results)
	fmt.Printf("\n%s\n", s.String())
	if s.missed > 0 {
		return fmt.Errorf("the simulator did not find %d of %d bugs", s.missed, len(selected))
	}
	return nil
}

// selectBugs returns the bugs with these names, or all bugs if names is empty.
func selectBugs(names []string) ([]*bug, error) {
	all := allBugs()
	if len(names) == 0 {
		return all, nil
	}
	var selected []*bug
	for _, name := range names {
		i := slices.IndexFunc(all, func(b *bug) bool { return b.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no bug %q; -list prints all names", name)
		}
		selected = append(selected, all[i])
	}
	return selected, nil
}

// progressInterval is the time between two lines that show what is running.
const progressInterval = 30 * time.Second

// searchBugs searches the bugs that have no result yet, and adds their results.
func searchBugs(ctx context.Context, o *options, selected []*bug, results map[string]*result) error {
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	open := slices.DeleteFunc(slices.Clone(selected), func(b *bug) bool { return results[b.name] != nil })
	if len(open) == 0 {
		return nil
	}
	fmt.Fprintf(os.Stderr, "building the simulator with %d bugs\n", len(open))
	builder, err := newBuilder(open, o.root, dir)
	if err != nil {
		return err
	}
	binary, err := builder.compileTest("test/sim")
	if err != nil {
		return err
	}
	p := &progress{left: len(open), running: map[string]string{}}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	go func() {
		for range ticker.C {
			p.print()
		}
	}()
	next := make(chan *bug)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failure error
	for range o.parallel {
		workers.Go(func() {
			for b := range next {
				s := &search{bug: b, options: o, binary: binary, progress: p}
				r, err := s.run(ctx)
				mu.Lock()
				if err == nil {
					results[b.name] = r
					err = appendResult(o.results, r)
					p.finish(r)
				}
				failure = errors.Join(failure, err)
				mu.Unlock()
			}
		})
	}
	for _, b := range open {
		if ctx.Err() == nil {
			next <- b
		}
	}
	close(next)
	workers.Wait()
	return errors.Join(failure, ctx.Err())
}
