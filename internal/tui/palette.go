package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// command is a command of the palette.
type command struct {
	name, help string
	do         func()
	// takes describes the argument that follows the name; it is empty if the command takes none.
	takes string
	// also lists other names under which the command is found.
	also []string
}

// paletteBox is the palette, in which the user finds commands by typing some of their letters.
type paletteBox struct {
	line  *line
	at    int
	found []command
}

// paletteRows is the maximum number of commands shown at once.
const paletteRows = 10

func newPaletteBox(a *App) *paletteBox {
	p := &paletteBox{line: newLine("")}
	p.findCommands(a)
	return p
}

func (p *paletteBox) key(a *App, key tea.KeyPressMsg) {
	switch key.String() {
	case "esc":
		a.overlay = nil
		return
	case "enter":
		a.overlay = nil
		if p.at < len(p.found) {
			p.found[p.at].do()
			return
		}
		a.showNotice(screenapi.Notice{Text: a.unknownCommandText(p.line.text()), Bad: true})
		return
	case "up":
		p.at = max(p.at-1, 0)
		return
	case "down":
		p.at = max(min(p.at+1, len(p.found)-1), 0)
		return
	case "tab":
		if p.at < len(p.found) {
			p.line = newLine(p.found[p.at].name)
		}
	default:
		p.line.key(key)
	}
	p.at = 0
	p.findCommands(a)
}

func (p *paletteBox) draw(a *App, c canvas.Canvas) {
	rows := min(paletteRows, c.H-6)
	w := min(70, c.W-4)
	in := drawDialog(a, c, "Command", w, rows+1)
	in.Put(0, 0, ":", theme.Key)
	p.line.draw(in, 1, 0, in.W-1)
	top := max(p.at-(in.H-2), 0)
	for y := range min(in.H-1, len(p.found)-top) {
		found := p.found[top+y]
		in.Fit(2, y+1, 26, strings.TrimSpace(found.name+" "+found.takes), theme.Key)
		in.Fit(29, y+1, in.W-29, found.help, theme.Plain)
		if top+y == p.at {
			in.PutRune(0, y+1, a.ctx.Theme.Glyphs.Select, theme.Key)
			in.Restyle(0, y+1, in.W, 1, func(s canvas.Style) canvas.Style { return s | canvas.Selected })
		}
	}
	if len(p.found) == 0 {
		in.Fit(2, 1, in.W-2, "no match", theme.Dim)
	}
}

// findCommands finds the commands that match the typed text, with the best matches first.
func (p *paletteBox) findCommands(a *App) {
	text := strings.TrimLeft(p.line.text(), " ")
	first, rest, arguments := strings.Cut(text, " ")
	if arguments {
		if found := a.withArgument(first, strings.TrimSpace(rest)); found != nil {
			p.found = found
			return
		}
	}
	all := a.paletteCommands()
	if text != "" {
		all = append(all, a.objectCommands(text)...)
	}
	p.found = bestMatches(all, text)
}

// isWordBoundary reports whether a word of a name may begin after this character.
func isWordBoundary(before byte) bool { return strings.IndexByte(" -_./", before) >= 0 }

// bestMatches returns the commands whose names contain the letters of a text in order, sorted by how well they match.
// Exact names come before names that begin with the text, and these before all other matches.
func bestMatches(all []command, text string) []command {
	type scored struct {
		command
		score int
	}
	var found []scored
	for _, c := range all {
		best := -1
		for _, name := range append([]string{c.name}, c.also...) {
			if score := fuzzyScore(name, text); score >= 0 && (best < 0 || score < best) {
				best = score
			}
		}
		if best >= 0 {
			found = append(found, scored{c, best})
		}
	}
	slices.SortStableFunc(found, func(x, y scored) int { return cmp.Compare(x.score, y.score) })
	out := make([]command, len(found))
	for i := range found {
		out[i] = found[i].command
	}
	return out
}

// Scores of the kinds of matches. Within a kind, an earlier match has a lower score.
const (
	scoreExact  = 0
	scorePrefix = 1
	scoreWord   = 100  // a later word begins with the text
	scorePart   = 200  // the name contains the text
	scoreFuzzy  = 1000 // the name contains the letters in order
)

// fuzzyScore returns a score for how well a name matches a text: scoreExact for the whole name, a higher score for worse
// matches, and a negative one if the name does not contain all letters in order.
func fuzzyScore(name, text string) int {
	name, text = strings.ToLower(name), strings.ToLower(text)
	switch at := strings.Index(name, text); {
	case name == text:
		return scoreExact
	case at == 0:
		return scorePrefix
	case at > 0 && isWordBoundary(name[at-1]):
		return scoreWord + min(at, scorePart-scoreWord-1)
	case at > 0:
		return scorePart + min(at, scoreFuzzy-scorePart-1)
	}
	score, from := scoreFuzzy, 0
	for _, r := range text {
		at := strings.IndexRune(name[from:], r)
		if at < 0 {
			return -1
		}
		score += at
		from += at + len(string(r))
	}
	return score
}
