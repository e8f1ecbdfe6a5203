package main

import "fmt"

// Variables of the environment that control the programs under test.
const (
	enabledVariable = "VC_MUTANT"         // number of the mutant that is enabled
	reachedVariable = "VC_MUTANT_REACHED" // directory in which a file is created for each mutant that is reached
)

// switchesFile is the name of the file that is added to each package that has mutants.
const switchesFile = "mutant_switches.go"

// switchesSource returns the source of the functions that mutants call.
func switchesSource(packageName string) []byte {
	return fmt.Appendf(nil, `package %s

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

var (
	enabledMutant, _ = strconv.Atoi(os.Getenv(%q))
	reachedDirectory = os.Getenv(%q)
	reachedMutants   sync.Map
)

// mutant reports whether a mutant is enabled.
func mutant(number int) bool {
	if reachedDirectory != "" {
		recordMutant(number)
	}
	return number == enabledMutant
}

func recordMutant(number int) {
	if _, known := reachedMutants.LoadOrStore(number, true); !known {
		_ = os.WriteFile(filepath.Join(reachedDirectory, strconv.Itoa(number)), nil, 0o600)
	}
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutantLess[T cmp.Ordered](number int, x, y T) bool {
	if mutant(number) {
		return x <= y
	}
	return x < y
}

func mutantLessOrEqual[T cmp.Ordered](number int, x, y T) bool {
	if mutant(number) {
		return x < y
	}
	return x <= y
}

func mutantGreater[T cmp.Ordered](number int, x, y T) bool {
	if mutant(number) {
		return x >= y
	}
	return x > y
}

func mutantGreaterOrEqual[T cmp.Ordered](number int, x, y T) bool {
	if mutant(number) {
		return x > y
	}
	return x >= y
}

func mutantSum[T mutantNumber](number int, x, y T) T {
	if mutant(number) {
		return x - y
	}
	return x + y
}

func mutantDifference[T mutantNumber](number int, x, y T) T {
	if mutant(number) {
		return x + y
	}
	return x - y
}

func mutantNext[T mutantNumber](number int, x T) T {
	if mutant(number) {
		return x + 1
	}
	return x
}
`, packageName, enabledVariable, reachedVariable)
}
