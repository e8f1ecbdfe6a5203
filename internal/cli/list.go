package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/usererror"
)

// List describes a command that lists objects of type T.
type List[T client.Object] struct {
	// Kind is the plural of the kind for messages, such as "jobs".
	Kind string
	// Chosen is the key of the list's columns in the settings file; it defaults to Kind.
	Chosen string
	// New returns an empty list of the right type.
	New func() client.ObjectList
	// Columns holds the columns of the table. A namespace column is added in front if needed.
	Columns []Column[T]
	// Namespace restricts the list to a namespace; it is empty with AllNamespaces and for cluster-scoped kinds.
	Namespace     string
	AllNamespaces bool
	// Names restricts the list to these names; it is an error if one of them does not exist.
	Names []string
	// Selector is a label selector.
	Selector client.ListOption
	// Fields is a field selector, or nil.
	Fields fields.Selector
	// Keep filters objects on the client; if nil, all objects are kept.
	Keep func(T) bool
	// Fetch, if set, replaces the paged list request. It also returns the resource version from which to watch.
	Fetch func(ctx context.Context, c client.Client) ([]T, string, error)
	// Suggest returns the existing names, for suggestions in errors; it may be nil.
	Suggest func(context.Context) []string
	// IgnoreDeleted omits the row for a deleted object in a watch.
	IgnoreDeleted bool
	// Single prints a single object by itself instead of in a List.
	Single bool
	// FreeText permits shortening the last column to fit the terminal.
	FreeText bool
	// Spare lists the titles of columns that may be omitted on a narrow terminal, the least important first.
	Spare []string
	// Prepare reads additional data that the rows need.
	Prepare func(ctx context.Context, items []T) error
	// Touched returns a channel that reports rows that may have changed although their own objects have not.
	Touched func(ctx context.Context) (<-chan Touch, error)
	// Slim removes from an object the data that no column shows, to save memory on lists of tens of thousands of
	// objects. It may be nil, and is called only if the output is a table.
	Slim func(T)
	// Nothing is the message for an empty list; the default message names the namespace.
	Nothing string
	// Plain, if set, prints the table instead of Columns.
	Plain func(items []T) error
}

// CompleteColumns adds completion of --sort-by with the titles of a list's columns.
func CompleteColumns[T any](cmd *cobra.Command, columns func() []Column[T]) {
	_ = cmd.RegisterFlagCompletionFunc("sort-by", func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var titles []string
		for _, column := range columns() {
			titles = append(titles, strings.ToLower(column.Title))
		}
		return offerNames(titles, nil, strings.ToLower(prefix))
	})
}

// Run lists and prints the objects and, with -w, watches them.
func (l *List[T]) Run(ctx context.Context, f *Factory, o *Output) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := l.applyFieldSelector(o); err != nil {
		return err
	}
	sortable := l.Columns
	if err := l.chooseColumns(f, o); err != nil {
		return err
	}
	l.addLabelColumns(o)
	c, err := f.Client()
	if err != nil {
		return err
	}
	l.configureSlim(o)
	items, version, err := l.readItems(ctx, f, c, o)
	if err != nil {
		return explainFieldSelector(err, o.FieldSelector)
	}
	missing := l.missingError(ctx, c, items)
	if err := sortRows(items, sortable, o.SortBy); err != nil {
		return err
	}
	printer := &rowPrinter[T]{list: l, f: f, o: o, rows: map[string]string{}, titled: o.NoHeaders}
	if !o.WatchOnly && (len(items) > 0 || missing == nil) {
		if err := printer.printInitial(items); err != nil {
			return err
		}
	}
	if !o.Watch && !o.WatchOnly {
		return missing
	}
	if missing != nil && len(items) == 0 {
		return missing
	}
	ReportError(f.Streams.Err, missing, f.DescribeConnection()) // the watch continues with the objects that exist
	if !o.IsMachineReadable() {
		for _, item := range items {
			printer.storeRow(item)
		}
	}
	return printer.watchRows(ctx, c, version)
}

// applyFieldSelector applies the field selector and rejects label columns for output formats without a table.
func (l *List[T]) applyFieldSelector(o *Output) error {
	if err := o.checkLabelColumns(); err != nil {
		return err
	}
	selector, err := o.parseFieldSelector()
	switch {
	case err != nil || selector == nil:
		return err
	case l.Fields == nil:
		l.Fields = selector
	default:
		l.Fields = fields.AndSelectors(l.Fields, selector)
	}
	return nil
}

