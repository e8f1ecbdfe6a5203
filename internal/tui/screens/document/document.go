// Package document implements the screen that shows one object as text: its description, as `kubectl describe` prints it,
// or its YAML.
//
//	In:   the kind and name of an object; its text, read on request
//	Out:  lines that can be scrolled and searched
package document

import (
	"strings"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// form is the form of the text.
type form string

const (
	describe form = "describe"
	yaml     form = "yaml"
)

// Document is the screen.
type Document struct {
	target                string
	form                  form
	kind, namespace, name string

	lines  []string
	pager  widget.Pager
	reason string // why there is no text yet
}

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Document, New: New, Keys: keyBindings()}
}

// DescribeTarget returns the target of Open for the description of an object.
func DescribeTarget(kind, namespace, name string) string {
	return joinTarget(describe, kind, namespace, name)
}

// YAMLTarget returns the target of Open for the YAML of an object.
func YAMLTarget(kind, namespace, name string) string { return joinTarget(yaml, kind, namespace, name) }

func joinTarget(f form, kind, namespace, name string) string {
	return strings.Join([]string{string(f), kind, namespace, name}, "/")
}

// New returns the screen for a target made by DescribeTarget or YAMLTarget.
func New(target string) screenapi.Screen {
	parts := append(strings.SplitN(target, "/", 4), "", "", "", "")
	return &Document{target: target, form: form(parts[0]), kind: parts[1], namespace: parts[2], name: parts[3], pager: widget.NewPager()}
}

// Name returns the screen's name in the table of keys.
func (d *Document) Name() string { return screenapi.Document }

// Target returns the target that the screen was opened with.
func (d *Document) Target() string { return d.target }

// Crumb returns the form of the text and the name of the object, for example "describe node r01n01".
func (d *Document) Crumb(*screenapi.Context) string {
	return string(d.form) + " " + strings.ToLower(d.kind) + " " + d.name
}

// Note returns "".
func (d *Document) Note(*screenapi.Context) string { return "" }

// Update handles an event.
func (d *Document) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch event := event.(type) {
	case screenapi.Entered:
		return d.requestText(ctx)
	case screenapi.Done:
		d.storeText(event)
	case screenapi.Mouse:
		d.pager.Mouse(ctx, event)
	}
	return nil
}

// requestText returns the effect that reads the text.
func (d *Document) requestText(ctx *screenapi.Context) []screenapi.Effect {
	if ctx.Actions == nil {
		d.reason = "not connected"
		return nil
	}
	if len(d.lines) == 0 {
		d.reason = "reading …"
	}
	read := ctx.Actions.Manifest
	if d.form == describe {
		read = ctx.Actions.Describe
	}
	return []screenapi.Effect{widget.FetchText(d.readingName(), read, d.kind, d.namespace, d.name)}
}

// readingName returns the name of the request for the text, which is part of an error message.
func (d *Document) readingName() string {
	name := d.name
	if d.namespace != "" {
		name = d.namespace + "/" + name
	}
	return string(d.form) + " " + strings.ToLower(d.kind) + " " + name
}

func (d *Document) storeText(done screenapi.Done) {
	if done.Name != d.readingName() {
		return
	}
	if done.Err != nil {
		d.reason = done.Err.Error()
		return
	}
	text, _ := done.Value.(string)
	d.lines = strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// SetFilter searches for a text.
func (d *Document) SetFilter(_ *screenapi.Context, text string) error {
	d.pager.Search = text
	d.pager.MoveToMatch(true)
	return nil
}

// Matches returns the number of lines that match the search, and the number of all lines.
func (d *Document) Matches(*screenapi.Context) (shown, all int) {
	return d.pager.CountMatches(), len(d.lines)
}

// Draw draws the visible lines.
func (d *Document) Draw(_ *screenapi.Context, c canvas.Canvas) {
	d.pager.Draw(c.Sub(1, 0, c.W-2, c.H), d.lines, d.reason)
}

// Twin returns the whole text.
func (d *Document) Twin(*screenapi.Context) string { return strings.Join(d.lines, "\n") + "\n" }
