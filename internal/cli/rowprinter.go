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

// Touch describes a change to data that a row shows but that is not part of the row's own object.
type Touch struct {
	// Key identifies the object of the changed row.
	Key types.NamespacedName
	// Apply applies the change. It is called by the goroutine that prints.
	Apply func()
	// All is true if the change can affect every row.
	All bool
	// Err, if set, is the error with which the list ends because no more changes arrive.
	Err error
}

// rowPrinter prints a list, and then the rows that change.
type rowPrinter[T client.Object] struct {
	list   *List[T]
	f      *Factory
	o      *Output
	widths []int
	// titled is true if the header has been printed or is not wanted.
	titled bool
	// kept holds the indexes of the columns that fit on the terminal; it is nil before the first row.
	kept []int
	// rows maps each key to the row as last printed, without its volatile cells.
	rows map[string]string
	last map[string]T
}

func (p *rowPrinter[T]) visibleColumns() []Column[T] {
	var columns []Column[T]
	if p.list.AllNamespaces {
		columns = append(columns, Column[T]{Title: "NAMESPACE", Text: func(item T) string { return item.GetNamespace() }})
	}
	for _, column := range p.list.Columns {
		if !column.Wide || p.o.IsWide() {
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

func (p *rowPrinter[T]) printInitial(items []T) error {
	if p.o.IsMachineReadable() {
		objects := make([]client.Object, len(items))
		for i, item := range items {
			objects[i] = item
		}
		return p.o.PrintObjects(p.f, objects, p.list.Single)
	}
	if len(items) == 0 {
		if p.o.Watch {
			return nil
		}
		return p.printNothingFound()
	}
	if p.list.Plain != nil {
		return p.list.Plain(items)
	}
	return p.printRows(items)
}

func (p *rowPrinter[T]) printNothingFound() error {
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

// printRows prints rows. The first call also prints the header.
func (p *rowPrinter[T]) printRows(items []T) error {
	columns := p.visibleColumns()
	table := render.Table{NoHeader: p.titled, MinWidths: p.widths, FreeText: p.list.FreeText, Colored: p.f.Streams.IsColored()}
	if !p.o.IsWide() {
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
		table.SetSpareColumns(p.list.Spare...)
		p.kept = table.FitColumns()
		table.KeepColumns(p.kept)
	}
	p.titled, p.widths = true, table.ColumnWidths()
	if table.FreeText && len(p.widths) > 0 {
		p.widths[len(p.widths)-1] = 0
	}
	return table.Fprint(p.f.Streams.Out)
}

// storeRow stores the row of item and reports whether the row has changed.
func (p *rowPrinter[T]) storeRow(item T) bool {
	var text strings.Builder
	for _, column := range p.visibleColumns() {
		if !column.Volatile {
			text.WriteString(column.Text(item) + "\x00")
		}
	}
	if p.last == nil {
		p.last = map[string]T{}
	}
	key := objectKey(item)
	changed := p.rows[key] != text.String()
	p.rows[key], p.last[key] = text.String(), item
	return changed
}

// watchRows prints changes until ctx is done.
func (p *rowPrinter[T]) watchRows(ctx context.Context, c client.WithWatch, version string) error {
	var touched <-chan Touch
	if p.list.Touched != nil && !p.o.IsMachineReadable() {
		var err error
		if touched, err = p.list.Touched(ctx); err != nil {
			return err
		}
	}
	c = p.f.RetryingClient(c)
	for ctx.Err() == nil {
		options := append(p.list.listOptions(), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}})
		watcher, err := c.Watch(ctx, p.list.New(), options...)
		if err != nil {
			return err
		}
		version, err = p.followWatcher(ctx, watcher, touched, version)
		watcher.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *rowPrinter[T]) followWatcher(ctx context.Context, watcher watch.Interface, touched <-chan Touch, version string) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return version, nil
		case touch := <-touched:
			if err := p.applyTouch(touch); err != nil {
				return version, err
			}
		case event, open := <-watcher.ResultChan():
			if !open {
				return version, nil
			}
			if event.Type == watch.Error {
				return versionAfter(apierrors.FromObject(event.Object), version)
			}
			item, ok := event.Object.(T)
			if !ok {
				continue
			}
			version = item.GetResourceVersion()
			if err := p.handleEvent(ctx, event.Type, item); err != nil {
				return version, err
			}
		}
	}
}

// versionAfter returns the version with which to watch again after an error event: "" to list again if the version has
// expired, or the given one if the connection was lost. It returns all other errors.
func versionAfter(err error, version string) (string, error) {
	switch {
	case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
		return "", nil
	case isWatchBroken(err):
		return version, nil
	}
	return version, err
}

// applyTouch applies a touch and prints the rows that changed because of it.
func (p *rowPrinter[T]) applyTouch(touch Touch) error {
	if touch.Err != nil {
		return touch.Err
	}
	touch.Apply()
	keys := []string{touch.Key.Namespace + "/" + touch.Key.Name}
	if touch.All {
		keys = slices.Sorted(maps.Keys(p.last))
	}
	for _, key := range keys {
		if item, known := p.last[key]; known && p.storeRow(item) {
			if err := p.printRows([]T{item}); err != nil {
				return err
			}
		}
	}
	return nil
}

// handleEvent handles a watch event. An object that no longer matches the filters is printed once in its new state and
// then not again, just like the server handles objects that no longer match a label selector.
func (p *rowPrinter[T]) handleEvent(ctx context.Context, kind watch.EventType, item T) error {
	if kind == watch.Bookmark {
		return nil
	}
	key, kept := objectKey(item), p.list.isSelected(item)
	_, shown := p.last[key]
	if kind == watch.Deleted || !kept {
		delete(p.rows, key)
		delete(p.last, key)
	}
	isIgnoredDeletion := kind == watch.Deleted && p.list.IgnoreDeleted
	wasNeverSelected := !kept && !shown
	if isIgnoredDeletion || wasNeverSelected {
		return nil
	}
	if p.o.IsMachineReadable() {
		return p.o.PrintObjects(p.f, []client.Object{item}, true)
	}
	if kind == watch.Deleted {
		return p.printRows([]T{item})
	}
	if p.list.Prepare != nil {
		if err := p.list.Prepare(ctx, []T{item}); err != nil {
			return err
		}
	}
	if kept && !p.storeRow(item) {
		return nil
	}
	return p.printRows([]T{item})
}