// explainFieldSelector adds the list of supported fields to the error of a server that does not support a field
// selector.
func explainFieldSelector(err error, selector string) error {
	if selector == "" || !strings.Contains(err.Error(), "field label not supported") {
		return err
	}
	e := usererror.Errorf("a field selector supports only metadata.name and metadata.namespace, and for pods also status.phase and spec.nodeName; use filter flags such as --phase and --queue instead",
		"--field-selector %s: the server does not support this field", selector)
	e.Err = err
	return e
}

// addLabelColumns adds the requested label columns, in front of a free-text column.
func (l *List[T]) addLabelColumns(o *Output) {
	var added []Column[T]
	for _, key := range o.LabelColumns {
		title := strings.ToUpper(key[strings.LastIndex(key, "/")+1:])
		added = append(added, Column[T]{Title: title, Text: func(item T) string { return cmp.Or(item.GetLabels()[key], "-") }})
	}
	if o.ShowLabels {
		added = append(added, Column[T]{Title: "LABELS", Text: func(item T) string {
			if len(item.GetLabels()) == 0 {
				return "-"
			}
			return labels.FormatLabels(item.GetLabels())
		}})
	}
	at := len(l.Columns)
	if l.FreeText {
		at--
	}
	l.Columns = slices.Insert(slices.Clone(l.Columns), at, added...)
}

// chooseColumns selects the columns listed in the settings file, unless the user requested all columns.
func (l *List[T]) chooseColumns(f *Factory, o *Output) error {
	if o.IsMachineReadable() || o.IsWide() || len(l.Columns) == 0 {
		return nil
	}
	columns, chosen, err := chosenColumns(f, cmp.Or(l.Chosen, l.Kind), l.Columns)
	if chosen {
		l.FreeText = l.FreeText && columns[len(columns)-1].Title == l.Columns[len(l.Columns)-1].Title
		l.Spare = nil
	}
	l.Columns = columns
	return err
}

// readItems lists the objects and reads the additional data that their rows need.
func (l *List[T]) readItems(ctx context.Context, f *Factory, c client.Client, o *Output) (items []T, version string, err error) {
	busy := f.Streams.StartBusyLine("reading " + l.Kind)
	defer busy.RemoveLine()
	fetch := l.fetchItems
	if l.Fetch != nil {
		fetch = l.Fetch
	}
	items, version, err = fetch(ctx, c)
	if l.Fetch == nil {
		sortByName(items)
	}
	needsColumns := !o.IsMachineReadable() || o.SortBy != ""
	if err != nil || l.Prepare == nil || !needsColumns {
		return items, version, err
	}
	return items, version, l.Prepare(ctx, items)
}

// configureSlim disables Slim if the output may need the whole object. Otherwise, it extends Slim to remove managed
// fields, which no table shows.
func (l *List[T]) configureSlim(o *Output) {
	own := l.Slim
	l.Slim = nil
	if o.IsMachineReadable() || strings.ContainsAny(o.SortBy, ".{") {
		return
	}
	l.Slim = func(item T) {
		item.SetManagedFields(nil)
		if own != nil {
			own(item)
		}
	}
}

func (l *List[T]) listOptions() []client.ListOption {
	var options []client.ListOption
	if l.Namespace != "" && !l.AllNamespaces {
		options = append(options, client.InNamespace(l.Namespace))
	}
	if l.Selector != nil {
		options = append(options, l.Selector)
	}
	var selectors []fields.Selector
	if len(l.Names) == 1 {
		selectors = append(selectors, fields.OneTermEqualSelector("metadata.name", l.Names[0]))
	}
	if l.Fields != nil {
		selectors = append(selectors, l.Fields)
	}
	if len(selectors) > 0 {
		options = append(options, client.MatchingFieldsSelector{Selector: fields.AndSelectors(selectors...)})
	}
	return options
}

