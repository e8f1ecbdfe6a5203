package seeds

import (
	"os/exec"
	"testing"
)

// TestACommandIsOneWordForAShell: names of subtests have apostrophes and more, and what is printed has to work as pasted.
func TestACommandIsOneWordForAShell(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, name := range []string{"^TestX$", "^TestX/capacity's_tree$", `^TestX/a"b\c$`, "^TestX/$HOME_`x`_!#&;|<>*?$", "''"} {
		out, err := exec.Command(shell, "-c", "printf %s "+quote(name)).Output()
		if err != nil || string(out) != name {
			t.Errorf("%s reaches the command as %s: %v", name, out, err)
		}
	}
}
