package tuitest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// RunScripts runs the scripts that match a pattern. A script consists of blocks: commands, a line ----, the output, and
// another line ---- . Lines that begin with # before the first command are comments. The commands are:
//
//	world NAME        the cluster from now on
//	size WxH          the size of the terminal; initially 120x40
//	readonly, ascii, theme NAME, resource NAME, failing TEXT   before the first key
//	keys A B ...      presses keys by name; type TEXT types text
//	click X Y, double X Y, wheel up|down X Y
//	tick DURATION     advances the clock
//	log POD TEXT      adds a line to a log
//	unread TEXT       details of jobs cannot be read from now on, for this reason; without TEXT they can again
//	silent            holds back responses to reads from now on; answer sends all of them
//	show              prints the frame; show FROM-TO prints some lines; show /RE/ prints matching lines
//	twin              prints the screen's text
//	expect TEXT       fails if the frame does not contain the text; refuse TEXT fails if it does
//
// Requests of the dashboard are printed where they occur: act, copy, follow, quit. Actions return at once.
func RunScripts(t *testing.T, pattern string, specs []screenapi.Spec) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{t: t, specs: specs, world: "normal", size: Size{120, 40}, settings: tui.Settings{
				Specs: specs, Theme: "dark", Colors: theme.TrueColor, User: "mei", Own: "nlp", Program: "vcctl", Now: Now,
			}, recorder: &Recorder{}, now: Now}
			CompareWithFile(t, path, s.runWholeScript(string(text)))
		})
	}
}

type script struct {
	t        *testing.T
	specs    []screenapi.Spec
	settings tui.Settings
	world    string
	size     Size
	app      *tui.App
	recorder *Recorder
	logs     *screenapi.LogView
	now      time.Time
	out      strings.Builder
	line     int
	// silent means that responses to reads are held back. waiting holds the pending requests.
	silent  bool
	waiting []tui.Request
}

// runWholeScript returns the script with the current output.
func (s *script) runWholeScript(text string) string {
	var whole strings.Builder
	inOutput := false
	for line := range strings.Lines(text) {
		s.line++
		line = strings.TrimSuffix(line, "\n")
		switch {
		case inOutput && line == "----":
			inOutput = false
			whole.WriteString(s.out.String() + "----\n")
			s.out.Reset()
		case inOutput:
		case line == "----":
			inOutput = true
			whole.WriteString("----\n")
		default:
			whole.WriteString(line + "\n")
			if line != "" && !strings.HasPrefix(line, "#") {
				s.runCommand(line)
			}
		}
	}
	if s.out.Len() > 0 || inOutput {
		whole.WriteString(s.out.String() + "----\n")
		if !inOutput {
			s.t.Errorf("line %d: something came out and there is no ---- for it:\n%s", s.line, s.out.String())
		}
	}
	return whole.String()
}

func (s *script) reportError(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("line %d: %s", s.line, fmt.Sprintf(format, args...))
}

// startedApp returns the dashboard. The first command that needs it starts it.
func (s *script) startedApp() *tui.App {
	if s.app != nil {
		return s.app
	}
	s.settings.Actions = s.recorder
	app, err := tui.New(s.settings)
	if err != nil {
		s.t.Fatal(err)
	}
	s.app = app
	app.Resize(s.size.W, s.size.H)
	s.setWorld(s.world)
	return app
}

func (s *script) setWorld(name string) {
	snap, err := SnapshotOfWorld(name)
	if err != nil {
		s.t.Fatalf("line %d: %v", s.line, err)
	}
	s.recorder.Seen = snap
	s.app.SetSnapshot(snap)
	s.runRequests()
}

func (s *script) runCommand(line string) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "readonly":
		s.settings.ReadOnly = true
	case "ascii":
		s.settings.ASCII = true
	case "theme":
		s.settings.Theme = rest
	case "failing":
		s.recorder.Err = fmt.Errorf("%s", rest)
	case "unread":
		s.recorder.SheetErr = nil
		if rest != "" {
			s.recorder.SheetErr = fmt.Errorf("%s", rest)
		}
	case "silent":
		s.silent = true
	case "size":
		if _, err := fmt.Sscanf(rest, "%dx%d", &s.size.W, &s.size.H); err != nil {
			s.reportError("size %q: %v", rest, err)
		}
		if s.app != nil {
			s.app.Resize(s.size.W, s.size.H)
		}
	case "world":
		s.world = rest
		if s.app != nil {
			s.setWorld(rest)
		}
	default:
		s.startedApp()
		s.runLiveCommand(word, rest)
		s.runRequests()
	}
}

