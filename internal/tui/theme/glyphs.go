package theme

// Glyphs are the signs things are drawn with. Every one takes one cell.
type Glyphs struct {
	ASCII bool
	// Box: corners clockwise from the upper left, then the lines.
	TopLeft, TopRight, BottomRight, BottomLeft, Horizontal, Vertical rune
	// Select stands before the row under the cursor, Mark before marked rows.
	Select, Mark rune
	// Full, Part and None draw bars: what is used, what is admitted but not yet used, what is not.
	Full, Part, None rune
	// Heat is the ramp of a heat map: nothing, below a quarter, a half, three quarters, full.
	Heat [5]rune
	// Spark is the ramp of a line of history, from the least to the most.
	Spark []rune
	// More begins the line that says what is not shown.
	More rune
	// Tree draws the branches of a tree: a child, the last child, the line past a child.
	Branch, LastBranch, Trunk string
}

func glyphs(ascii bool) Glyphs {
	if ascii {
		return Glyphs{
			ASCII: true, TopLeft: '+', TopRight: '+', BottomRight: '+', BottomLeft: '+', Horizontal: '-', Vertical: '|',
			Select: '>', Mark: '*', Full: '#', Part: '=', None: '.', Heat: [5]rune{' ', '.', ':', '=', '#'},
			Spark: []rune("_.-=+*#"), More: '.', Branch: "|- ", LastBranch: "`- ", Trunk: "|  ",
		}
	}
	return Glyphs{
		TopLeft: '┌', TopRight: '┐', BottomRight: '┘', BottomLeft: '└', Horizontal: '─', Vertical: '│',
		Select: '▸', Mark: '*', Full: '█', Part: '▒', None: '·', Heat: [5]rune{' ', '░', '▒', '▓', '█'},
		Spark: []rune("▁▂▃▄▅▆▇█"), More: '·', Branch: "├─ ", LastBranch: "└─ ", Trunk: "│  ",
	}
}
