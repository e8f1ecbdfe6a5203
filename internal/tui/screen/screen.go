package screen

import (
	"context"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// The names of the screens, as keys tables and Open use them.
const (
	Overview = "overview"
	Jobs     = "jobs"
	Job      = "job"
	Queues   = "queues"
	Nodes    = "nodes"
	Explain  = "explain"
	// Everywhere is the name under which keys stand that all screens have.
	Everywhere = "everywhere"
)

// Screen is one page of the dashboard.
type Screen interface {
	// Name is one of the names above.
	Name() string
	// Crumb is what the path in the title calls it: "Jobs", "931 mpi-cfd".
	Crumb(*Context) string
	// Note stands at the right of the title: "96 nodes   sort: idle gpu"; "" is none.
	Note(*Context) string
	// Update takes an event in. It is called with Refresh{} before the first Draw.
	Update(*Context, Event) []Effect
	// Draw draws what stands between the tabs and the footer. At any size it must do
	// with what it is given.
	Draw(*Context, canvas.Canvas)
	// Twin is the whole screen as text that can be pasted into a mail, as the
	// command line would print it.
	Twin(*Context) string
}

// Filterer is a screen that can be filtered.
type Filterer interface {
	// SetFilter takes a filter over, at every key while it is typed; what is wrong
	// with it is said in the error, and the last good filter stays.
	SetFilter(*Context, string) error
	// Matches is how many rows are shown, and how many there are.
	Matches(*Context) (shown, all int)
}

// Tabbed is a screen with pages of its own.
type Tabbed interface {
	Tabs(*Context) []Tab
}

// Tab is a page of a screen: Key, which is bound in the table, opens it.
type Tab struct {
	Key, Title string
	Open       bool
}

// Targeted is a screen of one thing: opened again for the same thing, the one
// that is open already is shown.
type Targeted interface{ Target() string }

// Escaper is a screen that has something to clear before esc closes it: marks, for
// one. Escape says whether there was anything.
type Escaper interface{ Escape() bool }

// Reader is a screen that takes text in by itself, as a search in a log does: while
// Reading, keys go to Update as Typed and not through the table.
type Reader interface{ Reading() bool }

// Context is what screens know of the world. It is made anew for each call.
type Context struct {
	// Snap is never nil.
	Snap *snapshot.Snapshot
	Now  time.Time
	// Theme is how things look.
	Theme *theme.Theme
	// W and H are the size of the whole terminal: widths of columns depend on W, so
	// that they do not change from screen to screen. The canvas says what there is
	// to draw on.
	W, H int
	// Namespace is the one whose jobs are shown; "" is all.
	Namespace string
	// Mine shows only the jobs of User.
	Mine bool
	// User is who asks, as jobs are labelled with.
	User string
	// ReadOnly refuses everything that changes something.
	ReadOnly bool
	// Resource is what heat maps and bars of queues show: see Resources.
	Resource string
	// Logs are what is streamed at the moment; nil when nothing is.
	Logs *LogView
	// Actions is nil when there is nobody to ask: keys that need it say "not connected".
	Actions Actions
	// Program is what the user typed to start us: vcctl, or kubectl vc.
	Program string
}

// LogView is a log that is being streamed.
type LogView struct {
	// Lines are the last ones, the newest last.
	Lines []LogLine
	// Dropped is how many lines were too many to keep.
	Dropped int
	// Streams says of each pod how it stands: "" is followed, else the reason why not.
	Streams map[string]string
}

// LogLine is one line of one pod.
type LogLine struct {
	Pod  string
	At   time.Time
	Text string
	// Serial numbers lines from 1 as they arrive, whatever their times are.
	Serial int
}

// Event is what a screen is told.
type Event interface{ event() }

// Refresh says that Context.Snap is new, or that Namespace or Mine changed.
type Refresh struct{}

// Resize says that the size changed.
type Resize struct{}

// Mouse is a click or a turn of the wheel. X and Y are cells of the whole frame:
// what was drawn there is asked with canvas.Canvas.Holds.
type Mouse struct {
	Kind MouseKind
	X, Y int
}

// MouseKind is what the mouse did.
type MouseKind int

// What a mouse does.
const (
	Click MouseKind = iota
	DoubleClick
	WheelUp
	WheelDown
)

// Typed is a key that a Reader reads: Text is what it writes, Key its name.
type Typed struct{ Key, Text string }

// NewLines says that Context.Logs has more.
type NewLines struct{}

// Done is the end of a Run.
type Done struct {
	Name string
	// Said is what was done, Err why it was not.
	Said string
	Err  error
	// Value is what the Run brought, for screens that asked for something.
	Value any
}

// Left says that another screen was opened above this one, or that it is closed.
type Left struct{}

// Entered says that the screen is shown (again).
type Entered struct{}

func (Refresh) event()  {}
func (Resize) event()   {}
func (Mouse) event()    {}
func (Typed) event()    {}
func (NewLines) event() {}
func (Done) event()     {}
func (Left) event()     {}
func (Entered) event()  {}

// Effect is something that a screen wants to happen.
type Effect interface{ effect() }

// Open shows another screen above this one. Target is the UID of a job, the name of
// a queue or node, or "".
type Open struct{ Screen, Target string }

// Back closes this screen.
type Back struct{}

// SetFilter filters the screen that is on top after the effects before this one.
type SetFilter struct{ Text string }

// Ask asks before something is done. It is drawn over the screen; what was asked is
// never done without an answer.
type Ask struct {
	// Question names what will happen, and to how many: "Cancel 2 jobs?".
	Question string
	// Named are the first of Count things that it is about, in their order; where there is
	// little room fewer of them are shown.
	Named []string
	Count int
	// Lines say what will happen, and what not.
	Lines []string
	// Expect is what must be typed; "" is y.
	Expect string
	// Then is what happens after a yes.
	Then []Effect
}

// Input asks for a line of text.
type Input struct {
	Question string
	Lines    []string
	// Value is what stands there first.
	Value string
	// Check says what is wrong with a text; nil accepts everything.
	Check func(string) error
	// Then makes the effects of what was typed.
	Then func(string) []Effect
}

// Run does something that takes time, elsewhere; its end comes back as Done to the
// screen that wanted it, and as a line in the frame.
type Run struct {
	Name string
	Do   func(context.Context) (said string, err error)
	// Quiet leaves out the line of a Run that went well.
	Quiet bool
	// Fetch is instead of Do for what brings a value.
	Fetch func(context.Context) (value any, err error)
}

// Notice shows a line in the frame.
type Notice struct {
	Text string
	Bad  bool
}

// Copy puts text into the clipboard of the terminal.
type Copy struct {
	Text string
	// What it is, for the line that says it.
	What string
}

// StreamLogs follows the logs of pods, in place of those that are followed.
type StreamLogs struct{ Pods []PodRef }

// PodRef is a pod, and one of its containers; "" is the first.
type PodRef struct {
	Namespace, Name string
	UID             types.UID
	Container       string
}

// StopLogs ends what StreamLogs began.
type StopLogs struct{}

// Shell gives the terminal to something else until it ends, as attach does.
type Shell struct {
	Name string
	Do   func(ctx context.Context, in io.Reader, out, errOut io.Writer) error
}

// SetMine and SetNamespace change what all screens show.
type SetMine struct{ Mine bool }

// SetNamespace changes what all screens show; "" is all namespaces.
type SetNamespace struct{ Namespace string }

// SetResource changes what heat maps and bars show.
type SetResource struct{ Resource string }

// SetTheme changes how everything looks.
type SetTheme struct{ Name string }

// Choose shows a list to tick things in: columns, for one.
type Choose struct {
	Title   string
	Choices []Choice
	// Then makes the effects of what is ticked in the end, by place.
	Then func(ticked []bool) []Effect
}

// Choice is one of a Choose.
type Choice struct {
	Title string
	On    bool
	// Fixed ones cannot be changed.
	Fixed bool
}

// SwitchContext ends the dashboard of this cluster and begins that of another one, by
// the name of the kubeconfig's context.
type SwitchContext struct{ Name string }

// Redraw draws everything anew, whatever the terminal shows.
type Redraw struct{}

// Quit ends the dashboard.
type Quit struct{}

func (Open) effect()          {}
func (Back) effect()          {}
func (SetFilter) effect()     {}
func (Ask) effect()           {}
func (Input) effect()         {}
func (Run) effect()           {}
func (Notice) effect()        {}
func (Copy) effect()          {}
func (StreamLogs) effect()    {}
func (StopLogs) effect()      {}
func (Shell) effect()         {}
func (SetMine) effect()       {}
func (SetNamespace) effect()  {}
func (SetResource) effect()   {}
func (SetTheme) effect()      {}
func (Choose) effect()        {}
func (SwitchContext) effect() {}
func (Redraw) effect()        {}
func (Quit) effect()          {}
