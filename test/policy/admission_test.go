package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageOfAdmissionIsTrue compares docs/reference/admission.md with the sources: every quoted text must occur in them, and
// every row must name existing tests.
func TestThePageOfAdmissionIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/admission.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, said := namesOfTests(t), textsOf(t, "api", "internal/admission", "internal/podtemplate")
	quoted := regexp.MustCompile(`"([^"]+)"`)
	test := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	rows := 0
	for n, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Volcano |") {
			continue
		}
		rows++
		if len(cells) != 3 {
			t.Errorf("docs/reference/admission.md:%d: %d cells, want 3", n+1, len(cells))
			continue
		}
		for _, text := range quoted.FindAllStringSubmatch(cells[1], -1) {
			for piece := range strings.SplitSeq(text[1], "…") {
				if !strings.Contains(said, piece) {
					t.Errorf("docs/reference/admission.md:%d: nobody says %q", n+1, piece)
				}
			}
		}
		named := test.FindAllString(cells[2], -1)
		for _, name := range named {
			if !tests[name] {
				t.Errorf("docs/reference/admission.md:%d: there is no %s", n+1, name)
			}
		}
		if len(named) == 0 {
			t.Errorf("docs/reference/admission.md:%d: names no test", n+1)
		}
	}
	if rows < 80 {
		t.Errorf("only %d rows were looked at", rows)
	}
}

// verbs matches the formatting verbs of a text, with quotes around them.
var verbs = regexp.MustCompile(`\\?"?%[a-z]\\?"?`)

// textsOf returns the source of the packages below some directories, without tests and without formatting verbs. A text
// can therefore be found by the parts between its values.
func textsOf(t *testing.T, directories ...string) string {
	t.Helper()
	var all strings.Builder
	for _, directory := range directories {
		err := filepath.WalkDir(filepath.Join(root, directory), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.ReplaceAll(verbs.ReplaceAllString(all.String(), ""), `" +`+"\n", "")
}
