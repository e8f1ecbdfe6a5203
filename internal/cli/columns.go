package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/fieldpath"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// Column is a column in a list of T.
type Column[T any] struct {
	// Title is the column header, in capitals.
	Title string
	// Wide is true for columns that are shown only with -o wide.
	Wide bool
	// Volatile is true for columns that change merely because time passes. A watch does not print a new row for such
	// a change.
	Volatile bool
	// Text returns the text of the cell, possibly with colour.
	Text func(T) string
	// Compare orders rows for --sort-by; if nil, rows are in the natural order of the cell texts (2 before 10).
	Compare func(a, b T) int
}

// customColumns prints objects in the format -o custom-columns=TITLE:path,…. It collects all rows until PrintTable is
// called, so that it can align the columns.
type customColumns struct {
	table render.Table
	paths []fieldpath.Path
}

func newCustomColumns(spec string, noHeaders bool) (*customColumns, error) {
	c := &customColumns{table: render.Table{NoHeader: noHeaders}}
	for part := range strings.SplitSeq(spec, ",") {
		title, path, found := strings.Cut(part, ":")
		if !found || title == "" || path == "" {
			return nil, usererror.Errorf("write custom-columns=NAME:.metadata.name,QUEUE:.spec.queue", "custom-columns: %q is not TITLE:path", part)
		}
		parsed, err := parsePath(path)
		if err != nil {
			return nil, err
		}
		c.table.Header = append(c.table.Header, title)
		c.paths = append(c.paths, parsed)
	}
	return c, nil
}

// readColumnsFile reads kubectl's custom-columns-file format: a line of titles, followed by a line with one path per
// title.
func readColumnsFile(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", usererror.Errorf(suggestFile(file, fileUsage), "custom-columns-file: file %q: %v", file, errors.Unwrap(err))
	}
	titles, rest, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	names, paths := strings.Fields(titles), strings.Fields(rest)
	if len(names) == 0 || len(names) != len(paths) {
		return "", usererror.Errorf("write the column titles on the first line and the same number of paths on the second line, for example NAME QUEUE and .metadata.name .spec.queue",
			"custom-columns-file %q: %d titles and %d paths", file, len(names), len(paths))
	}
	for i := range names {
		names[i] += ":" + paths[i]
	}
	return strings.Join(names, ","), nil
}

// parsePath parses a JSONPath; the braces and the leading dot are optional.
func parsePath(path string) (fieldpath.Path, error) {
	parsed, err := fieldpath.Parse(path)
	if err != nil {
		return parsed, usererror.Errorf("an example: {.metadata.name}", "jsonpath %q: %v", path, err)
	}
	return parsed, nil
}

// PrintObj adds one row.
func (c *customColumns) PrintObj(object runtime.Object, _ io.Writer) error {
	fields, err := fieldpath.FieldsOf(object)
	if err != nil {
		return err
	}
	row := make([]string, len(c.paths))
	for i, path := range c.paths {
		row[i] = render.TextOrNone(path.Text(fields))
	}
	c.table.Rows = append(c.table.Rows, row)
	return nil
}

// PrintTable prints the rows.
func (c *customColumns) PrintTable(out io.Writer) error { return c.table.Fprint(out) }

// sortRows sorts items by a column or JSONPath.
func sortRows[T client.Object](items []T, columns []Column[T], by string) error {
	if by == "" {
		return nil
	}
	for _, column := range columns {
		if strings.EqualFold(column.Title, by) {
			slices.SortStableFunc(items, func(a, b T) int {
				if column.Compare != nil {
					return column.Compare(a, b)
				}
				return compareNatural(column.Text(a), column.Text(b))
			})
			return nil
		}
	}
	if !strings.ContainsAny(by, ".{") {
		titles := make([]string, len(columns))
		for i, column := range columns {
			titles[i] = strings.ToLower(column.Title)
		}
		hint := "columns: " + strings.Join(titles, ", ") + "; or use a JSONPath such as {.metadata.name}"
		if near := FindNearest(strings.ToLower(by), titles); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return usererror.Errorf(hint, "--sort-by: no column %q", by)
	}
	return sortByPath(items, by)
}

func sortByPath[T client.Object](items []T, by string) error {
	path, err := parsePath(by)
	if err != nil {
		return err
	}
	keys := map[string]string{}
	for _, item := range items {
		fields, err := fieldpath.FieldsOf(item)
		if err != nil {
			return err
		}
		keys[objectKey(item)] = path.Text(fields)
	}
	slices.SortStableFunc(items, func(a, b T) int { return compareNatural(keys[objectKey(a)], keys[objectKey(b)]) })
	return nil
}

func objectKey(object client.Object) string { return object.GetNamespace() + "/" + object.GetName() }

// compareNatural compares two texts. If both are numbers, it compares them as numbers; otherwise, it uses
// render.CompareNatural.
func compareNatural(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return render.CompareNatural(a, b)
}

// sortByName sorts objects by namespace and name. Digits within names are compared as numbers.
func sortByName[T client.Object](items []T) {
	slices.SortStableFunc(items, func(a, b T) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), render.CompareNatural(a.GetName(), b.GetName()))
	})
}
