package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/render"
)

// Touch is news about something that the row of an object is made of.
type Touch struct {
	// Key of the object whose row it is.
	Key types.NamespacedName
	// Apply takes the news in; it is called by the one who prints.
	Apply func()
	// All says that the news may be about every row.
	All bool
	// Err ends the list: the news do not come any more.
	Err error
}

// rowPrinter prints a list and later the rows of it that changed.
type rowPrinter[T client.Object] struct {
	list   *List[T]
	f      *Factory
	o      *Output
	widths []int
	// titled says that the titles are printed, or not wanted.
	titled bool
	// kept are the columns for which the terminal is wide enough; nil before the first row.
	kept []int
	// rows holds, by key, what a row said last, without its volatile cells.
	rows map[string]string
	last map[string]T
}

func (p *rowPrinter[T]) columns() []Column[T] {
	var columns []Column[T]
	if p.list.AllNamespaces {
		columns = append(columns, Column[T]{Title: "NAMESPACE", Text: func(item T) string { return item.GetNamespace() }})
	}
	for _, column := range p.list.Columns {
		if !column.Wide || p.o.Wide() {
			columns = append(columns, column)
		}
	}
	if p.kept == nil {
		return columns
	}
	kept := make([]Column[T], len(p.kept))
	for i, at := range p.kept {
		kept[i] = columns[at]
	}
	return kept
}

func (p *rowPrinter[T]) first(items []T) error {
	if p.o.Machine() {
		objects := make([]client.Object, len(items))
		for i, item := range items {
			objects[i] = item
		}
		return p.o.Print(p.f, objects, p.list.Single)
	}
	if len(items) == 0 {
		if p.o.Watch {
			return nil
		}
		return p.empty()
	}
	if p.list.Plain != nil {
		return p.list.Plain(items)
	}
	return p.table(items)
}

func (p *rowPrinter[T]) empty() error {
	if p.list.Plain != nil {
		_, err := fmt.Fprintln(p.f.Streams.Out, "No resources found")
		return err
	}
	where := ""
	if p.list.Namespace != "" && !p.list.AllNamespaces {
		where = fmt.Sprintf(" in %s namespace", p.list.Namespace)
	}
	_, err := fmt.Fprintln(p.f.Streams.Err, cmp.Or(p.list.Nothing, "No resources found"+where+"."))
	return err
}

// table prints rows, the first ones under the titles.
func (p *rowPrinter[T]) table(items []T) error {
	columns := p.columns()
	table := render.Table{NoHeader: p.titled, MinWidths: p.widths, FreeText: p.list.FreeText, Colored: p.f.Streams.Color()}
	if !p.o.Wide() {
		table.MaxWidth = p.f.Streams.Width
	}
	for _, column := range columns {
		table.Header = append(table.Header, column.Title)
	}
	for _, item := range items {
		row := make([]string, len(columns))
		for i, column := range columns {
			row[i] = column.Text(item)
		}
		table.Rows = append(table.Rows, row)
	}
	if p.kept == nil && table.MaxWidth > 0 {
		table.CanSpare(p.list.Spare...)
		p.kept = table.Fit()
		table.Keep(p.kept)
	}
	p.titled, p.widths = true, table.Widths()
	if table.FreeText && len(p.widths) > 0 {
		p.widths[len(p.widths)-1] = 0
	}
	return table.Fprint(p.f.Streams.Out)
}

// remember notes what the row of item says; it reports whether that is new.
func (p *rowPrinter[T]) remember(item T) bool {
	var said strings.Builder
	for _, column := range p.columns() {
		if !column.Volatile {
			said.WriteString(column.Text(item) + "\x00")
		}
	}
	if p.last == nil {
		p.last = map[string]T{}
	}
	key := objectKey(item)
	changed := p.rows[key] != said.String()
	p.rows[key], p.last[key] = said.String(), item
	return changed
}

// watch follows changes until the context ends.
func (p *rowPrinter[T]) watch(ctx context.Context, c client.WithWatch, version string) error {
	var touched <-chan Touch
	if p.list.Touched != nil && !p.o.Machine() {
		var err error
		if touched, err = p.list.Touched(ctx); err != nil {
			return err
		}
	}
	c = p.f.Patient(c)
	for ctx.Err() == nil {
		options := append(p.list.options(), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}})
		watcher, err := c.Watch(ctx, p.list.New(), options...)
		if err != nil {
			return err
		}
		version, err = p.follow(ctx, watcher, touched, version)
		watcher.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *rowPrinter[T]) follow(ctx context.Context, watcher watch.Interface, touched <-chan Touch, version string) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return version, nil
		case touch := <-touched:
			if touch.Err != nil {
				return version, touch.Err
			}
			touch.Apply()
			if err := p.retold(touch); err != nil {
				return version, err
			}
		case event, open := <-watcher.ResultChan():
			if !open {
				return version, nil
			}
			if event.Type == watch.Error {
				err := apierrors.FromObject(event.Object)
				switch {
				case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
					return "", nil
				case watchEnded(err):
					return version, nil
				}
				return version, err
			}
			item, ok := event.Object.(T)
			if !ok {
				continue
			}
			version = item.GetResourceVersion()
			if err := p.changed(ctx, event.Type, item); err != nil {
				return version, err
			}
		}
	}
}

// retold prints the rows anew that say something else after a touch.
func (p *rowPrinter[T]) retold(touch Touch) error {
	keys := []string{touch.Key.Namespace + "/" + touch.Key.Name}
	if touch.All {
		keys = slices.Sorted(maps.Keys(p.last))
	}
	for _, key := range keys {
		if item, known := p.last[key]; known && p.remember(item) {
			if err := p.table([]T{item}); err != nil {
				return err
			}
		}
	}
	return nil
}

// changed takes in news of an object. One that the filters leave out from now on is told once more, as it is now, as the
// server does with those that leave a label selector; then no more.
func (p *rowPrinter[T]) changed(ctx context.Context, kind watch.EventType, item T) error {
	if kind == watch.Bookmark {
		return nil
	}
	key, kept := objectKey(item), p.list.keeps(item)
	_, shown := p.last[key]
	if kind == watch.Deleted || !kept {
		delete(p.rows, key)
		delete(p.last, key)
	}
	if kind == watch.Deleted && p.list.IgnoreDeleted || !kept && !shown {
		return nil
	}
	if p.o.Machine() {
		return p.o.Print(p.f, []client.Object{item}, true)
	}
	if kind == watch.Deleted {
		return p.table([]T{item})
	}
	if p.list.Prepare != nil {
		if err := p.list.Prepare(ctx, []T{item}); err != nil {
			return err
		}
	}
	if kept && !p.remember(item) {
		return nil
	}
	return p.table([]T{item})
}
