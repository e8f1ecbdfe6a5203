package daemon

import (
	"runtime/debug"
	"time"
)

// startGarbage is the time after which a component that has started no longer needs its initial lists.
const startGarbage = 3 * time.Second

// returnStartMemory returns the memory of the garbage from the start to the operating system. The lists of all pods are
// several times as large as the data kept from them, and the process would otherwise keep their memory until the heap
// had grown to the same size again.
func returnStartMemory() { time.AfterFunc(startGarbage, debug.FreeOSMemory) }
