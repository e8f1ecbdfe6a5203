package render

import "slices"

// SetSpareColumns specifies, by title, the columns that may be omitted on a narrow terminal. The first one is omitted
// first.
func (t *Table) SetSpareColumns(titles ...string) {
	for _, title := range titles {
		if at := slices.Index(t.Header, title); at >= 0 {
			t.Spare = append(t.Spare, at)
		}
	}
}

// FitColumns returns the columns to print, in order. These are all columns unless the lines would be wider than
// MaxWidth. In that case, FitColumns first omits the columns in Spare that are empty in all rows. If the line is still
// too long, or leaves too little space for the free text, FitColumns also omits the other columns in Spare. Finally, it
// restores the omitted columns that fit after all.
func (t *Table) FitColumns() []int {
	widths := t.ColumnWidths()
	kept := make([]int, len(widths))
	for column := range widths {
		kept[column] = column
	}
	if t.MaxWidth <= 0 {
		return kept
	}
	var gone []int
	for pass, most := range []int{widths[len(widths)-1], enoughFreeText} {
		for _, column := range t.Spare {
			isSpare := pass > 0 || t.isEmptyColumn(column)
			if isSpare && !slices.Contains(gone, column) && t.neededWidth(kept, widths, most) > t.MaxWidth {
				kept, gone = withoutColumn(kept, column), append(gone, column)
			}
		}
	}
	for _, column := range slices.Backward(gone) {
		if again := slices.Sorted(slices.Values(append(slices.Clone(kept), column))); !t.isEmptyColumn(column) && t.neededWidth(again, widths, enoughFreeText) <= t.MaxWidth {
			kept = again
		}
	}
	return kept
}

func withoutColumn(columns []int, one int) []int {
	return slices.DeleteFunc(slices.Clone(columns), func(column int) bool { return column == one })
}

// neededWidth returns the width of a line with these columns. The free text counts with its full width, but not more
// than most.
func (t *Table) neededWidth(kept, widths []int, most int) int {
	total := 0
	for i, column := range kept {
		width := widths[column]
		if i == len(kept)-1 {
			if t.FreeText {
				width = min(width, most)
			}
			return total + width
		}
		total += width + t.gapAfter(i)
	}
	return total
}

// isEmptyColumn reports whether a column contains only "", "-" or "0".
func (t *Table) isEmptyColumn(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []string) bool {
		return column < len(row) && !slices.Contains([]string{"", "-", "0"}, row[column])
	})
}

// KeepColumns reduces the table to the given columns, in the given order.
func (t *Table) KeepColumns(columns []int) {
	pick := func(cells []string) []string {
		var picked []string
		for _, column := range columns {
			if column < len(cells) {
				picked = append(picked, cells[column])
			}
		}
		return picked
	}
	if last := len(t.ColumnWidths()) - 1; t.FreeText && (len(columns) == 0 || columns[len(columns)-1] != last) {
		t.FreeText = false
	}
	t.Header = pick(t.Header)
	for i := range t.Rows {
		t.Rows[i] = pick(t.Rows[i])
	}
	var widths []int
	for _, column := range columns {
		if column < len(t.MinWidths) {
			widths = append(widths, t.MinWidths[column])
		}
	}
	t.MinWidths, t.Spare = widths, nil
}
