package resourcecmd

import (
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
)

// CreatedText formats an object's creation time and age.
func CreatedText(object client.Object, now time.Time) string {
	return TimeText(object.GetCreationTimestamp().Time, now)
}

// TimeText formats a time and how long ago it was. It returns "" for the zero time.
func TimeText(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.After(now):
		return fmt.Sprintf("%s (in %s)", at.Format(time.RFC3339), render.FormatAgeSince(at, now))
	}
	return fmt.Sprintf("%s (%s ago)", at.Format(time.RFC3339), render.FormatAgeSince(now, at))
}

// DeletionSuffix returns the suffix that marks the phase of an object that is being deleted, or "".
func DeletionSuffix(object client.Object) string {
	if object.GetDeletionTimestamp() != nil {
		return " (being deleted)"
	}
	return ""
}

// PrintCompatTable prints a table with the spacing of Volcano's vcctl. The width of a column is the larger of two
// numbers: the length of its title plus moreThanTitle, and the length of its longest value plus moreThanValue. Trailing
// spaces are kept.
func PrintCompatTable(out io.Writer, titles []string, rows [][]string, moreThanTitle, moreThanValue int) error {
	for _, row := range rows {
		for column := range row {
			row[column] = printable.EscapeLine(row[column])
		}
	}
	widths := make([]int, len(titles))
	for column, title := range titles {
		widths[column] = len(title) + moreThanTitle
		for _, row := range rows {
			widths[column] = max(widths[column], len(row[column])+moreThanValue)
		}
	}
	for _, row := range append([][]string{titles}, rows...) {
		for column, cell := range row {
			if _, err := fmt.Fprintf(out, "%-*s", widths[column], cell); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
	}
	return nil
}
