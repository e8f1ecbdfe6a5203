package daemon

import (
	"runtime/debug"
	"time"
)

// startGarbage is how long after its start a component is done with the lists
// that it began with.
const startGarbage = 3 * time.Second

// giveBack returns to the system what a start leaves behind: lists of all pods,
// several times as large as what is kept of them, which would be held until the
// heap had grown as large again.
func giveBack() { time.AfterFunc(startGarbage, debug.FreeOSMemory) }
