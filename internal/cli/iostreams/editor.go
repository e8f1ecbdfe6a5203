package iostreams

import (
	"os"
	"os/exec"

	"golang.org/x/term"
)

// EditorCommand returns the shell command that starts the user's editor: the value of the first variable that is set
// among VCCTL_EDITOR, VC_EDITOR, KUBE_EDITOR (kubectl's) and EDITOR, or vi.
func (s *Streams) EditorCommand() string {
	for _, name := range []string{"VCCTL_EDITOR", "VC_EDITOR", "KUBE_EDITOR", "EDITOR"} {
		if command := s.Env(name); command != "" {
			return command
		}
	}
	return "vi"
}

// runEditor opens a file in the editor on this terminal. It returns when the editor has exited.
func runEditor(command, path string) error {
	editor := exec.Command("sh", "-c", command+` "$1"`, command, path)
	editor.Stdin, editor.Stdout, editor.Stderr = os.Stdin, os.Stdout, os.Stderr
	if state, err := term.GetState(int(os.Stdin.Fd())); err == nil {
		defer func() { _ = term.Restore(int(os.Stdin.Fd()), state) }()
	}
	return editor.Run()
}
