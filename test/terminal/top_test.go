package terminal_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/internal/dashboard"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/test/terminal"
	"github.com/vc-batch/vc/test/tuitest"
	"github.com/vc-batch/vc/test/watchserver"
)

// asProgram makes this binary run as vcctl, so that the terminal runs the real program.
const asProgram = "VC_TEST_IS_VCCTL"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(root.Main(context.Background(), "vcctl", os.Args[1:], iostreams.SystemStreams(), dashboard.AddToFactory))
	}
	os.Exit(m.Run())
}

// start returns a terminal in which `top` starts the dashboard, and the server that it watches.
func start(t *testing.T) (*terminal.Terminal, *watchserver.Server) {
	t.Helper()
	terminal.Need(t)
	var objects []client.Object
	for _, object := range tuitest.VariousJobsWorld() {
		object := object.DeepCopyObject().(client.Object)
		if job, ok := object.(*batchv1alpha1.Job); ok && job.Name == "held" {
			job.Status.State.Message = "训练任务由用户暂停，等待释放 (held)"
		}
		objects = append(objects, object)
	}
	server := watchserver.New(watchserver.Of(objects...))
	web := httptest.NewServer(server)
	dir := t.TempDir()
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"test","clusters":[{"name":"test","cluster":{"server":%q}}],`+
		`"contexts":[{"name":"test","context":{"cluster":"test","user":"mei","namespace":"nlp"}}],"users":[{"name":"mei","user":{"token":"t"}}]}`, web.URL)
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "vcctl")); err != nil {
		t.Fatal(err)
	}
	m := terminal.New(t, 120, 40, asProgram+"=1", "KUBECONFIG="+filepath.Join(dir, "kubeconfig"), "HOME="+dir, "PATH="+dir+":/usr/bin:/bin", "COLORTERM=truecolor", "PS1=$ ")
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return m, server
}

// TestHoweverItEndsTheTerminalIsAsItWas ends the dashboard with its key, with Ctrl-C, and with a signal.
func TestHoweverItEndsTheTerminalIsAsItWas(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*terminal.Terminal){
		"q":      func(m *terminal.Terminal) { m.Presses("q") },
		"Ctrl-C": func(m *terminal.Terminal) { m.Presses("C-c") },
		"SIGTERM": func(m *terminal.Terminal) {
			if err := syscall.Kill(m.Child(), syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := start(t)
			m.Types("clear; stty -g; echo be''fore")
			m.Shows("before")
			state, before := m.State(), modes(m.Screen())
			m.Types("vcctl top")
			m.Shows("Nodes (allocatable / idle)", "train", "live")
			if m.State() == state {
				t.Errorf("the dashboard does not take the screen: %s", state)
			}
			end(m)
			m.Until("the shell", func(string) bool { return m.Child() == 0 })
			m.Types("echo af''ter")
			m.Shows("before", "after")
			if got := m.State(); got != state {
				t.Errorf("the terminal is %s afterwards, and was %s", got, state)
			}
			m.Types("clear; stty -g; echo at''last")
			m.Shows("atlast")
			if after := modes(m.Screen()); before == "" || after != before {
				t.Errorf("stty says %q afterwards, and said %q", after, before)
			}
		})
	}
}

// modes returns the output line of stty -g on a screen.
func modes(screen string) string {
	for line := range strings.Lines(screen) {
		if strings.Count(line, ":") > 10 {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func TestAnotherSizeIsAnotherFrame(t *testing.T) {
	t.Parallel()
	m, _ := start(t)
	m.Types("vcctl top")
	m.Shows("[1]Overview   2 Jobs", "live")
	for _, size := range []struct {
		w, h int
		want string
	}{{80, 24, "[1]Ovw"}, {60, 15, "[1]Ovw"}, {50, 12, "needs 60x15, has 50x12"}, {160, 50, "[1]Overview   2 Jobs"}, {120, 40, "[1]Overview   2 Jobs"}} {
		m.Resize(size.w, size.h)
		m.Until(fmt.Sprintf("%s at %dx%d", size.want, size.w, size.h), func(screen string) bool {
			lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
			if !strings.Contains(screen, size.want) || len(lines) != size.h && size.h >= 15 {
				return false
			}
			for _, line := range lines {
				if canvas.Width(line) > size.w {
					return false
				}
			}
			return true
		})
	}
}

func TestAServerThatIsGoneIsSaidAndComesBack(t *testing.T) {
	t.Parallel()
	m, server := start(t)
	m.Types("vcctl top")
	m.Shows("train", "live")
	server.Down(true)
	m.Shows("train", "retrying")
	server.Down(false)
	m.Shows("train", "live")
}

// settled waits until the screen contains all texts, has finished loading and does not change any more, and returns it.
func settled(m *terminal.Terminal, texts ...string) string {
	last := ""
	return m.Until(fmt.Sprintf("%q at rest", texts), func(screen string) bool {
		same := screen == last
		last = screen
		for _, text := range texts {
			same = same && strings.Contains(screen, text)
		}
		return same && !strings.Contains(screen, "loading")
	})
}

// moving matches the parts that change with time: numbers, durations, and the blanks that align them.
var moving = regexp.MustCompile(`[0-9][0-9dhms:]*| +`)

// still returns a line without the parts that change with time.
func still(line string) string {
	return moving.ReplaceAllStringFunc(line, func(s string) string {
		if s[0] == ' ' {
			return " "
		}
		return "0"
	})
}

// TestWidthsInAChineseLocale checks that tmux draws the same cluster in the same way in a Chinese locale and in a
// neutral one, including box-drawing, block and Chinese characters.
func TestWidthsInAChineseLocale(t *testing.T) {
	t.Parallel()
	shown := map[string]string{}
	for _, locale := range []string{"C.UTF-8", "zh_CN.UTF-8"} {
		m, _ := start(t)
		m.Types("LC_ALL=" + locale + " LANG=" + locale + " vcctl top")
		var all strings.Builder
		for _, screen := range []struct{ key, want string }{{"1", "Nodes (allocatable"}, {"2", "训"}, {"3", "QUEUE"}, {"4", "NODE "}, {"5", "Where it is blocked"}} {
			m.Presses(screen.key)
			text := settled(m, screen.want, "live", "["+screen.key+"]")
			for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
				line = strings.TrimRight(line, " ")
				if first := []rune(line + " ")[0]; strings.ContainsRune("┌│└", first) && canvas.Width(line) != 120 {
					t.Errorf("%s: a line of a box is %d wide, not 120: %s", locale, canvas.Width(line), line)
				}
				if n > 0 && !strings.Contains(line, "ago") { // the title contains the age
					all.WriteString(still(line) + "\n")
				}
			}
		}
		shown[locale] = all.String()
		m.Presses("q")
	}
	was, is := strings.Split(shown["C.UTF-8"], "\n"), strings.Split(shown["zh_CN.UTF-8"], "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Errorf("in a Chinese locale it is\n%s\nand else\n%s", is[i], was[i])
		}
	}
}
