package render

// FormatMarkedBar is like FormatBar, but draws a mark at the given part of the total. The part of the bar to the right
// of the mark is the use beyond it. A mark of 0, or a mark not below the total, is not drawn.
func FormatMarkedBar(used, mark, total float64, width int, fancy bool) string {
	bar := []rune(FormatBar(used, total, width, fancy))
	if mark <= 0 || mark >= total || len(bar) == 0 {
		return string(bar)
	}
	sign := '|'
	if fancy {
		sign = '│'
	}
	bar[min(int(mark/total*float64(len(bar))), len(bar)-1)] = sign
	return string(bar)
}
