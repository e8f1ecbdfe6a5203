package screens_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
	"github.com/vc-batch/vc/test/tuitest"
)

var steps = flag.Int("steps", 10_000, "how many random keys and resizes TestRandomKeys makes")

func TestScripts(t *testing.T) {
	t.Parallel()
	tuitest.RunScripts(t, "testdata/scripts/*.txt", screens.AllScreenSpecs())
}

func TestTheTableOfKeys(t *testing.T) {
	t.Parallel()
	app := tuitest.Start(t, screens.AllScreenSpecs(), "empty", tuitest.Size{W: 120, H: 40})
	var everywhere []screenapi.Binding
	own := map[string][]screenapi.Binding{}
	for _, binding := range app.AllBindings() {
		if binding.Screen == screenapi.Everywhere {
			everywhere = append(everywhere, binding)
		} else {
			own[binding.Screen] = append(own[binding.Screen], binding)
		}
	}
	for _, spec := range screens.AllScreenSpecs() {
		if len(own[spec.Name]) != len(spec.Keys) {
			t.Errorf("%s: keys stand under another screen's name", spec.Name)
		}
		seen := map[string]string{}
		footers := map[int]string{}
		for _, binding := range append(slices.Clone(everywhere), own[spec.Name]...) {
			if binding.Help == "" || binding.Name == "" || strings.HasSuffix(binding.Help, ".") || binding.Do == nil {
				t.Errorf("%s: key %q needs a name, a help text without a full stop, and something to do: %+v", spec.Name, binding.Key, binding.Help)
			}
			for _, key := range binding.KeysWithAliases() {
				if seen[key] != "" {
					t.Errorf("%s: key %q is %s and %s", spec.Name, key, seen[key], binding.Name)
				}
				seen[key] = binding.Name
			}
			if binding.Footer > 0 && footers[binding.Footer] != "" {
				t.Errorf("%s: %s and %s have the same place %d in the footer", spec.Name, footers[binding.Footer], binding.Name, binding.Footer)
			}
			if binding.Footer > 0 {
				footers[binding.Footer] = binding.Name
			}
		}
	}
}

// presses returns the keys that random users press: every key of the table, and letters.
func presses(app *tui.App) []string {
	var all []string
	for _, binding := range app.AllBindings() {
		all = append(all, binding.KeysWithAliases()...)
	}
	for r := ' '; r <= '~'; r++ {
		if r == ' ' {
			all = append(all, "space")
			continue
		}
		all = append(all, string(r))
	}
	return slices.DeleteFunc(append(all, "enter", "esc", "tab", "up", "down", "left", "right", "backspace", "训"), func(key string) bool { return key == "ctrl+c" })
}

// worldsOfUsers lists the worlds of random users, including rare jobs, hidden kinds and HyperNodes.
var worldsOfUsers = append(tuitest.GoldenWorldNames(), "various", "own", "forbidden", "switches", "later")

// TestRandomKeys verifies what must hold for every frame with random input: no panic, no line too wide, the right
// number of lines, and no lost cursor.
func TestRandomKeys(t *testing.T) {
	t.Chdir(t.TempDir()) // random users save logs to files
	worlds := map[string]*snapshot.Snapshot{}
	for _, name := range worldsOfUsers {
		snap, err := tuitest.SnapshotOfWorld(name)
		if err != nil {
			t.Fatal(err)
		}
		worlds[name] = snap
	}
	for part := range 4 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(part)))
			u := &user{t: t, random: random, worlds: worlds, recorder: &tuitest.Recorder{}, now: tuitest.Now, size: tuitest.Size{W: 120, H: 40}}
			u.start(part)
			for range *steps / 4 {
				u.step()
			}
		})
	}
}

// user presses keys at random.
type user struct {
	t        *testing.T
	random   *rand.Rand
	worlds   map[string]*snapshot.Snapshot
	recorder *tuitest.Recorder
	app      *tui.App
	keys     []string
	last     []string
	now      time.Time
	size     tuitest.Size
}

func (u *user) start(part int) {
	colors := []theme.Colors{theme.TrueColor, theme.NoColor, theme.Colors16, theme.Colors256}[part]
	app, err := tui.New(tui.Settings{Specs: screens.AllScreenSpecs(), Theme: "dark", Colors: colors, ASCII: part == 1, ReadOnly: part == 2, User: "mei", Own: "nlp", Program: "vcctl", Actions: u.recorder, Now: u.now})
	if err != nil {
		u.t.Fatal(err)
	}
	u.app, u.keys = app, presses(app)
	app.Resize(u.size.W, u.size.H)
	u.see(u.worlds["normal"])
}

// see delivers a snapshot. Later reads return data of its world.
func (u *user) see(snap *snapshot.Snapshot) {
	u.recorder.Seen = snap
	u.app.SetSnapshot(snap)
}

