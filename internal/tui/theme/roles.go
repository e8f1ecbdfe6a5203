package theme

import "github.com/vc-batch/vc/internal/tui/canvas"

// The roles of cells. A theme defines a look for each role. Attributes of canvas.Style can be added to any role.
const (
	Plain canvas.Style = iota
	// Dim is for the least important text: zeros, units, hints.
	Dim
	// Title is for the name of the program and the titles of boxes.
	Title
	// Tab is for the tab of the current screen.
	Tab
	// Key is for keys in the footer and in help.
	Key
	// Border is for the lines of boxes.
	Border
	// Head is for the titles of columns.
	Head
	// Cursor is the background of the row under the cursor; Mark is for marked rows.
	Cursor
	Mark
	// The states of jobs, pods and nodes.
	Running
	Pending
	Done
	Failed
	Suspended
	// Borrowed is for the amount that a queue uses above its deserved amount.
	Borrowed
	// Good, Warn and Error are for messages of the frame, about itself and the cluster.
	Good
	Warn
	Error
	// Heat0 to Heat4 are for the levels of use: none, below a quarter, below a half, below full, and full.
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
