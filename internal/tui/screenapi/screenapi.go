package screenapi

import (
	"context"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// The names of the screens for key tables and Open.
const (
	Overview = "overview"
	Jobs     = "jobs"
	Job      = "job"
	Queues   = "queues"
	Nodes    = "nodes"
	Explain  = "explain"
	// Everywhere is the name for keys of all screens.
	Everywhere = "everywhere"
)

// Screen is one page of the dashboard.
type Screen interface {
	// Name returns one of the names above.
	Name() string
	// Crumb returns the screen's name in the title's path: "Jobs", "931 mpi-cfd".
	Crumb(*Context) string
	// Note returns text for the right side of the title: "96 nodes   sort: idle gpu", or "".
	Note(*Context) string
	// Update handles an event. It is called with Refresh{} before the first Draw.
	Update(*Context, Event) []Effect
	// Draw draws the part between the tabs and the footer. It must handle any size.
	Draw(*Context, canvas.Canvas)
	// Twin returns the whole screen as plain text, for example to paste into a mail, in the format of the command line.
	Twin(*Context) string
}

// Filterer is a screen that can be filtered.
type Filterer interface {
	// SetFilter applies a filter. It is called on every key while the user types. If the filter is invalid, SetFilter
	// returns an error and the last valid filter stays.
	SetFilter(*Context, string) error
	// Matches returns the number of visible rows and of all rows.
	Matches(*Context) (shown, all int)
}

// Tabbed is a screen with its own pages.
type Tabbed interface {
	Tabs(*Context) []Tab
}

// Tab is a page of a screen. Key, which must be in the table of keys, opens it.
type Tab struct {
	Key, Title string
	Open       bool
}

// Targeted is a screen about one object. If it is opened again for the same object, the open screen is shown.
type Targeted interface{ Target() string }

// Escaper is a screen that may have something to clear, such as marks, before esc closes it. Escape reports whether it
// cleared something.
type Escaper interface{ Escape() bool }

// Reader is a screen that can take text input itself, such as a search in a log. While Reading returns true, keys go to
// Update as Typed instead of through the table.
type Reader interface{ Reading() bool }

// Context is the data available to screens. It is updated before each call.
type Context struct {
	// Snap is never nil.
	Snap *snapshot.Snapshot
	Now  time.Time
	// Theme defines colours and glyphs.
	Theme *theme.Theme
	// W and H are the size of the whole terminal. Column widths depend on W, so that they are the same on all screens.
	// The canvas has the size of the drawable part.
	W, H int
	// Namespace is the namespace whose jobs are shown; "" means all.
	Namespace string
	// Mine shows only the jobs of User.
	Mine bool
	// User is the current user's name, as in the labels of jobs.
	User string
	// ReadOnly disables everything that changes something.
	ReadOnly bool
	// Resource is the resource that heat maps and bars of queues show; see Resources.
	Resource string
	// Logs is the current log stream; nil without one.
	Logs *LogView
	// Actions is nil without a connection. Keys that need it then show "not connected".
	Actions Actions
	// Program is the command that the user typed: vcctl, or kubectl vc.
	Program string
}

// LogView is the state of a log stream.
type LogView struct {
	// Lines holds the last lines, the newest last.
	Lines []LogLine
	// Dropped is the number of lines dropped to limit memory.
	Dropped int
	// Streams maps a pod's name to the state of its stream: "" means followed, other text is the reason why not.
	Streams map[string]string
}

// LogLine is one line of one pod.
type LogLine struct {
	Pod  string
	At   time.Time
	Text string
	// Serial numbers lines from 1 in order of arrival, whatever their times are.
	Serial int
}

// Event is an event for a screen.
type Event interface{ event() }

// Refresh means that Context.Snap is new, or that Namespace or Mine has changed.
type Refresh struct{}

// Resize means that the size has changed.
type Resize struct{}

// Mouse is a click or a turn of the wheel. X and Y are cells of the whole frame. canvas.Canvas.Holds converts them to
// positions on a canvas.
type Mouse struct {
	Kind MouseKind
	X, Y int
}

// MouseKind is the kind of a mouse event.
type MouseKind int

// The kinds of mouse events.
const (
	Click MouseKind = iota
	DoubleClick
	WheelUp
	WheelDown
)

// Typed is a key for a Reader. Text is the typed text, Key the name of the key.
type Typed struct{ Key, Text string }

// NewLines means that Context.Logs has new lines.
type NewLines struct{}

// Done is the end of a Run.
type Done struct {
	Name string
	// Said is the message of the Run, Err its error.
	Said string
	Err  error
	// Value is the result of a Fetch.
	Value any
}

// Left means that another screen was opened above this one, or that this one is closed.
type Left struct{}

// Entered means that the screen becomes visible, possibly again.
type Entered struct{}

func (Refresh) event()  {}
func (Resize) event()   {}
func (Mouse) event()    {}
func (Typed) event()    {}
func (NewLines) event() {}
func (Done) event()     {}
func (Left) event()     {}
func (Entered) event()  {}

// Effect is an action that a screen requests.
type Effect interface{ effect() }

// Open shows another screen above this one. Target is the UID of a job, the name of a queue or node, or "".
type Open struct{ Screen, Target string }

// Back closes this screen.
type Back struct{}

// SetFilter filters the screen that is on top after the preceding effects.
type SetFilter struct{ Text string }

// Ask shows a question over the screen. Its action is carried out only after a confirmation.
type Ask struct {
	// Question contains the action and the number of objects: "Cancel 2 jobs?".
	Question string
	// Named lists the first of the Count affected objects, in order. In a small terminal, fewer of them are shown.
	Named []string
	Count int
	// Lines describes the effects, and limits of the effects.
	Lines []string
	// Expect is the text that the user must type; "" means y.
	Expect string
	// Then holds the effects of a confirmation.
	Then []Effect
}

// Input asks for a line of text.
type Input struct {
	Question string
	Lines    []string
	// Value is the initial text.
	Value string
	// Check returns an error for an invalid text. Nil accepts everything.
	Check func(string) error
	// Then returns the effects for the entered text.
	Then func(string) []Effect
}

// Run carries out a slow action in another goroutine. Its end returns as Done to the screen that requested it, and as a
// notice in the frame.
type Run struct {
	Name string
	Do   func(context.Context) (said string, err error)
	// Quiet suppresses the notice of a successful Run.
	Quiet bool
	// Fetch replaces Do for a Run that returns a value.
	Fetch func(context.Context) (value any, err error)
}

// Notice shows a line in the frame.
type Notice struct {
	Text string
	Bad  bool
}

// Copy copies text to the terminal's clipboard.
type Copy struct {
	Text string
	// What describes the text in the notice about it.
	What string
}

// StreamLogs follows the logs of these pods instead of the previous ones.
type StreamLogs struct{ Pods []PodRef }

// PodRef identifies a pod and one of its containers; "" means the first.
type PodRef struct {
	Namespace, Name string
	UID             types.UID
	Container       string
}

// StopLogs stops following logs.
type StopLogs struct{}

// Shell hands the terminal over to a command until it ends, as attach does.
type Shell struct {
	Name string
	Do   func(ctx context.Context, in io.Reader, out, errOut io.Writer) error
}

// SetMine changes whether all screens show only the user's own jobs.
type SetMine struct{ Mine bool }

// SetNamespace changes the namespace that all screens show; "" means all namespaces.
type SetNamespace struct{ Namespace string }

// SetResource changes the resource that heat maps and bars show.
type SetResource struct{ Resource string }

// SetTheme changes the theme.
type SetTheme struct{ Name string }

// Choose shows a list in which the user selects items, for example columns.
type Choose struct {
	Title   string
	Choices []Choice
	// Then returns the effects for the final selection. ticked has one entry per choice.
	Then func(ticked []bool) []Effect
}

// Choice is one item of a Choose.
type Choice struct {
	Title string
	On    bool
	// Fixed items cannot be changed.
	Fixed bool
}

// SwitchContext ends this cluster's dashboard and starts the dashboard of another context of the kubeconfig.
type SwitchContext struct{ Name string }

// Redraw redraws the whole terminal.
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
