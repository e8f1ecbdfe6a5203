// Command write generates the command-line reference: `write MARKDOWN-DIR MAN-DIR`. `make docs` runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/test/reference"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: write MARKDOWN-DIR MAN-DIR")
		os.Exit(2)
	}
	if err := writeReference(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func writeReference(markdownDir, manDir string) error {
	markdown, err := reference.MarkdownPages()
	if err != nil {
		return err
	}
	man, err := reference.ManPages(build.DescribeProgram().Version, time.Now())
	if err != nil {
		return err
	}
	if err := writePages(markdownDir, "vcctl*.md", markdown); err != nil {
		return err
	}
	return writePages(manDir, "vcctl*.1", man)
}

// writePages writes the pages to a directory and removes old pages from it.
func writePages(dir, old string, pages map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(dir, old))
	if err != nil {
		return err
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), page, 0o644); err != nil {
			return err
		}
	}
	return nil
}
