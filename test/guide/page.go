package guide

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// guide is the text of the guide, reference the text of the page about keys, filters and permissions.
var (
	//go:embed guide.tmpl
	guide string
	//go:embed reference.tmpl
	reference string
)

// Look describes a frame.
type Look struct {
	// World is the name of the cluster. W and H are the size of the terminal.
	World string
	W, H  int
	// ASCII draws with ASCII characters only.
	ASCII bool
	// Keys lists the keys to press first, separated by blanks. A part after a semicolon that begins with "type " is
	// text to be typed.
	Keys string
}

// Facts holds the data for both pages that comes from the program.
type Facts struct {
	Frame func(Look) (canvas.Canvas, error)
	Keys  []screenapi.Binding
	// Filters maps names of screens to their filter keys.
	Filters map[string][]string
}

// RenderGuide returns docs/guides/dashboard.md.
func RenderGuide(f Facts) (string, error) { return f.renderPage("guide", guide) }

// RenderReference returns docs/reference/dashboard.md.
func RenderReference(f Facts) (string, error) { return f.renderPage("reference", reference) }

func (f *Facts) renderPage(name, source string) (string, error) {
	page, err := template.New(name).Funcs(template.FuncMap{
		"frame": func(world string, w, h int, keys string) (string, error) {
			return f.frameBlock(Look{World: world, W: w, H: h, Keys: keys})
		},
		"ascii": func(world string, w, h int, keys string) (string, error) {
			return f.frameBlock(Look{World: world, W: w, H: h, Keys: keys, ASCII: true})
		},
		"keys":    f.screenTable,
		"lists":   f.listKeyTable,
		"actions": f.actionKeyTable,
		"themes":  themeTable,
		"filters": f.filterKeys,
		"width":   func() int { return tui.MinWidth },
		"height":  func() int { return tui.MinHeight },
	}).Parse(source)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = page.Execute(&text, nil)
	return text.String(), err
}

// frameBlock returns a frame as a code block. It keeps only one of consecutive empty lines.
func (f *Facts) frameBlock(look Look) (string, error) {
	frame, err := f.Frame(look)
	if err != nil {
		return "", err
	}
	var kept []string
	empty := 0
	for line := range strings.Lines(frame.Text()) {
		if empty++; strings.TrimSpace(line) != "" {
			empty = 0
		}
		if empty < 2 {
			kept = append(kept, line)
		}
	}
	return "```\n" + strings.Join(kept, "") + "```", nil
}

// screenTable returns the keys that only this screen has or, for screenapi.Everywhere, the common keys.
func (f *Facts) screenTable(name string) (string, error) {
	return f.formatKeyTable(func(b *screenapi.Binding) bool { return b.Screen == name && !f.isSharedKey(b) })
}

// listKeyTable returns the keys that most screens share because they show lists; actions returns the keys for actions
// on jobs.
func (f *Facts) listKeyTable() (string, error) {
	return f.formatKeyTable(func(b *screenapi.Binding) bool { return f.isSharedKey(b) && !b.Writes })
}

func (f *Facts) actionKeyTable() (string, error) {
	return f.formatKeyTable(func(b *screenapi.Binding) bool { return f.isSharedKey(b) && b.Writes })
}

// isSharedKey reports whether at least three screens have the same key with the same meaning.
func (f *Facts) isSharedKey(b *screenapi.Binding) bool {
	on := 0
	for i := range f.Keys {
		if sameBinding(&f.Keys[i], b) {
			on++
		}
	}
	return on > 2
}

func sameBinding(a, b *screenapi.Binding) bool { return a.Key == b.Key && a.Help == b.Help }

// formatKeyTable returns a table of the keys that meet a condition, each of them once.
func (f *Facts) formatKeyTable(wanted func(*screenapi.Binding) bool) (string, error) {
	var text strings.Builder
	text.WriteString("| Key | | |\n|---|---|---|\n")
	var told []*screenapi.Binding
	for i := range f.Keys {
		b := &f.Keys[i]
		if !wanted(b) || slices.ContainsFunc(told, func(other *screenapi.Binding) bool { return sameBinding(other, b) }) {
			continue
		}
		told = append(told, b)
		var keys []string
		for _, key := range b.KeysWithAliases() {
			keys = append(keys, formatCode(tui.KeyName(key)))
		}
		help := b.Help
		if b.Writes {
			help += "; not with `--readonly`"
		}
		fmt.Fprintf(&text, "| %s | %s | %s |\n", strings.Join(keys, " "), b.Name, help)
	}
	if len(told) == 0 {
		return "", errors.New("a table of keys is empty: does the screen still exist?")
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// formatCode formats a key as code. It escapes "|", which would end a table cell.
func formatCode(key string) string { return "`" + strings.ReplaceAll(key, "|", "\\|") + "`" }

func (f *Facts) filterKeys(name string) (string, error) {
	keys := f.Filters[name]
	if len(keys) == 0 {
		return "", fmt.Errorf("there are no filters of %q", name)
	}
	quoted := make([]string, len(keys))
	for i, key := range keys {
		quoted[i] = "`" + key + "`"
	}
	return strings.Join(quoted, " "), nil
}

// about describes the purpose of each theme.
var about = map[string]string{
	"auto":          "dark or light, depending on the background that the terminal reports",
	"dark":          "the colours of Okabe and Ito on a dark background; they can be distinguished with any kind of colour blindness",
	"light":         "the same hues, dark enough for a white background; colours that may look alike are also bold or underlined",
	"mono":          "no colours: bold, faint, reversed. Used if `NO_COLOR` is set or the terminal has no colours",
	"high-contrast": "headings and keys in bold, bright and underlined text",
	"colorblind":    "like dark, with failures also underlined",
}

// themeTable returns a table of all themes.
func themeTable() (string, error) {
	var text strings.Builder
	text.WriteString("| `--theme` | |\n|---|---|\n")
	for _, name := range theme.Names() {
		if about[name] == "" {
			return "", fmt.Errorf("nothing is said about theme %s", name)
		}
		fmt.Fprintf(&text, "| `%s` | %s |\n", name, about[name])
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}
