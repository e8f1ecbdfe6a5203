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
)

// List is a command that lists objects of type T.
type List[T client.Object] struct {
	// Kind in the plural, for texts: "jobs".
	Kind string
	// Chosen is the list's name in the settings that choose columns; empty: Kind.
	Chosen string
	// New makes an empty list of the right type.
	New func() client.ObjectList
	// Columns of the table; the namespace is added in front when it is needed.
	Columns []Column[T]
	// Namespace to look in; empty with AllNamespaces or for cluster-wide kinds.
	Namespace     string
	AllNamespaces bool
	// Names keeps only these, and complains about those that are missing.
	Names []string
	// Selector is a label selector.
	Selector client.ListOption
	// Fields is a field selector; it may be nil.
	Fields fields.Selector
	// Keep filters at the client; nil keeps all.
	Keep func(T) bool
	// Fetch, when set, reads in place of one list in pages. It returns the version to watch from, too.
	Fetch func(ctx context.Context, c client.Client) ([]T, string, error)
	// Suggest returns the names there are, to say which one may be meant; it may be nil.
	Suggest func(context.Context) []string
	// IgnoreDeleted says that a watch prints no row for an object that is gone.
	IgnoreDeleted bool
	// Single prints a lone object without a List around it.
	Single bool
	// FreeText says that the last column may be shortened on a terminal.
	FreeText bool
	// Spare are the titles of columns that a narrow terminal may do without, the first to go first.
	Spare []string
	// Prepare reads what the rows of a table need besides the objects.
	Prepare func(ctx context.Context, items []T) error
	// Touched delivers what changes rows though their objects did not change.
	Touched func(ctx context.Context) (<-chan Touch, error)
	// Slim drops what no column shows from an object that is listed as a table, so that
	// ten thousand need little memory; it may be nil.
	Slim func(T)
	// Nothing is what is said when there is nothing, in place of which namespace that is so in.
	Nothing string
	// Plain, when set, prints the table instead of Columns.
	Plain func(items []T) error
}

// CompleteColumns offers the titles of a list's columns for --sort-by.
func CompleteColumns[T any](cmd *cobra.Command, columns func() []Column[T]) {
	_ = cmd.RegisterFlagCompletionFunc("sort-by", func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var titles []string
		for _, column := range columns() {
			titles = append(titles, strings.ToLower(column.Title))
		}
		return offer(titles, nil, strings.ToLower(prefix))
	})
}

// Run lists, prints and, with -w, watches.
func (l *List[T]) Run(ctx context.Context, f *Factory, o *Output) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := l.narrow(o); err != nil {
		return err
	}
	sortable := l.Columns
	if err := l.choose(f, o); err != nil {
		return err
	}
	l.addLabels(o)
	c, err := f.Client()
	if err != nil {
		return err
	}
	l.slim(o)
	items, version, err := l.read(ctx, f, c, o)
	if err != nil {
		return whySelected(err, o.FieldSelector)
	}
	missing := l.missing(ctx, c, items)
	if err := sortRows(items, sortable, o.SortBy); err != nil {
		return err
	}
	printer := &rowPrinter[T]{list: l, f: f, o: o, rows: map[string]string{}, titled: o.NoHeaders}
	if !o.WatchOnly && (len(items) > 0 || missing == nil) {
		if err := printer.first(items); err != nil {
			return err
		}
	}
	if !o.Watch && !o.WatchOnly {
		return missing
	}
	if missing != nil && len(items) == 0 {
		return missing
	}
	Report(f.Streams.Err, missing, f.Where()) // the others are followed
	if !o.Machine() {
		for _, item := range items {
			printer.remember(item)
		}
	}
	return printer.watch(ctx, c, version)
}

