package launchconfig

import (
	"fmt"
	"strconv"
	"strings"
)

// Names holds the values that replace patterns in file names such as slurm-%A_%a.out.
type Names struct {
	JobID, ArrayID string
	// ArrayIndex is -1 if the job is not an array.
	ArrayIndex    int
	JobName, User string
	// Host is a host name without the domain. Node is the number of the node within the job or step.
	Host string
	Node int
	// Step is the number of a step, or "batch" for the script. Task is the task's rank within the step.
	Step     string
	Task     int
	Restarts int
}

// NewNames returns the values for the file names of a job's script.
func NewNames(s *Spec, p *Pod, place Place) Names {
	return Names{JobID: p.SlurmJobID(), ArrayID: p.arrayIDOrName(), ArrayIndex: p.ArrayIndex, JobName: s.JobName, User: s.User, Host: place.OwnHost(), Node: place.NodeID, Step: "batch", Restarts: p.Restarts}
}

// maxPad is the maximum width of a padded number.
const maxPad = 10

// ExpandPattern replaces %j, %A, %4t and similar patterns. A leading backslash disables the replacement and is removed.
func (n Names) ExpandPattern(pattern string) (string, error) {
	if plain, ok := strings.CutPrefix(pattern, `\`); ok {
		return strings.TrimPrefix(plain, `\`), nil
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			b.WriteByte(pattern[i])
			continue
		}
		digits := i + 1
		for digits < len(pattern) && pattern[digits] >= '0' && pattern[digits] <= '9' {
			digits++
		}
		if digits == len(pattern) {
			return "", fmt.Errorf("%q ends with %%; use %%%% for a percent sign", pattern)
		}
		width, err := strconv.Atoi("0" + pattern[i+1:digits])
		if err != nil {
			width = maxPad
		}
		text, err := n.expandLetter(pattern[digits])
		if err != nil {
			return "", fmt.Errorf("%q: %w", pattern, err)
		}
		if _, err := strconv.Atoi(text); err == nil {
			text = strings.Repeat("0", max(0, min(width, maxPad)-len(text))) + text
		}
		b.WriteString(text)
		i = digits
	}
	return b.String(), nil
}

func (n Names) expandLetter(c byte) (string, error) {
	switch c {
	case '%':
		return "%", nil
	case 'A':
		return n.ArrayID, nil
	case 'a', 'b':
		if n.ArrayIndex < 0 {
			return "", fmt.Errorf("%%%c is replaced by an array index, but the job is not an array", c)
		}
		if c == 'b' {
			return strconv.Itoa(n.ArrayIndex % 10), nil
		}
		return strconv.Itoa(n.ArrayIndex), nil
	case 'j':
		return n.JobID, nil
	case 'J':
		if n.Step == "batch" {
			return n.JobID, nil
		}
		return n.JobID + "." + n.Step, nil
	case 'N':
		return n.Host, nil
	case 'n':
		return strconv.Itoa(n.Node), nil
	case 'r':
		return strconv.Itoa(n.Restarts), nil
	case 's', 'S':
		return n.Step, nil
	case 't':
		return strconv.Itoa(n.Task), nil
	case 'u':
		return n.User, nil
	case 'x':
		return n.JobName, nil
	}
	return "", fmt.Errorf("%%%c is unknown; valid patterns are %%%% %%A %%a %%b %%J %%j %%N %%n %%r %%S %%s %%t %%u %%x", c)
}

// PatternScope reports whether a pattern results in a different file for each task, and whether it results in a
// different file for each node.
func PatternScope(pattern string) (task, node bool) {
	if strings.HasPrefix(pattern, `\`) {
		return false, false
	}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		for i++; i < len(pattern) && pattern[i] >= '0' && pattern[i] <= '9'; i++ {
		}
		if i < len(pattern) {
			task = task || pattern[i] == 't'
			node = node || pattern[i] == 'n' || pattern[i] == 'N'
		}
	}
	return task, node
}
