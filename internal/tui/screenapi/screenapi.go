package screenapi

import (
	"context"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/history"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// The names of the screens, for key tables and Open.
const (
	Overview = "overview"
	Jobs     = "jobs"
	Job      = "job"
	Queues   = "queues"
	Nodes    = "nodes"
	Explain  = "explain"
	History  = "history"
	Events   = "events"
	Document = "document"
	Tree     = "tree"
	// Everywhere is the name that stands for all screens.
	Everywhere = "everywhere"
)

// Screen is one page of the dashboard.
type Screen interface {
	// Name returns one of the names above.
	Name() string
	// Crumb returns the screen's entry in the breadcrumb trail of the title, for example "Jobs" or "931 mpi-cfd".
	Crumb(*Context) string
	// Note returns the text on the right side of the title, for example "96 nodes   sort: idle gpu", or "".
	Note(*Context) string
	// Update handles an event. Refresh{} is sent before the first Draw.
	Update(*Context, Event) []Effect
	// Draw draws the part of the frame between the tabs and the footer. It must handle any size.
	Draw(*Context, canvas.Canvas)
	// Twin returns the whole screen as plain text in the format of the command line, for example to paste into an
	// email.
	Twin(*Context) string
}

// Filterer is a screen that can be filtered.
type Filterer interface {
	// SetFilter applies a filter. It is called on every key press while the user types. If the filter is invalid,
	// SetFilter returns an error and keeps the last valid filter.
	SetFilter(*Context, string) error
	// Matches returns the number of visible rows and the number of all rows.
	Matches(*Context) (shown, all int)
}

// FilterKeyLister is a Filterer whose filters can contain keys such as st: and gpu>=.
type FilterKeyLister interface {
	// FilterKeys returns the keys with their usual operators. They are shown while the user has not typed anything.
	FilterKeys() []string
}

// Tabbed is a screen with its own pages.
type Tabbed interface {
	Tabs(*Context) []Tab
}

// Tab is a page of a screen. It is opened by Key, which must be in the key table.
type Tab struct {
	Key, Title string
	Open       bool
}

// Targeted is a screen about one object. If it is to be opened again for the same object, the open screen is shown.
type Targeted interface{ Target() string }

// Escaper is a screen that may have something to clear, such as marks, before esc closes it. Escape reports whether
// it cleared anything.
type Escaper interface{ Escape() bool }

// Reader is a screen that can read text input itself, such as a search in a log. While Reading returns true, keys are
// sent to Update as Typed instead of being dispatched through the key table.
type Reader interface{ Reading() bool }

// Selector is a screen on which one object is selected.
type Selector interface {
	// Selection returns the selected object; ok is false if there is none.
	Selection() (object Selection, ok bool)
}

// Selection identifies an API object. Kind is its kind in lower case, such as job; Namespace may be empty.
type Selection struct{ Kind, Namespace, Name string }

// Context is the data that screens can use. It is updated before each call.
type Context struct {
	// Snap is never nil.
	Snap *snapshot.Snapshot
	Now  time.Time
	// Theme defines colours and glyphs.
	Theme *theme.Theme
	// W and H are the size of the whole terminal. Column widths depend on W, so that they are the same on all
	// screens. The canvas has the size of the part to draw.
	W, H int
	// Compact is true for text without boxes, bars and maps, for screen readers. W is then less than 100, so that the
	// layout is that of a narrow terminal.
	Compact bool
	// Namespace is the namespace whose jobs are shown; if empty, the jobs of all namespaces are shown.
	Namespace string
	// Mine shows only the jobs of User.
	Mine bool
	// Words is the vocabulary of states and reasons.
	Words Vocabulary
	// User is the name of the current user, as in the labels of jobs.
	User string
	// ReadOnly disables all actions that change something.
	ReadOnly bool
	// History holds the amounts since the start of the dashboard. It may be nil.
	History *history.History
	// Resource is the resource that heat maps and queue bars show; see ShownResources.
	Resource string
	// Logs is the current log stream, or nil if none exists.
	Logs *LogView
	// Actions is nil if there is no connection. Keys that need it then show "not connected".
	Actions Actions
	// Program is the command that the user typed: "vcctl" or "kubectl vc".
	Program string
	// CustomKeys maps the names of actions to the display names of the keys that the user has assigned to them.
	CustomKeys map[string]string
}

// KeyFor returns the display name of the key of an action; usual is the key that it has unless the user has assigned
// another one.
func (ctx *Context) KeyFor(action, usual string) string {
	if own, ok := ctx.CustomKeys[action]; ok {
		return own
	}
	return usual
}

// sideBySideFrom is the terminal width from which panels stand side by side instead of below each other.
const sideBySideFrom = 160

// IsSideBySide reports whether panels stand side by side.
func (ctx *Context) IsSideBySide() bool { return !ctx.Compact && ctx.W >= sideBySideFrom }

// LogView is the state of a log stream.
type LogView struct {
	// Lines holds the most recent lines, with the newest last.
	Lines []LogLine
	// Dropped is the number of lines that were dropped to limit memory use.
	Dropped int
	// Streams maps a pod's name to the state of its stream: "" if the pod is followed, otherwise the reason why not.
	Streams map[string]string
}

// LogLine is one line of one pod.
type LogLine struct {
	Pod  string
	At   time.Time
	Text string
	// Serial numbers the lines in order of arrival, starting at 1, regardless of their times.
	Serial int
}

// Event is an event for a screen.
type Event interface{ event() }

// Refresh reports that Context.Snap is new, or that Namespace or Mine has changed.
type Refresh struct{}

// Resize reports that the size has changed.
type Resize struct{}

// Mouse is a mouse click or a turn of the wheel. X and Y are the cell in the frame, which canvas.Canvas.ContainsCell
// converts to a position on a canvas.
type Mouse struct {
	Kind MouseKind
	X, Y int
}

// MouseKind is the kind of a mouse event.
type MouseKind int

// Kinds of mouse events.
const (
	Click MouseKind = iota
	DoubleClick
	WheelUp
	WheelDown
)

// Typed is a key for a Reader. Text is the typed text and Key is the name of the key.
type Typed struct{ Key, Text string }

// NewLines reports that Context.Logs has new lines.
type NewLines struct{}

// Done reports the end of a Run.
type Done struct {
	Name string
	// Said is the Run's message, and Err its error.
	Said string
	Err  error
	// Value is the result of Fetch.
	Value any
}

// Left reports that another screen was opened above this one, or that this screen was closed.
type Left struct{}

// Entered reports that the screen becomes visible, possibly not for the first time.
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

// Open shows another screen above this one. Target is the UID of a job, possibly followed by "#" and a page of the screen,
// the name of a queue or node, or "". With a
// Filter, the screen shows only the matching rows, and esc returns to this screen. Without Target and Filter, a tab is
// shown instead, and all open screens are closed.
type Open struct{ Screen, Target, Filter string }

// Back closes this screen.
type Back struct{}

// SetFilter filters the screen that is at the top after the preceding effects.
type SetFilter struct{ Text string }

// Ask shows a question over the screen. The action is carried out only after the user confirms it.
type Ask struct {
	// Question contains the action and the number of objects, for example "Cancel 2 jobs?".
	Question string
	// Named lists the first of the Count affected objects, in order. On a small terminal, fewer of them are shown.
	Named []string
	Count int
	// Lines describes the effects and their limits.
	Lines []string
	// Expect is the text that the user must type to confirm; it defaults to "y".
	Expect string
	// Then holds the effects that follow a confirmation.
	Then []Effect
}

// Input asks for a line of text.
type Input struct {
	Question string
	Lines    []string
	// Value is the initial text.
	Value string
	// Check returns an error for an invalid text. If Check is nil, any text is valid.
	Check func(string) error
	// Then returns the effects for the entered text.
	Then func(string) []Effect
}

// Run carries out a slow action in another goroutine. The result is sent as Done to the screen that requested the
// action, and shown as a notice in the frame.
type Run struct {
	Name string
	Do   func(context.Context) (said string, err error)
	// Quiet suppresses the notice if the Run succeeds.
	Quiet bool
	// Fetch is set instead of Do for a Run that returns a value.
	Fetch func(context.Context) (value any, err error)
	// Undo returns the Run that reverts this one; nil if it cannot be reverted. The user can start it for 30 seconds after
	// the Run. It gets the current Context, because the objects have changed since the Run.
	Undo func(*Context) *Run
}

// Notice shows a line in the frame.
type Notice struct {
	Text string
	Bad  bool
}

// Copy copies text to the terminal's clipboard.
type Copy struct {
	Text string
	// What describes the text in the notice about the copy.
	What string
}

// StreamLogs starts following the logs of these pods and stops following the previous ones.
type StreamLogs struct{ Pods []PodRef }

// PodRef identifies a pod and one of its containers; an empty container means the first one.
type PodRef struct {
	Namespace, Name string
	UID             types.UID
	Container       string
	// Previous selects the log of the container before its last restart.
	Previous bool
}

// StopLogs stops following logs.
type StopLogs struct{}

// Shell hands the terminal over to a command, such as attach, until the command ends. Then it shows said in the frame,
// unless said is empty.
type Shell struct {
	Name string
	Do   func(ctx context.Context, in io.Reader, out, errOut io.Writer) (said string, err error)
}

// SetMine sets whether all screens show only the user's own jobs.
type SetMine struct{ Mine bool }

// SetNamespace sets the namespace that all screens show; "" means all namespaces.
type SetNamespace struct{ Namespace string }

// SetResource sets the resource that heat maps and bars show.
type SetResource struct{ Resource string }

// ToggleCompact switches between drawings and compact text.
type ToggleCompact struct{}

// SetTheme sets the theme.
type SetTheme struct{ Name string }

// Choose shows a list in which the user selects items, for example columns.
type Choose struct {
	Title   string
	Choices []Choice
	// One makes the list a menu from which the user selects exactly one item. The cursor starts at the item that is On.
	One bool
	// Then returns the effects of the final selection. ticked has one entry for each choice.
	Then func(ticked []bool) []Effect
}

// Choice is one item of a Choose.
type Choice struct {
	Title string
	On    bool
	// Fixed is true for an item that the user cannot change.
	Fixed bool
}

// SwitchContext ends the dashboard of this cluster and starts that of another context of the kubeconfig.
type SwitchContext struct{ Name string }

// Redraw redraws the whole terminal.
type Redraw struct{}

// SuspendProgram stops the program until the user continues it from the shell.
type SuspendProgram struct{}

// Quit ends the dashboard.
type Quit struct{}

func (Open) effect()           {}
func (Back) effect()           {}
func (SetFilter) effect()      {}
func (Ask) effect()            {}
func (Input) effect()          {}
func (Run) effect()            {}
func (Notice) effect()         {}
func (Copy) effect()           {}
func (StreamLogs) effect()     {}
func (StopLogs) effect()       {}
func (Shell) effect()          {}
func (SetMine) effect()        {}
func (SetNamespace) effect()   {}
func (SetResource) effect()    {}
func (SetTheme) effect()       {}
func (ToggleCompact) effect()  {}
func (Choose) effect()         {}
func (SwitchContext) effect()  {}
func (Redraw) effect()         {}
func (SuspendProgram) effect() {}
func (Quit) effect()           {}
