package terminal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vc-batch/vc/test/terminal"
)

const customSettings = `dashboard:
  columns: {jobs: [name, "PHASE:.status.state.phase"]}
  filters: [{name: Mine, filter: "user:mei"}]
  keys: {cancel: ctrl-k}
  commands:
  - {name: greet, key: f5, screens: [jobs], command: 'echo "selected $NAMESPACE/$NAME"; read answer'}
`

// TestCustomSettingsOfTheDashboard starts the dashboard with a settings file, uses a saved filter, a custom key and a
// custom command, and then breaks the file.
func TestCustomSettingsOfTheDashboard(t *testing.T) {
	t.Parallel()
	terminal.Need(t)
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "settings.yaml")
	write := func(text string) {
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(dir, "vcctl")); err != nil {
		t.Fatal(err)
	}
	write(customSettings)
	m := terminal.New(t, 120, 40, asProgram+"=1", "VCCTL_CONFIG="+settings, "HOME="+dir, "PATH="+dir+":/usr/bin:/bin", "PS1=$ ")
	m.Types("vcctl top --demo")
	m.Shows("6 Mine", "Nodes (allocatable / idle)")
	m.Presses("6")
	m.Shows("[6]Mine", "/ user:mei", "PHASE", "ctrl-k cancel", "llama-sft-70b")
	m.Presses("2", "F5")
	m.Shows("selected ")
	m.Presses("Enter")
	m.Shows("[2]Jobs")
	m.Presses("C-k")
	m.Shows("Cancel job")
	m.Presses("n", "q")
	m.Until("the shell", func(string) bool { return m.Child() == 0 })

	write("dashboard:\n  filtres: []\n")
	m.Types("clear; vcctl top --demo")
	m.Shows(settings+":2: unknown setting", `did you mean "filters"?`)
}
