package propertytest

import (
	"os/exec"
	"testing"
)

// TestACommandIsOneWordForAShell checks the quoting of names of subtests, which contain apostrophes and other special
// characters. The printed command must work when pasted.
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

func TestOnlyAFullRunTriesEverySeed(t *testing.T) {
	for _, c := range []struct {
		name             string
		n                int
		everySeed, short bool
		want             int
	}{
		{"a full run", 10_000, true, false, 10_000},
		{"a full run with -short", 10_000, true, true, 10_000},
		{"a normal run", 10_000, false, false, 500},
		{"a short run", 10_000, false, true, 100},
		{"a normal run of few seeds", 100, false, false, 10},
		{"fewer seeds than the minimum", 6, false, false, 6},
	} {
		if got := share(c.n, c.everySeed, c.short); got != c.want {
			t.Errorf("%s: %d of %d seeds, want %d", c.name, got, c.n, c.want)
		}
	}
}
