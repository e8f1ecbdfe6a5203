// Command plot copies the output of benchmarks and appends a table of the figures in it:
//
//	go test ./test/bench -v … | go run ./test/bench/plot
//	go test ./test/bench -v … | go run ./test/bench/plot -keep docs
//
// With -keep, it also stores the figures with the current time in performance.csv in that directory, and generates
// performance.svg and the table in performance.md from all stored figures. Without input, -keep only generates these
// files.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/vc-batch/vc/test/bench/figures"
)

func main() {
	keep := flag.String("keep", "", "directory of performance.csv, .svg and .md")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *keep, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, keep string, now time.Time) error {
	fresh, err := figures.Read(in, out)
	if err != nil {
		return err
	}
	if len(fresh) > 0 {
		fmt.Fprintf(out, "\n%s", plainTable(fresh))
	}
	if keep == "" {
		return nil
	}
	path := filepath.Join(keep, "performance.csv")
	all, err := figures.Load(path)
	if err != nil {
		return err
	}
	for i := range fresh {
		fresh[i].Taken = now.UTC().Format(figures.TakenAt)
	}
	all = figures.Put(all, fresh...)
	if err := figures.Save(path, all); err != nil {
		return err
	}
	return document(keep, all)
}

// document writes the files that are generated from the figures.
func document(dir string, all []figures.Figure) error {
	if err := os.WriteFile(filepath.Join(dir, "performance.svg"), []byte(chart(all)), 0o644); err != nil { //nolint:gosec // a document
		return err
	}
	path := filepath.Join(dir, "performance.md")
	text, err := os.ReadFile(path) //nolint:gosec // the caller's
	if err != nil {
		return err
	}
	text, err = replaceTable(text, markdown(all))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // a document
}
