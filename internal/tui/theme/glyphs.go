package theme

// Glyphs holds the characters used for drawing. Each of them occupies one cell.
type Glyphs struct {
	ASCII bool
	// The corners of a box, clockwise from the upper left, and its lines.
	TopLeft, TopRight, BottomRight, BottomLeft, Horizontal, Vertical rune
	// Select marks the row under the cursor; Mark marks rows that the user has marked.
	Select, Mark rune
	// Full, Part and None draw bars: the used part, the part that is admitted but not used, and the rest.
	Full, Part, None rune
	// Heat holds the levels of a heat map: none, below a quarter, below a half, below full, and full.
	Heat [5]rune
	// Spark holds the levels of a history line, from the lowest to the highest.
	Spark []rune
	// More starts the line about hidden rows.
	More rune
	// Ascending and Descending mark the columns by which rows are sorted.
	Ascending, Descending rune
	// Branch, LastBranch and Trunk draw a tree: the line to a child, to the last child, and past a child.
	Branch, LastBranch, Trunk string
}

// withoutDrawings returns glyphs with blanks instead of lines and without bars, for screen readers. Runes that are zero are
// not drawn.
func (g Glyphs) withoutDrawings() Glyphs {
	return Glyphs{
		ASCII: g.ASCII, TopLeft: ' ', TopRight: ' ', BottomRight: ' ', BottomLeft: ' ', Horizontal: ' ', Vertical: ' ',
		Select: '>', Mark: '*', More: ' ', Ascending: '^', Descending: 'v', Branch: "   ", LastBranch: "   ", Trunk: "   ", Spark: []rune{0},
	}
}

func newGlyphs(ascii bool) Glyphs {
	if ascii {
		return Glyphs{
			ASCII: true, TopLeft: '+', TopRight: '+', BottomRight: '+', BottomLeft: '+', Horizontal: '-', Vertical: '|',
			Select: '>', Mark: '*', Full: '#', Part: '=', None: '.', Heat: [5]rune{'.', ':', '+', '=', '#'},
			Spark: []rune("_.-=+*#"), More: '.', Ascending: '^', Descending: 'v', Branch: "|- ", LastBranch: "`- ", Trunk: "|  ",
		}
	}
	return Glyphs{
		TopLeft: '┌', TopRight: '┐', BottomRight: '┘', BottomLeft: '└', Horizontal: '─', Vertical: '│',
		Select: '▸', Mark: '*', Full: '█', Part: '▒', None: '·', Heat: [5]rune{'·', '░', '▒', '▓', '█'},
		Spark: []rune("▁▂▃▄▅▆▇█"), More: '·', Ascending: '↑', Descending: '↓', Branch: "├─ ", LastBranch: "└─ ", Trunk: "│  ",
	}
}
