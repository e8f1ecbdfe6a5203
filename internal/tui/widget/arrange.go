package widget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/fieldpath"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// Arrange shows the chosen columns in the chosen order and sorts the rows. The columns that were not chosen stay
// available in the menu of columns. object returns the API object of a row for columns with a JSONPath; it is nil if
// rows have none. If an entry is invalid, Arrange returns an *screenapi.ArrangementError and changes nothing.
func (t *Table[R]) Arrange(how screenapi.Arrangement, object func(R) any) error {
	columns, chosen, err := arrangeColumns(t, how.Columns, object)
	if err != nil {
		return err
	}
	order, err := sortKeysOf(columns, how.Sort)
	if err != nil {
		return err
	}
	t.Columns, t.order = columns, order
	t.orderSerial++
	if chosen != nil {
		t.chosen = chosen
	}
	return nil
}

// arrangeColumns returns the chosen columns followed by all other columns, and which of them are shown.
func arrangeColumns[R any](t *Table[R], entries []string, object func(R) any) (columns []Column[R], chosen map[string]bool, err error) {
	all := t.Columns
	if len(entries) == 0 {
		return all, nil, nil
	}
	chosen = map[string]bool{}
	for i, entry := range entries {
		column, err := columnOfEntry(t, entry, object)
		if err != nil {
			err.Index = i
			return nil, nil, err
		}
		if chosen[column.Key] {
			return nil, nil, &screenapi.ArrangementError{Index: i, What: fmt.Sprintf("column %q is listed twice", entry), Hint: "remove one of the two entries"}
		}
		chosen[column.Key] = true
		columns = append(columns, column)
	}
	for i := range all {
		if !chosen[all[i].Key] {
			chosen[all[i].Key] = false
			columns = append(columns, all[i])
		}
	}
	return columns, chosen, nil
}

// columnOfEntry returns the column that an entry of the settings names or describes.
func columnOfEntry[R any](t *Table[R], entry string, object func(R) any) (Column[R], *screenapi.ArrangementError) {
	title, path, isCustom := strings.Cut(entry, ":")
	if isCustom {
		return newPathColumn(title, path, t.ID, object)
	}
	all := t.Columns
	at := slices.IndexFunc(all, func(column Column[R]) bool { return strings.EqualFold(column.Key, entry) })
	if at < 0 {
		return Column[R]{}, &screenapi.ArrangementError{What: fmt.Sprintf("unknown column %q", entry), Hint: "columns: " + strings.Join(columnKeys(all, false), ", ") + pathHint(object != nil)}
	}
	return all[at], nil
}

func pathHint(hasObjects bool) string {
	if hasObjects {
		return "; or TITLE:JSONPATH, for example TEAM:.metadata.labels.team"
	}
	return ""
}

// columnKeys returns the keys of all columns, or of the columns by which rows can be sorted.
func columnKeys[R any](all []Column[R], onlySortable bool) []string {
	var keys []string
	for i := range all {
		if !onlySortable || all[i].Compare != nil {
			keys = append(keys, strings.ToLower(all[i].Key))
		}
	}
	return keys
}

// The width of a column with a JSONPath: at least, and on terminals that have free width.
const (
	leastPathWidth = 10
	mostPathWidth  = 30
)

// newPathColumn returns a column that shows the field of a row's object at a JSONPath.
func newPathColumn[R any](title, path string, id func(R) string, object func(R) any) (Column[R], *screenapi.ArrangementError) {
	if object == nil {
		return Column[R]{}, &screenapi.ArrangementError{What: fmt.Sprintf("%s:%s: this screen does not support columns with a JSONPath", title, path), Hint: "columns with a JSONPath can be used only on the screens jobs and queues"}
	}
	parsed, err := fieldpath.Parse(path)
	if title == "" || strings.Trim(path, "{}. ") == "" || err != nil {
		return Column[R]{}, &screenapi.ArrangementError{What: fmt.Sprintf("%q is not TITLE:JSONPATH", title+":"+path), Hint: "for example TEAM:.metadata.labels.team"}
	}
	texts := map[string]pathText{} // the last text of each row
	text := func(row R) string {
		of := object(row)
		known, ok := texts[id(row)]
		if ok && known.object == of { // objects never change
			return known.text
		}
		if len(texts) >= mostPathTexts {
			clear(texts)
		}
		now := pathText{object: of}
		if fields, err := fieldpath.FieldsOf(of); err == nil {
			now.text = parsed.Text(fields)
		}
		texts[id(row)] = now
		return now.text
	}
	return Column[R]{
		Key: strings.ToLower(title), Title: title, Width: max(leastPathWidth, canvas.Width(title)), Most: mostPathWidth,
		Cell:    func(_ *screenapi.Context, row R) (string, canvas.Style) { return cmp.Or(text(row), "-"), theme.Plain },
		Compare: func(a, b R) int { return strings.Compare(text(a), text(b)) },
	}, nil
}

// pathText is the text of a JSONPath in an object.
type pathText struct {
	object any
	text   string
}

// mostPathTexts is the maximum number of texts that a column with a JSONPath keeps, also of rows that no longer exist.
const mostPathTexts = 50_000

// sortKeysOf returns the order that the entries describe.
func sortKeysOf[R any](columns []Column[R], entries []string) ([]sortKey, error) {
	var order []sortKey
	for i, entry := range entries {
		key, descending := strings.CutPrefix(entry, "-")
		at := slices.IndexFunc(columns, func(column Column[R]) bool { return strings.EqualFold(column.Key, key) && column.Compare != nil })
		switch {
		case at < 0:
			return nil, &screenapi.ArrangementError{InSort: true, Index: i, What: fmt.Sprintf("cannot sort by %q", key), Hint: "columns: " + strings.Join(columnKeys(columns, true), ", ")}
		case i >= mostSortKeys:
			return nil, &screenapi.ArrangementError{InSort: true, Index: i, What: fmt.Sprintf("cannot sort by more than %d columns", mostSortKeys), Hint: "remove the last columns"}
		}
		order = append(order, sortKey{columns[at].Key, descending})
	}
	return order, nil
}