func (u *user) step() {
	var did string
	defer func() {
		if p := recover(); p != nil {
			u.t.Fatalf("%s panics after %s: %v\n%s", did, strings.Join(u.last, " "), p, debug.Stack())
		}
	}()
	switch n := u.random.IntN(100); {
	case n < 4:
		u.size = tuitest.Size{W: u.random.IntN(200), H: u.random.IntN(60)}
		did = fmt.Sprintf("resize %dx%d", u.size.W, u.size.H)
		u.app.Resize(u.size.W, u.size.H)
	case n < 6:
		name := worldsOfUsers[u.random.IntN(len(worldsOfUsers))]
		if name == "many" && u.random.IntN(4) > 0 {
			name = "normal"
		}
		did = "world " + name
		u.stays(u.worlds[name])
	case n < 12:
		m := screenapi.Mouse{Kind: screenapi.MouseKind(u.random.IntN(4)), X: u.random.IntN(u.size.W + 1), Y: u.random.IntN(u.size.H + 1)}
		did = fmt.Sprintf("mouse %+v", m)
		u.app.HandleMouse(m)
	case n < 15:
		u.now = u.now.Add(time.Duration(u.random.IntN(3000)) * time.Millisecond)
		did = "tick"
		u.app.SetCurrentTime(u.now)
	default:
		did = u.keys[u.random.IntN(len(u.keys))]
		u.app.HandleKey(tuitest.NewKeyPress(did))
	}
	u.last = append(u.last, did)
	if len(u.last) > 30 {
		u.last = u.last[1:]
	}
	u.answer()
	u.cursors(func() { tuitest.CheckFrame(u.t, u.app.Draw(), u.size) })
	if u.t.Failed() {
		u.t.Fatalf("after %s", strings.Join(u.last, " "))
	}
}

// cursors checks the cursor of each table on the screen: it is on a visible row and has the row's ID. If the same
// snapshot arrives again, nothing moves.
func (u *user) cursors(draw func()) {
	top, ok := u.app.VisibleScreen().(widget.Tabled)
	if !ok {
		draw()
		return
	}
	frames := map[int]int{}
	for i, table := range top.Tables() {
		frames[i] = table.Place().Frames
	}
	draw()
	for i, table := range top.Tables() {
		switch p := table.Place(); {
		case p.Rows == 0 && (p.ID != "" || p.At != 0):
			u.t.Errorf("table %d is empty, and its cursor is %+v", i, p)
		case p.Rows == 0:
		case p.At < 0 || p.At >= p.Rows || !table.Has(p.ID):
			u.t.Errorf("table %d: the cursor is on no row: %+v", i, p)
		case p.Frames > frames[i] && (p.Top < 0 || p.At < p.Top || p.At >= p.Top+max(p.Height, 1)):
			u.t.Errorf("table %d: the row of the cursor is not drawn: %+v", i, p)
		}
	}
}

// places returns the cursor positions of the tables on the screen.
func (u *user) places() []widget.Place {
	var all []widget.Place
	if top, ok := u.app.VisibleScreen().(widget.Tabled); ok {
		for _, table := range top.Tables() {
			all = append(all, table.Place())
		}
	}
	return all
}

// stays delivers another snapshot and checks that the cursors stay on their rows, if these still exist.
func (u *user) stays(snap *snapshot.Snapshot) {
	top, before := u.app.VisibleScreen(), u.places()
	u.see(snap)
	if u.app.VisibleScreen() != top {
		return
	}
	for i, p := range u.places() {
		if was := before[i].ID; was != p.ID && !before[i].StartsAtTop && top.(widget.Tabled).Tables()[i].Has(was) {
			u.t.Errorf("table %d: the cursor went from %s to %s, which is not what its user did", i, was, p.ID)
		}
	}
}

// answer carries requests out, some with an error.
func (u *user) answer() {
	for _, r := range u.app.TakeRequests() {
		switch e := r.Effect.(type) {
		case screenapi.Run:
			done := screenapi.Done{Name: e.Name}
			switch {
			case u.random.IntN(5) == 0:
				done.Err = errors.New("the server is gone, and its name was 训练")
			case e.Fetch != nil:
				done.Value, done.Err = e.Fetch(u.t.Context())
			default:
				done.Said, done.Err = e.Do(u.t.Context())
			}
			u.app.ReportDone(r.From, e, done)
		case screenapi.StreamLogs:
			view := &screenapi.LogView{}
			for i := range u.random.IntN(50) {
				view.Lines = append(view.Lines, screenapi.LogLine{Pod: "worker-" + fmt.Sprint(i%3), At: u.now, Serial: i + 1, Text: "line 训练 \x1b[31m" + strings.Repeat("x", u.random.IntN(300))})
			}
			u.app.SetLogs(view)
		}
	}
}
