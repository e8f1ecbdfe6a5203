// Package signals translates between signal numbers and names, and describes signals in the words that Slurm prints.
package signals

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ParseNumber parses the name of a signal, with or without SIG, or a number from 1 to 64.
func ParseNumber(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 65 {
		return n, nil
	}
	name := strings.ToUpper(text)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if n := unix.SignalNum(name); n != 0 {
		return int(n), nil
	}
	return 0, fmt.Errorf("%q is not a valid signal", text)
}

// NoMemory is the signal number that Slurm reports for a process that used too much memory.
const NoMemory = 125

// descriptions maps signals to the texts that a shell prints when a signal has ended a process.
var descriptions = map[int]string{
	1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap", 6: "Aborted", 7: "Bus error", 8: "Floating point exception",
	9: "Killed", 10: "User defined signal 1", 11: "Segmentation fault", 12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock", 15: "Terminated",
	NoMemory: "Out Of Memory",
}

// Describe returns the text that is printed for a process that a signal has ended.
func Describe(number int) string {
	if text, ok := descriptions[number]; ok {
		return text
	}
	return "Signal " + strconv.Itoa(number)
}
