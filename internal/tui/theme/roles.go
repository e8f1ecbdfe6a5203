package theme

import "github.com/vc-batch/vc/internal/tui/canvas"

// The roles of cells. A theme gives each role a look. Attributes of canvas.Style can be added to any role.
const (
	Plain canvas.Style = iota
	// Dim is for the least important text: zeros, units, hints.
	Dim
	// Title is the name of the program and of boxes.
	Title
	// Tab is the current screen's tab.
	Tab
	// Key is a key in the footer and in help.
	Key
	// Border is for the lines of boxes.
	Border
	// Head is for the titles of columns.
	Head
	// Cursor is the selected row, Mark a marked row.
	Cursor
	Mark
	// The states of jobs, pods and nodes.
	Running
	Pending
	Done
	Failed
	Suspended
	// Borrowed is a queue's use above its deserved amount.
	Borrowed
	// Good, Warn and Error are for messages of the frame about itself and the cluster.
	Good
	Warn
	Error
	// Heat0 to Heat4 are levels of use: none, below a quarter, below a half, below all, full.
	Heat0
	Heat1
	Heat2
	Heat3
	Heat4
	// Log0 to Log7 distinguish the pods of a log.
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

// Logs is the number of log colours.
const Logs = 8