// fetchItems lists in pages and returns the selected objects and the resource version from which to watch.
func (l *List[T]) fetchItems(ctx context.Context, c client.Client) ([]T, string, error) {
	list := l.New()
	var items []T
	err := ListPages(ctx, c, list, func() error {
		objects, err := ExtractObjects(list)
		for _, object := range objects {
			if item, ok := object.(T); ok && l.isSelected(item) {
				if l.Slim != nil {
					l.Slim(item)
				}
				items = append(items, item)
			}
		}
		return err
	}, l.listOptions()...)
	return items, list.GetResourceVersion(), err
}

// ListPages lists objects page by page and calls visit after reading each page into list.
func ListPages(ctx context.Context, c client.Reader, list client.ObjectList, visit func() error, options ...client.ListOption) error {
	more := ""
	for {
		page := append(slices.Clone(options), client.Limit(PageSize), client.Continue(more))
		if err := c.List(ctx, list, page...); err != nil {
			return err
		}
		if err := visit(); err != nil {
			return err
		}
		if more = list.GetContinue(); more == "" {
			return nil
		}
	}
}

// ListObjects lists objects page by page and returns copies of all of them. It ignores options that are nil.
func ListObjects[T client.Object](ctx context.Context, c client.Reader, list client.ObjectList, options ...client.ListOption) ([]T, error) {
	options = slices.DeleteFunc(slices.Clone(options), func(option client.ListOption) bool { return option == nil })
	found := []T{}
	err := ListPages(ctx, c, list, func() error {
		objects, err := ExtractObjects(list)
		for _, object := range objects {
			if one, ok := object.DeepCopyObject().(T); ok {
				found = append(found, one)
			}
		}
		return err
	}, options...)
	return found, err
}

func (l *List[T]) isSelected(item T) bool {
	if len(l.Names) > 0 && !slices.Contains(l.Names, item.GetName()) {
		return false
	}
	return l.Keep == nil || l.Keep(item)
}

func (l *List[T]) missingError(ctx context.Context, c client.Client, items []T) error {
	var all []error
	var there []string
	for _, name := range l.Names {
		if slices.ContainsFunc(items, func(item T) bool { return item.GetName() == name }) {
			continue
		}
		if l.isFilteredOut(ctx, c, name) {
			all = append(all, usererror.Errorf("remove the filters to show it", "%s %q exists, but does not match the filters", strings.TrimSuffix(l.Kind, "s"), name))
			continue
		}
		if there == nil && l.Suggest != nil {
			there = l.Suggest(ctx)
		}
		missing := NotFoundError(strings.TrimSuffix(l.Kind, "s"), name, l.Namespace, there)
		if missing.Hint == "" {
			missing.Hint = existingNamesHint(there)
		}
		all = append(all, missing)
	}
	return errors.Join(all...)
}

// isFilteredOut reports whether a named object exists but does not match the other selection criteria.
func (l *List[T]) isFilteredOut(ctx context.Context, c client.Client, name string) bool {
	if l.Selector == nil && l.Fields == nil && l.Keep == nil {
		return false
	}
	there, options := l.New(), []client.ListOption{client.MatchingFields{"metadata.name": name}, client.Limit(1)}
	if l.Namespace != "" && !l.AllNamespaces {
		options = append(options, client.InNamespace(l.Namespace))
	}
	if c.List(ctx, there, options...) != nil {
		return false
	}
	found, err := ExtractObjects(there)
	return err == nil && len(found) > 0
}

// existingNamesHint returns a hint that lists some of the existing names, short enough for one line.
func existingNamesHint(names []string) string {
	const most = 8
	switch {
	case len(names) == 0:
		return "omit the name to show all"
	case len(names) <= most:
		return "existing: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("existing: %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// MissingError is the cause of an error about an object that does not exist.
type MissingError struct{ Kind, Name string }

func (e *MissingError) Error() string { return fmt.Sprintf("%s %q does not exist", e.Kind, e.Name) }

// NotFoundError returns the error for an object that does not exist; the hint suggests a similar name.
func NotFoundError(kind, name, namespace string, there []string) *usererror.Error {
	e := &usererror.Error{What: fmt.Sprintf("%s %q does not exist", kind, name), Err: &MissingError{kind, name}}
	if namespace != "" {
		e.What = fmt.Sprintf("%s %q does not exist in namespace %q", kind, name, namespace)
	}
	if near := FindNearest(name, there); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}
