package iostreams

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
)

// ShowPaged writes text to Out. If Out is a terminal and the text is taller than the screen, ShowPaged uses a pager:
// the command in VCCTL_PAGER or PAGER, or less by default; "cat" disables it. If the pager cannot be started, ShowPaged
// writes the text directly.
func (s *Streams) ShowPaged(text []byte) error {
	command := s.pagerCommand()
	canPage := s.OutTTY && s.RunPager != nil && command != ""
	isTall := s.Height > 0 && bytes.Count(text, []byte("\n")) >= s.Height
	if canPage && isTall && s.RunPager(command, text) {
		return nil
	}
	_, err := s.Out.Write(text)
	return err
}

// pagerCommand returns the command line of the pager; "" if none is used.
func (s *Streams) pagerCommand() string {
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

// runPager shows text in a pager. It reports whether the pager could be started.
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
	_ = pager.Wait() // ignore the exit code of the pager
	return true
}
