package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
)

// look is the appearance of a role in a theme: an exact colour, one of sixteen colours for simple terminals, and
// attributes.
type look struct {
	hex     string
	few     string
	bold    bool
	faint   bool
	reverse bool
	under   bool
}

func (l look) styleFor(colors Colors) lipgloss.Style {
	style := lipgloss.NewStyle()
	if c := l.colorFor(colors); c != nil {
		style = style.Foreground(c)
	}
	if l.bold {
		style = style.Bold(true)
	}
	if l.faint {
		style = style.Faint(true)
	}
	if l.reverse {
		style = style.Reverse(true)
	}
	if l.under {
		style = style.Underline(true)
	}
	return style
}

func (l look) colorFor(colors Colors) color.Color {
	switch {
	case colors == NoColor || l.hex == "":
		return nil
	case colors == Colors16:
		return lipgloss.Color(l.few)
	}
	return lipgloss.Color(l.hex)
}

type palette map[canvas.Style]look

// The numbers of the sixteen terminal colours.
const (
	red      = "1"
	green    = "2"
	yellow   = "3"
	blue     = "4"
	magenta  = "5"
	cyan     = "6"
	gray     = "8"
	brightRd = "9"
	brightGr = "10"
	brightYl = "11"
	brightBl = "12"
	brightMg = "13"
	brightCy = "14"
	white    = "15"
	black    = "0"
)

var palettes = map[string]palette{
	"dark":  darkPalette(),
	"light": lightPalette(),
	"mono": {
		Dim: {faint: true}, Title: {bold: true}, Tab: {bold: true, reverse: true}, Key: {bold: true}, Head: {bold: true},
		Mark: {bold: true}, Failed: {bold: true}, Error: {bold: true, reverse: true}, Warn: {bold: true},
	},
	"high-contrast": highContrastPalette(),
	"colorblind":    colorblindPalette(),
}

// ink holds the looks of those roles that are not states.
type ink struct{ dim, title, key, border, head, mark, cursor look }

func (i ink) newPalette() palette {
	bold := func(l look) look { l.bold = true; return l }
	return palette{
		Dim: i.dim, Title: bold(i.title), Tab: bold(i.key), Key: i.key, Border: i.border, Head: bold(i.head), Cursor: i.cursor, Mark: bold(i.mark),
	}
}

// darkPalette uses the hues of Okabe and Ito, made lighter where needed for a contrast of at least 4.5 on dark gray,
// also after conversion to 256 colours.
func darkPalette() palette {
	p := ink{
		dim: look{hex: "#949494", few: gray}, title: look{hex: "#e4e4e4", few: white}, key: look{hex: "#56B4E9", few: brightCy},
		border: look{hex: "#6c6c6c", few: gray}, head: look{hex: "#bcbcbc", few: white}, mark: look{hex: "#F0E442", few: brightYl}, cursor: look{hex: "#262626"},
	}.newPalette()
	p.setStateColors("#56B4E9", "#E69F00", "#00AF87", "#F0743E", "#D787AF", "#F0E442")
	p.setSixteenColors(brightBl, yellow, green, red, brightMg, brightYl)
	p.setHeatColors([5]string{"#7a7a7a", "#2E8BC9", "#56B4E9", "#A6D9F7", "#ffffff"}, [5]string{gray, blue, brightBl, brightCy, white})
	p.setLogColors("#56B4E9", "#E69F00", "#00AF87", "#F0E442", "#D787AF", "#F0743E", "#5F9BE0", "#bcbcbc")
	return p
}

