package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// mostTyped is the maximum number of characters that can be added to a line at once. It is enough for typing and
// limits the memory that a large clipboard takes.
const mostTyped = 512

// line is a line of text that the user edits.
type line struct{ model textinput.Model }

func newLine(value string) *line {
	model := textinput.New()
	model.CharLimit = utf8.RuneCountInString(value) + mostTyped
	model.Focus()
	model.SetValue(value)
	model.CursorEnd()
	return &line{model}
}

func (l *line) key(key tea.KeyPressMsg) { l.model, _ = l.model.Update(key) }
func (l *line) text() string            { return l.model.Value() }

// draw draws the text, with the cursor as a reversed cell. If the text is too long, it draws the part around the
// cursor.
func (l *line) draw(c canvas.Canvas, x, y, w int) {
	runes := []rune(l.text())
	at := min(l.model.Position(), len(runes))
	from, used := at, 0
	for from > 0 && used+canvas.RuneWidth(runes[from-1]) < w {
		from--
		used += canvas.RuneWidth(runes[from])
	}
	part := c.Sub(x, y, w, 1)
	end := part.Put(0, 0, string(runes[from:at]), theme.Plain)
	under := " "
	if at < len(runes) {
		under = string(runes[at])
	}
	part.SetCursor(end, 0)
	part.Put(part.Put(end, 0, under, theme.Plain|canvas.Reverse), 0, string(runes[min(at+1, len(runes)):]), theme.Plain)
}

// drawDialog draws a box in the middle of the screen and returns its inside. In compact mode, the box is as wide as the
// screen.
func drawDialog(a *App, c canvas.Canvas, title string, width, height int) canvas.Canvas {
	w, h := min(width+4, c.W-2), min(height+2, c.H-2)
	if a.ctx.Compact {
		w = c.W // so that no line contains other text
	}
	x, y := (c.W-w)/2, (c.H-h)/2
	box := c.Sub(x, y, w, h)
	box.Clear(0, 0, box.W, box.H)
	return widget.DrawTitledBox(box, a.ctx.Theme, title, "")
}

// widestLine returns the width of the widest line.
func widestLine(lines ...string) int {
	w := 0
	for _, l := range lines {
		w = max(w, canvas.Width(l))
	}
	return w
}

// wrapTextLines wraps lines at blanks so that none of them is wider than w.
func wrapTextLines(lines []string, w int) []string {
	var out []string
	for _, text := range lines {
		now := ""
		for _, word := range strings.Fields(text) {
			switch {
			case now == "":
				now = word
			case canvas.Width(now)+1+canvas.Width(word) <= w:
				now += " " + word
			default:
				out, now = append(out, now), word
			}
		}
		out = append(out, now)
	}
	return out
}

// question asks the user for a confirmation.
type question struct {
	ask  screenapi.Ask
	from screenapi.Screen
	line *line
	bad  string // what was wrong with the last answer
}

// answerYesOrNo handles a key as the answer to a question that expects no text. It ignores all other keys.
func (q *question) answerYesOrNo(a *App, name string) {
	switch name {
	case "y", "Y":
		a.overlay = nil
		a.applyEffects(q.ask.Then, q.from)
	case "n", "N", "q", "enter":
		q.endWithNotice(a, "nothing was changed")
	}
}

func (q *question) key(a *App, key tea.KeyPressMsg) {
	name := key.String()
	switch {
	case name == "esc":
		q.endWithNotice(a, "nothing was changed")
	case q.ask.Expect == "":
		q.answerYesOrNo(a, name)
	case name == "enter" && q.line.text() == q.ask.Expect:
		a.overlay = nil
		a.applyEffects(q.ask.Then, q.from)
	case name == "enter":
		q.bad = fmt.Sprintf("the text is not %s; correct it, or press esc", q.ask.Expect)
	default:
		q.bad = ""
		q.line.key(key)
	}
}

func (q *question) endWithNotice(a *App, why string) {
	a.overlay = nil
	a.showNotice(screenapi.Notice{Text: why})
}

func (q *question) draw(a *App, c canvas.Canvas) {
	foot := "y/N"
	switch {
	case q.bad != "":
		foot = q.bad
	case q.ask.Expect != "":
		foot = "type " + q.ask.Expect + " and press enter, or press esc"
	}
	drawQuestionBox(a, c, &q.ask, foot, q.ask.Expect != "", q.line)
}

