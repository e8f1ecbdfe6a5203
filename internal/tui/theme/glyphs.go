package theme

// Glyphs holds the characters for drawing. Each takes one cell.
type Glyphs struct {
	ASCII bool
	// Box: corners clockwise from the upper left, then the lines.
	TopLeft, TopRight, BottomRight, BottomLeft, Horizontal, Vertical rune
	// Select is drawn before the row under the cursor, Mark before marked rows.
	Select, Mark rune
	// Full, Part and None draw bars: the used part, the admitted but unused part, and the rest.
	Full, Part, None rune
	// Heat is the ramp of a heat map: nothing, below a quarter, below a half, below all, full.
	Heat [5]rune
	// Spark is the ramp of a history line, from the least to the most.
	Spark []rune
	// More begins the line about hidden rows.
	More rune
	// Branch, LastBranch and Trunk draw a tree: a child, the last child, the line past a child.
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