// lightPalette has the same hues, but dark enough to be readable on white (a contrast of at least 4.5).
func lightPalette() palette {
	p := ink{
		dim: look{hex: "#6c6c6c", few: gray}, title: look{hex: "#1c1c1c", few: black}, key: look{hex: "#005A8E", few: blue},
		border: look{hex: "#767676", few: gray}, head: look{hex: "#3a3a3a", few: black}, mark: look{hex: "#7A6A00", few: magenta}, cursor: look{hex: "#ffffd7"},
	}.newPalette()
	p.setStateColors("#0058A8", "#8A5F00", "#1A7A2E", "#A03A00", "#9A3F72", "#6B5F00")
	p.setSixteenColors(blue, magenta, green, red, cyan, black)
	// Some people cannot distinguish the four hues that are dark enough for a white background.
	for role, how := range map[canvas.Style]look{Pending: {bold: true}, Warn: {bold: true}, Failed: {bold: true, under: true}, Error: {bold: true, under: true}, Borrowed: {under: true}} {
		l := p[role]
		l.bold, l.under = how.bold, how.under
		p[role] = l
	}
	p.setHeatColors([5]string{"#8a8a8a", "#2E86C1", "#0067A5", "#00436E", "#000000"}, [5]string{gray, cyan, blue, blue, black})
	p.setLogColors("#005A8E", "#8A5F00", "#00674B", "#6B5F00", "#9A3F72", "#A03A00", "#3a3a3a", "#5f5f87")
	return p
}

func highContrastPalette() palette {
	p := palette{
		Title: {bold: true}, Tab: {bold: true, reverse: true}, Key: {bold: true, under: true}, Head: {bold: true, under: true},
		Cursor: {hex: "#303030"}, Mark: {hex: "#ffff00", few: brightYl, bold: true, under: true},
	}
	p.setStateColors("#5fd7ff", "#ffff00", "#5fff87", "#ff8700", "#ff5fff", "#ffffff")
	p.setSixteenColors(brightCy, brightYl, brightGr, brightRd, brightMg, white)
	p.setHeatColors([5]string{"#9e9e9e", "#5fafff", "#5fd7ff", "#afffff", "#ffffff"}, [5]string{gray, brightBl, brightCy, brightCy, white})
	p.setLogColors("#5fd7ff", "#ffff00", "#5fff87", "#ff87ff", "#ff8700", "#ffff87", "#ffffff", "#d7d7ff")
	for role, l := range p {
		l.bold = true
		p[role] = l
	}
	return p
}

// colorblindPalette is the dark palette with additional marks for important states: failures are bold and underlined,
// and running is bold in contrast to pending.
func colorblindPalette() palette {
	p := darkPalette()
	for _, role := range []canvas.Style{Failed, Error} {
		l := p[role]
		l.under, l.bold = true, true
		p[role] = l
	}
	running := p[Running]
	running.hex, running.few, running.bold = "#56B4E9", brightCy, true
	p[Running], p[Good] = running, running
	return p
}

// setStateColors sets the colours of the states and of the related messages of the frame.
func (p palette) setStateColors(running, pending, done, failed, suspended, borrowed string) {
	for role, hex := range map[canvas.Style]string{
		Running: running, Pending: pending, Done: done, Failed: failed, Suspended: suspended, Borrowed: borrowed,
		Good: done, Warn: pending, Error: failed,
	} {
		p[role] = look{hex: hex, bold: role == Error}
	}
}

// setSixteenColors sets the colours of the states for terminals with sixteen colours. It must be called after states.
func (p palette) setSixteenColors(running, pending, done, failed, suspended, borrowed string) {
	for role, few := range map[canvas.Style]string{
		Running: running, Pending: pending, Done: done, Failed: failed, Suspended: suspended, Borrowed: borrowed,
		Good: done, Warn: pending, Error: failed,
	} {
		l := p[role]
		l.few = few
		p[role] = l
	}
	for i, few := range []string{running, pending, done, suspended, failed, borrowed, gray, cyan} {
		p[Log0+canvas.Style(i)] = look{few: few}
	}
}

// setHeatColors sets the colours of the heat levels, from idle to full: the exact ones, and the colours of terminals
// with sixteen colours. They are shades of one hue, so that a full node does not look like a failure.
func (p palette) setHeatColors(exact, sixteen [5]string) {
	for i := range exact {
		p[Heat0+canvas.Style(i)] = look{hex: exact[i], few: sixteen[i]}
	}
}

// setLogColors sets the exact colours of the pods in a log. It must be called after setSixteenColors.
func (p palette) setLogColors(pods ...string) {
	for i, hex := range pods {
		l := p[Log0+canvas.Style(i)]
		l.hex = hex
		p[Log0+canvas.Style(i)] = l
	}
}