// narrow takes the field selector over, and refuses columns of labels that would not be seen.
func (l *List[T]) narrow(o *Output) error {
	if err := o.checkLabels(); err != nil {
		return err
	}
	selector, err := o.fields()
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

// whySelected says which fields can be selected by, when the server does not know the one asked for.
func whySelected(err error, selector string) error {
	if selector == "" || !strings.Contains(err.Error(), "field label not supported") {
		return err
	}
	e := Errorf("metadata.name and metadata.namespace can be selected by, and status.phase and spec.nodeName of pods; filter flags such as --phase and --queue know more",
		"--field-selector %s: the server cannot select by this field", selector)
	e.Err = err
	return e
}

// addLabels adds the columns of labels that were asked for, before free text.
func (l *List[T]) addLabels(o *Output) {
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

// choose takes the columns that the settings name, unless the user asked for all.
func (l *List[T]) choose(f *Factory, o *Output) error {
	if o.Machine() || o.Wide() || len(l.Columns) == 0 {
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

// read lists, and reads what the rows need besides.
func (l *List[T]) read(ctx context.Context, f *Factory, c client.Client, o *Output) (items []T, version string, err error) {
	busy := f.Streams.Busy("reading " + l.Kind)
	defer busy.Done()
	fetch := l.fetch
	if l.Fetch != nil {
		fetch = l.Fetch
	}
	items, version, err = fetch(ctx, c)
	if l.Fetch == nil {
		sortNames(items)
	}
	if err == nil && l.Prepare != nil && (!o.Machine() || o.SortBy != "") {
		err = l.Prepare(ctx, items)
	}
	return items, version, err
}

// slim makes Slim do nothing where the whole object may be asked for, and drop
// what no table shows where it may not.
func (l *List[T]) slim(o *Output) {
	own := l.Slim
	l.Slim = nil
	if o.Machine() || strings.ContainsAny(o.SortBy, ".{") {
		return
	}
	l.Slim = func(item T) {
		item.SetManagedFields(nil)
		if own != nil {
			own(item)
		}
	}
}

func (l *List[T]) options() []client.ListOption {
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

// fetch lists in pages and returns what is to be shown, with the version to watch from.
func (l *List[T]) fetch(ctx context.Context, c client.Client) ([]T, string, error) {
	list := l.New()
	var items []T
	err := Pages(ctx, c, list, func() error {
		objects, err := Objects(list)
		for _, object := range objects {
			if item, ok := object.(T); ok && l.keeps(item) {
				if l.Slim != nil {
					l.Slim(item)
				}
				items = append(items, item)
			}
		}
		return err
	}, l.options()...)
	return items, list.GetResourceVersion(), err
}

// Pages lists page by page and calls visit after each; list holds the page.
func Pages(ctx context.Context, c client.Reader, list client.ObjectList, visit func() error, options ...client.ListOption) error {
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

func (l *List[T]) keeps(item T) bool {
	if len(l.Names) > 0 && !slices.Contains(l.Names, item.GetName()) {
		return false
	}
	return l.Keep == nil || l.Keep(item)
}

func (l *List[T]) missing(ctx context.Context, c client.Client, items []T) error {
	var all []error
	var there []string
	for _, name := range l.Names {
		if slices.ContainsFunc(items, func(item T) bool { return item.GetName() == name }) {
			continue
		}
		if l.leftOut(ctx, c, name) {
			all = append(all, Errorf("without filters it is shown", "%s %q is there, but the filters leave it out", strings.TrimSuffix(l.Kind, "s"), name))
			continue
		}
		if there == nil && l.Suggest != nil {
			there = l.Suggest(ctx)
		}
		missing := NotFound(strings.TrimSuffix(l.Kind, "s"), name, l.Namespace, there)
		if missing.Hint == "" {
			missing.Hint = someOf(there)
		}
		all = append(all, missing)
	}
	return errors.Join(all...)
}

// leftOut says whether an object is there and was not listed because of what else was asked for.
func (l *List[T]) leftOut(ctx context.Context, c client.Client, name string) bool {
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
	found, err := Objects(there)
	return err == nil && len(found) > 0
}

// someOf is a hint that names what there is, not more than a line of it.
func someOf(names []string) string {
	const most = 8
	switch {
	case len(names) == 0:
		return "without a name all are shown"
	case len(names) <= most:
		return "there are: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("there are: %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// NotFound says that an object does not exist; a name close to it is offered.
func NotFound(kind, name, namespace string, there []string) *Error {
	e := &Error{What: fmt.Sprintf("%s %q does not exist", kind, name)}
	if namespace != "" {
		e.What = fmt.Sprintf("%s %q does not exist in namespace %q", kind, name, namespace)
	}
	if near := Nearest(name, there); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}
