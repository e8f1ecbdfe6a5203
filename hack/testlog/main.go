// Command testlog runs `go test` with its own arguments and prints what go test prints, and beside it every test that
// was skipped and why: a test that did not run must not look like one that passed.
//
//	go run ./hack/testlog -p 1 ./test/...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// event is a line of `go test -json` (see `go doc test2json`).
type event struct {
	Action, Package, Test, Output, ImportPath string
}

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
	follow(out, os.Stdout)
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
}

// follow keeps what a test printed until it is known how the test ended.
func follow(in io.Reader, out io.Writer) {
	printed := map[string]*strings.Builder{}
	d := json.NewDecoder(in)
	for {
		var e event
		if err := d.Decode(&e); err != nil {
			return // the end, or go test itself broke off: its exit code tells
		}
		name := e.Package + " " + e.Test
		switch {
		case e.Action == "output" && e.Test != "":
			if printed[name] == nil {
				printed[name] = &strings.Builder{}
			}
			printed[name].WriteString(e.Output)
		case e.Action == "output" && e.Output != "PASS\n", e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case (e.Action == "fail" || e.Action == "skip") && e.Test != "":
			if text := printed[name]; text != nil {
				fmt.Fprint(out, text.String())
			}
			delete(printed, name)
		case e.Action == "pass" && e.Test != "":
			delete(printed, name)
		case e.Action == "fail":
			// The package broke off (a panic, a timeout): tests that were running have no end of their own.
			for name, text := range printed {
				if strings.HasPrefix(name, e.Package+" ") {
					fmt.Fprint(out, text.String())
					delete(printed, name)
				}
			}
		}
	}
}
