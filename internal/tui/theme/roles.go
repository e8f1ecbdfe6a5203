package theme

import "github.com/vc-batch/vc/internal/tui/canvas"

// Roles: what a cell means. A theme gives each of them a look; attributes of
// canvas.Style may be added to any.
const (
	Plain canvas.Style = iota
	// Dim is for what matters least: zeros, units, hints.
	Dim
	// Title is the name of the program and of boxes.
	Title
	// Tab is the screen that is shown.
	Tab
	// Key is a key in the footer and in help.
	Key
	// Border is the lines of boxes.
	Border
	// Head is the names of columns.
	Head
	// Cursor is the selected row, Mark a marked one.
	Cursor
	Mark
	// The states of jobs, pods and nodes.
	Running
	Pending
	Done
	Failed
	Suspended
	// Borrowed is what a queue holds above what it deserves.
	Borrowed
	// Good, Warn and Error are what the frame says of itself and of the cluster.
	Good
	Warn
	Error
	// Heat0 to Heat4 are how full something is: not at all, below a quarter, a half,
	// three quarters, full.
	Heat0
	Heat1
	Heat2
	Heat3
	Heat4
	// Log0 to Log7 tell the pods of a log apart.
	Log0
	Log1
	Log2
	Log3
	Log4
	Log5
	Log6
	Log7
	roles
)

// Logs is how many colours logs have.
const Logs = 8
