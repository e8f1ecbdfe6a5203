package iostreams

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
)

// Page writes text to Out, through the user's pager when a person sits there and
// the text is taller than the screen. VCCTL_PAGER names the pager, else PAGER,
// else less; "cat" is none. A pager that cannot be started is no error: the text
// is written without it.
func (s *Streams) Page(text []byte) error {
	command := s.pager()
	if !s.OutTTY || s.Height == 0 || s.RunPager == nil || command == "" || bytes.Count(text, []byte("\n")) < s.Height {
		_, err := s.Out.Write(text)
		return err
	}
	if s.RunPager(command, text) {
		return nil
	}
	_, err := s.Out.Write(text)
	return err
}

// pager is the command line of the pager; "" is none.
func (s *Streams) pager() string {
	if s.Env("TERM") == "dumb" {
		return ""
	}
	command := s.Env("VCCTL_PAGER")
	if command == "" {
		command = s.Env("PAGER")
	}
	switch command {
	case "cat":
		return ""
	case "":
		return "less"
	}
	return command
}

// runPager shows text in a pager and reports whether it could be started.
func runPager(command string, text []byte) bool {
	words := strings.Fields(command)
	pager := exec.Command(words[0], words[1:]...)
	pager.Stdin, pager.Stdout, pager.Stderr = bytes.NewReader(text), os.Stdout, os.Stderr
	pager.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		pager.Env = append(pager.Env, "LESS=FRX")
	}
	if err := pager.Start(); err != nil {
		return false
	}
	_ = pager.Wait() // how it ends is the pager's affair: q is no error of ours
	return true
}
