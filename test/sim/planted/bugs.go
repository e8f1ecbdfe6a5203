package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// bug is a small change of production code that the simulator must find.
type bug struct {
	name string
	kind string // what the code gets wrong: a key of kinds
	file string // relative to the root of the module
	old  string // occurs exactly once in the file
	new  string
	// note is the reason why the simulator cannot find the bug. It is empty for a bug that must be found.
	note string
}

// hash identifies the change, so that old results of a bug that was changed are not used.
func (b *bug) hash() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.file, b.old, b.new}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// kinds maps each kind of bugs to a description.
var kinds = map[string]string{
	"defect":      "a defect that the product once had",
	"leadership":  "a write without leadership",
	"lost reply":  "a wrong conclusion from a missing or failed response",
	"stale read":  "a decision on outdated data",
	"identity":    "objects with the same name are confused",
	"order":       "effects happen in the wrong order, or too early",
	"accounting":  "an amount or a number is wrong",
	"undo":        "a change is not undone, or undone wrongly",
	"wake-up":     "work is not continued when it could be",
	"rule":        "a rule of scheduling or of the job's life is not followed",
	"convergence": "objects do not reach their final state",
}

// plant returns the source with the bug.
func (b *bug) plant(source string) (string, error) {
	if n := strings.Count(source, b.old); n != 1 {
		return "", fmt.Errorf("%s contains the text %q %d times", b.file, b.old, n)
	}
	return strings.Replace(source, b.old, b.new, 1), nil
}

// allBugs returns all planted bugs.
func allBugs() []*bug {
	var all []*bug
	for _, list := range [][]bug{defects, schedulerBugs, controllerBugs, admissionBugs} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}
