package optionvalue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Signal is the value of --signal, which requests a signal some time before the end of the job.
type Signal struct {
	// Number and Name identify the signal, for example 10 and USR1.
	Number int
	Name   string
	// Before is the number of seconds before the end.
	Before int64
	// Batch sends the signal only to the batch script.
	Batch bool
}

// signals maps signal numbers on Linux to Slurm's names.
var signals = map[int]string{
	1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1", 11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM",
	17: "CHLD", 18: "CONT", 19: "STOP", 20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 24: "XCPU", 25: "XFSZ",
}

// defaultBefore is the default time between the signal and the end of the job, in seconds.
const defaultBefore = 60

// String returns the signal in the format that ParseSignal accepts.
func (s Signal) String() string {
	text := fmt.Sprintf("%s@%d", s.Name, s.Before)
	if s.Batch {
		return "B:" + text
	}
	return text
}

// SignalNumber returns the number of a signal that is specified by number or by name, with or without SIG.
func SignalNumber(text string) (int, error) {
	if n, ok := parseDigitsOnly(text); ok && n >= 1 && n <= 64 {
		return int(n), nil
	}
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	for number, known := range signals {
		if known == name {
			return number, nil
		}
	}
	var names []string
	for _, known := range signals {
		names = append(names, known)
	}
	slices.Sort(names)
	return 0, newError("use a number or one of these names: " + strings.Join(names, " "))
}

// SignalName returns the name of a signal, or its number if it has no name.
func SignalName(number int) string {
	if name, known := signals[number]; known {
		return name
	}
	return strconv.Itoa(number)
}

// ParseSignal parses [B:]SIG[@seconds].
func ParseSignal(text string) (Signal, error) {
	s := Signal{Before: defaultBefore}
	if flags, rest, flagged := strings.Cut(text, ":"); flagged {
		switch strings.ToUpper(flags) {
		case "B":
			s.Batch, text = true, rest
		case "R", "BR", "RB":
			return s, newError("the flag R requests a signal at the start of a reservation, but reservations are not supported")
		default:
			return s, newError("use [B:]SIGNAL[@SECONDS], for example B:USR1@90")
		}
	}
	name, seconds, timed := strings.Cut(text, "@")
	if timed {
		n, ok := parseDigitsOnly(seconds)
		if !ok || n > 65535 {
			return s, newError("specify at most 65535 seconds after @")
		}
		s.Before = n
	}
	number, err := SignalNumber(name)
	if err != nil {
		return s, err
	}
	s.Number, s.Name = number, SignalName(number)
	return s, nil
}
