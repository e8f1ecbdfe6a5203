package tableformat

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// fields has a field with a letter, a field with a word, and a field with both.
var fields = []Field[string]{
	NewField('i', "JobID", "JOBID", -12, func(text string) string { return text }),
	NewField('j', "", "NAME", 0, func(text string) string { return text + "é" }),
	NewField(0, "tres-alloc|tres", "TRES", 10, func(string) string { return "" }),
}

func TestFormats(t *testing.T) {
	t.Parallel()
	short := func(text string) (Columns[string], error) {
		columns, _, err := ParseLetters(text, fields)
		return columns, err
	}
	long := func(text string) (Columns[string], error) {
		columns, _, err := ParseWords(text, fields, 8)
		return columns, err
	}
	sized := func(text string) (Columns[string], error) { return ParseSized(text, fields) }
	for name, c := range map[string]struct {
		read              func(string) (Columns[string], error)
		format, row, want string
	}{
		"letters with text around":         {short, "<%i|%j>", "42", "<42|42é>"},
		"cut to the left":                  {short, "%.3i%j", "12345", "12312345é"},
		"filled on the left":               {short, "%.5i", "42", "   42"},
		"filled on the right":              {short, "%5i|", "42", "42   |"},
		"letters are runes":                {short, "%.4j|", "42", " 42é|"},
		"all":                              {short, "%all", "42", "42|42é"},
		"as wide as it is":                 {short, "%0i", "42", "42"},
		"words":                            {long, "JobID,tres", "42", "42              "},
		"words without - and _":            {long, "tresalloc:3,job_id:.4", "42", "     42"},
		"words with a text behind":         {long, "JobID:4/,JobID:2", "42", "42  /42"},
		"sacct's words, left":              {sized, "JobID", "42", "42           "},
		"sacct's words with a width":       {sized, "jobid%4,jobid%-4", "42", "  42 42   "},
		"sacct's words cut with a mark":    {sized, "jobid%4", "123456", "123+ "},
		"sacct's words are abbreviated":    {sized, "j%4,TR%3", "42", "  42     "},
		"sacct passes over what is empty":  {sized, "jobid%4,,", "42", "  42 "},
		"a size without a letter is text":  {short, "%i %5", "42", "42 %5"},
		"an unknown letter is text":        {short, "%.7!x%i%é", "42", "%.7!x42%é"},
		"text only":                        {short, "text", "42", "text"},
		"nothing":                          {short, "", "42", ""},
		"a word with a colon has no width": {long, "JobID: ,tres:,JobID:.|", "123456789", "123456789 123456789|"},
		"an unknown word is left out":      {long, "Color,JobID:,|", "42", "42"},
		"a comma at the end":               {long, "JobID:|,", "42", "42|"},
		"a width without end is refused":   {short, "%99999999i", "", ""},
		"a wide word is refused":           {long, "JobID:70000", "", ""},
		"an unknown sacct word is refused": {sized, "color", "", ""},
		"a width of letters is refused":    {sized, "jobid%x", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			columns, err := c.read(c.format)
			if c.row == "" {
				if err == nil {
					t.Fatalf("%q is taken", c.format)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := columns.RowLine(c.row); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestUnknownColumnsAreListed(t *testing.T) {
	t.Parallel()
	_, letters, err := ParseLetters("%i %! %.7é %5", fields)
	if diff := cmp.Diff([]string{"!", "é"}, letters); err != nil || diff != "" {
		t.Error(err, diff)
	}
	_, words, err := ParseWords("JobID,Color:5,,|,", fields, 8)
	if diff := cmp.Diff([]string{"Color", "|"}, words); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// Every format is rejected or gives lines of the requested width. Columns that do not exist print nothing.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{"%.18i %.9P", "%i|%j", "%all", "JobID:10,Name", "JobID:.5x", "jobid%20,state%-3", "%#i", "%", "%5", ",", "%99999999i", "é%iü"} {
		f.Add(seed, "12345é")
	}
	f.Fuzz(func(t *testing.T, format, row string) {
		if !utf8.ValidString(format) || !utf8.ValidString(row) {
			t.Skip()
		}
		for name, read := range map[string]func() (Columns[string], error){
			"short": func() (Columns[string], error) {
				columns, _, err := ParseLetters(format, fields)
				return columns, err
			},
			"long": func() (Columns[string], error) {
				columns, _, err := ParseWords(format, fields, 20)
				return columns, err
			},
			"sized": func() (Columns[string], error) { return ParseSized(format, fields) },
		} {
			columns, err := read()
			if err != nil {
				continue
			}
			width, fixed := 0, true
			for _, c := range columns {
				fixed = fixed && c.Width > 0 && !c.Fit
				width += utf8.RuneCountInString(c.Before) + c.Width + utf8.RuneCountInString(c.After)
			}
			if line := columns.RowLine(row); fixed && utf8.RuneCountInString(line) != width {
				t.Errorf("%s format %q: the line %q has not %d letters", name, format, line, width)
			}
			columns.WidenToFit([]string{row}, true)
			_ = columns.HeadingLine()
			if sheet := columns.FormatTable([]string{row}, Form{Parsable: true, Between: "|"}); !strings.HasSuffix(sheet, "\n") {
				t.Errorf("%s format %q: %q has no end", name, format, sheet)
			}
		}
	})
}
