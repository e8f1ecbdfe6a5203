package daemon

import (
	"runtime/debug"
	"time"
)

// startGarbage is the time after its start at which a component no longer needs its initial lists.
const startGarbage = 3 * time.Second

// returnStartMemory returns the garbage of the start to the operating system: the lists of all pods are several times
// as large as the data kept from them. Otherwise the process would keep that memory until the heap had grown to the
// same size again.
func returnStartMemory() { time.AfterFunc(startGarbage, debug.FreeOSMemory) }
