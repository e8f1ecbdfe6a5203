package tui

import (
	"reflect"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// The paces at which the terminal library looks for a new frame. Looking costs about 0.15 ms of CPU time, mostly for
// waking up, so that a fixed rate of 60 a second takes one percent of a core while nothing changes.
const (
	paceOfInput   = time.Second / 120 // a key is drawn after 4 ms on average
	paceOfChanges = time.Second / 30
	paceAtRest    = time.Second / 4
)

// restAfter is how long a faster pace is kept after the last input or change.
const restAfter = 2 * time.Second

// pace adapts the rate at which the terminal library looks for a new frame. The library has only a fixed rate, so pace
// resets the library's ticker, which is a private field. If the field does not exist, the library's rate stays.
type pace struct {
	program *tea.Program
	ticker  *time.Ticker
	period  time.Duration
	until   time.Time // until when the period must not become longer
}

// setAtLeast shortens the period, or keeps a shorter one for some time.
func (p *pace) setAtLeast(period time.Duration, now time.Time) {
	if p.period != 0 && period > p.period && now.Before(p.until) {
		return
	}
	p.until = now.Add(restAfter)
	p.reset(period)
}

// slowDown lengthens the period if nothing has happened for some time.
func (p *pace) slowDown(now time.Time) {
	if !now.Before(p.until) {
		p.reset(paceAtRest)
	}
}

func (p *pace) reset(period time.Duration) {
	if p.ticker == nil {
		p.ticker = tickerOfLibrary(p.program)
	}
	if p.ticker == nil || period == p.period {
		return
	}
	p.period = period
	p.ticker.Reset(period)
}

// tickerOfLibrary returns the ticker of a running program, or nil if it is not where this version of the library has it.
func tickerOfLibrary(program *tea.Program) *time.Ticker {
	if program == nil {
		return nil
	}
	field := reflect.ValueOf(program).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // the type was checked
}
