package document

import (
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

func keyBindings() []screenapi.Binding {
	name := screenapi.Document
	rows := func(s screenapi.Screen) widget.Rows {
		if d, ok := s.(*Document); ok {
			return &d.pager
		}
		return nil
	}
	searched := screenapi.GuardForScreen(func(d *Document, _ *screenapi.Context) string {
		if d.pager.Search == "" {
			return "no search text; press / to search"
		}
		return ""
	})
	find := func(down bool) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(d *Document, _ *screenapi.Context) []screenapi.Effect {
			return widget.MoveToMatchOrNotice(&d.pager, down)
		})
	}
	show := func(to form) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(d *Document, ctx *screenapi.Context) []screenapi.Effect {
			d.form, d.lines, d.target = to, nil, joinTarget(to, d.kind, d.namespace, d.name)
			d.pager = widget.NewPager()
			return append([]screenapi.Effect{screenapi.SetFilter{}}, d.requestText(ctx)...)
		})
	}
	keys := []screenapi.Binding{
		{Screen: name, Key: "d", Name: "describe", Help: "describe the object, with its events", Footer: 10, Do: show(describe)},
		{Screen: name, Key: "Y", Name: "yaml", Help: "show the object as stored in the cluster", Footer: 11, Do: show(yaml)},
		{Screen: name, Key: "n", Name: "next match", Help: "go to the next line that matches the search", Footer: 12, Guard: searched, Do: find(true)},
		{Screen: name, Key: "N", Name: "match before", Help: "go to the previous line that matches the search", Footer: 13, Guard: searched, Do: find(false)},
	}
	return append(append(keys, widget.TextKeys(name, rows)...), widget.FirstRowKey(name, rows))
}

// OpenBindings returns the keys of a list that open the description and the YAML of the object under the cursor. selected
// returns this object; an empty kind means that there is none.
func OpenBindings(name string, selected func(screenapi.Screen) (kind, namespace, object string)) []screenapi.Binding {
	isSelected := func(_ *screenapi.Context, s screenapi.Screen) string {
		if kind, _, _ := selected(s); kind == "" {
			return "no row is selected"
		}
		return ""
	}
	open := func(target func(kind, namespace, object string) string) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return func(_ *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Document, Target: target(selected(s))}}
		}
	}
	return []screenapi.Binding{
		{Screen: name, Key: "d", Name: "describe", Help: "describe the object, with its events", Footer: 36, Guard: isSelected, Do: open(DescribeTarget)},
		{Screen: name, Key: "Y", Name: "yaml", Help: "show the object as stored in the cluster", Footer: 37, Guard: isSelected, Do: open(YAMLTarget)},
	}
}