// drawQuestionBox draws a question, the names of its objects, and a line for the answer.
func drawQuestionBox(a *App, c canvas.Canvas, ask *screenapi.Ask, foot string, typed bool, answer *line) {
	width := widestLine(slices.Concat(ask.Named, ask.Lines, []string{foot, ask.Question})...)
	if typed {
		width = max(width, widestLine(answer.text())+4) // the prompt, the cursor, and space for one more word
	}
	width = min(max(width, 30), c.W-8)
	extra := 2
	if typed {
		extra = 3
	}
	lines := fitQuestion(ask, width, c.H-4-extra)
	in := drawDialog(a, c, "", width, len(lines)+extra)
	for y, text := range lines {
		style := theme.Plain
		if y == 0 {
			style = theme.Title
		}
		in.Fit(0, y, in.W, text, style)
	}
	in.Fit(0, in.H-1, in.W, foot, theme.Key)
	in.SetCursor(0, 0)
	if typed {
		in.Put(0, in.H-2, "> ", theme.Key)
		answer.draw(in, 2, in.H-2, in.W-2)
	}
}

// fitQuestion wraps a question to the width and limits it to room lines. If it does not fit, fitted lists fewer
// objects, but keeps the question and the effects.
func fitQuestion(ask *screenapi.Ask, width, room int) []string {
	for shown := len(ask.Named); ; shown-- {
		lines := append([]string{ask.Question}, ask.Named[:max(shown, 0)]...)
		if more := ask.Count - max(shown, 0); more > 0 && shown > 0 {
			lines = append(lines, fmt.Sprintf("and %d more", more))
		}
		lines = wrapTextLines(append(lines, ask.Lines...), width)
		if len(lines) <= room {
			return lines
		}
		if shown <= 0 {
			return append(lines[:max(room-1, 0)], "…")
		}
	}
}

// input asks for a line of text.
type input struct {
	ask  screenapi.Input
	from screenapi.Screen
	line *line
	bad  string
}

func (i *input) key(a *App, key tea.KeyPressMsg) {
	switch key.String() {
	case "esc":
		a.overlay = nil
		a.showNotice(screenapi.Notice{Text: "nothing was changed"})
	case "enter":
		if i.ask.Check != nil {
			if err := i.ask.Check(i.line.text()); err != nil {
				i.bad = err.Error()
				return
			}
		}
		a.overlay = nil
		a.applyEffects(i.ask.Then(i.line.text()), i.from)
	default:
		i.bad = ""
		i.line.key(key)
	}
}

func (i *input) draw(a *App, c canvas.Canvas) {
	foot := "enter, or esc"
	if i.bad != "" {
		foot = i.bad
	}
	drawQuestionBox(a, c, &screenapi.Ask{Question: i.ask.Question, Lines: i.ask.Lines}, foot, true, i.line)
}

// chooser lets the user select items from a list.
type chooser struct {
	ask    screenapi.Choose
	from   screenapi.Screen
	ticked []bool
	at     int
}

func newChooser(ask screenapi.Choose, from screenapi.Screen) *chooser {
	c := &chooser{ask: ask, from: from}
	for i, choice := range ask.Choices {
		c.ticked = append(c.ticked, choice.On)
		if ask.One && choice.On {
			c.at = i
		}
	}
	return c
}

func (l *chooser) key(a *App, key tea.KeyPressMsg) {
	switch key.String() {
	case "esc", "q":
		a.overlay = nil
	case "enter":
		a.overlay = nil
		if l.ask.One {
			clear(l.ticked)
			l.ticked[l.at] = true
		}
		a.applyEffects(l.ask.Then(l.ticked), l.from)
	case "up", "k":
		l.at = max(l.at-1, 0)
	case "down", "j":
		l.at = max(min(l.at+1, len(l.ticked)-1), 0)
	case "space":
		if l.ask.One {
			return
		}
		if len(l.ticked) > 0 && !l.ask.Choices[l.at].Fixed {
			l.ticked[l.at] = !l.ticked[l.at]
		}
	}
}

func (l *chooser) draw(a *App, c canvas.Canvas) {
	foot := "space select  enter apply  esc cancel"
	if l.ask.One {
		foot = "enter select  esc cancel"
	}
	width := len(foot)
	for _, choice := range l.ask.Choices {
		width = max(width, canvas.Width(choice.Title)+6)
	}
	in := drawDialog(a, c, l.ask.Title, width, len(l.ticked)+2)
	height := in.H - 2
	top := max(l.at-height+1, 0)
	for y := range min(height, len(l.ticked)-top) {
		i := top + y
		tick := "[ ] "
		switch {
		case l.ask.One:
			tick = ""
		case l.ticked[i]:
			tick = "[x] "
		}
		style := theme.Plain
		if l.ask.Choices[i].Fixed {
			style = theme.Dim
		}
		in.Fit(2, y, in.W-2, tick+l.ask.Choices[i].Title, style)
		if i == l.at {
			in.PutRune(0, y, a.ctx.Theme.Glyphs.Select, theme.Key)
			in.SetCursor(0, y)
			in.Restyle(0, y, in.W, 1, func(s canvas.Style) canvas.Style { return s | canvas.Selected })
		}
	}
	in.Fit(0, in.H-1, in.W, foot, theme.Key)
}