func (s *script) runLiveCommand(word, rest string) {
	switch word {
	case "keys":
		for _, name := range strings.Fields(rest) {
			s.app.HandleKey(NewKeyPress(name))
			s.runRequests()
		}
	case "type":
		for _, r := range rest {
			name := string(r)
			if r == ' ' {
				name = "space"
			}
			s.app.HandleKey(NewKeyPress(name))
			s.runRequests()
		}
	case "click", "double", "wheel":
		s.sendMouseEvent(word, rest)
	case "tick":
		d, err := time.ParseDuration(rest)
		if err != nil {
			s.reportError("%v", err)
		}
		s.now = s.now.Add(d)
		s.app.SetCurrentTime(s.now)
	case "answer":
		waiting := s.waiting
		s.silent, s.waiting = false, nil
		for _, r := range waiting {
			s.runRequest(r)
		}
	case "log":
		pod, text, _ := strings.Cut(rest, " ")
		if s.logs == nil {
			s.reportError("no log is followed")
			return
		}
		view := *s.logs
		view.Lines = append(view.Lines[:len(view.Lines):len(view.Lines)], screenapi.LogLine{Pod: pod, At: s.now, Text: text, Serial: len(view.Lines) + 1})
		s.logs = &view
		s.app.SetLogs(s.logs)
	case "show":
		s.printFrame(rest)
	case "twin":
		s.out.WriteString(strings.TrimRight(s.app.VisibleScreen().Twin(s.app.Context()), "\n") + "\n")
	case "expect", "refuse":
		text := s.app.Draw().Text()
		if strings.Contains(text, rest) != (word == "expect") {
			s.reportError("%s %q: the frame is\n%s", word, rest, text)
		}
	default:
		s.reportError("there is no command %q", word)
	}
}

func (s *script) sendMouseEvent(word, rest string) {
	m := screenapi.Mouse{Kind: screenapi.Click}
	if word == "double" {
		m.Kind = screenapi.DoubleClick
	}
	if word == "wheel" {
		m.Kind = screenapi.WheelDown
		if up, ok := strings.CutPrefix(rest, "up "); ok {
			m.Kind, rest = screenapi.WheelUp, up
		}
		rest = strings.TrimPrefix(rest, "down ")
	}
	if _, err := fmt.Sscanf(rest, "%d %d", &m.X, &m.Y); err != nil {
		s.reportError("%s %q: %v", word, rest, err)
	}
	s.app.Draw()
	s.app.HandleMouse(m)
}

var lineRange = regexp.MustCompile(`^(\d+)(?:-(\d+))?$`)

func (s *script) printFrame(which string) {
	lines := strings.Split(strings.TrimSuffix(s.app.Draw().Text(), "\n"), "\n")
	if pattern, ok := strings.CutPrefix(which, "/"); ok {
		re, err := regexp.Compile(strings.TrimSuffix(pattern, "/"))
		if err != nil {
			s.reportError("%v", err)
			return
		}
		for _, line := range lines {
			if re.MatchString(line) {
				s.out.WriteString(line + "\n")
			}
		}
		return
	}
	from, to := 1, len(lines)
	if m := lineRange.FindStringSubmatch(which); m != nil {
		from, _ = strconv.Atoi(m[1])
		to = from
		if m[2] != "" {
			to, _ = strconv.Atoi(m[2])
		}
	} else if which != "" {
		s.reportError("show %q is neither lines nor /a pattern/", which)
	}
	for i := max(from, 1); i <= min(to, len(lines)); i++ {
		s.out.WriteString(lines[i-1] + "\n")
	}
}

// runRequests carries out the dashboard's requests until none exist left.
func (s *script) runRequests() {
	for range 20 {
		requests := s.app.TakeRequests()
		if len(requests) == 0 {
			return
		}
		for _, r := range requests {
			s.runRequest(r)
		}
	}
	s.reportError("the dashboard never stops asking")
}

func (s *script) runRequest(r tui.Request) {
	switch e := r.Effect.(type) {
	case screenapi.Run:
		if s.silent && e.Fetch != nil {
			s.waiting = append(s.waiting, r)
			return
		}
		done := performRun(e)
		s.writeAsked()
		s.app.ReportDone(r.From, e, done)
	case screenapi.Shell:
		said, err := e.Do(context.Background(), strings.NewReader(""), &s.out, &s.out)
		s.writeAsked()
		s.app.ReportDone(r.From, screenapi.Run{Name: e.Name, Quiet: said == ""}, screenapi.Done{Name: e.Name, Said: said, Err: err})
	case screenapi.Copy:
		fmt.Fprintf(&s.out, "copy %s: %d lines\n", e.What, strings.Count(e.Text, "\n"))
	case screenapi.StreamLogs:
		var pods []string
		for _, pod := range e.Pods {
			pods = append(pods, pod.Name)
		}
		fmt.Fprintf(&s.out, "follow %s\n", strings.Join(pods, " "))
		s.logs = &screenapi.LogView{}
		s.app.SetLogs(s.logs)
	case screenapi.StopLogs:
		if s.logs != nil {
			s.out.WriteString("stop following\n")
		}
		s.logs = nil
	default:
		fmt.Fprintf(&s.out, "%s\n", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e), "screen.")))
	}
}

func (s *script) writeAsked() {
	for _, line := range s.recorder.Asked {
		s.out.WriteString("act " + line + "\n")
	}
	s.recorder.Asked = nil
}
