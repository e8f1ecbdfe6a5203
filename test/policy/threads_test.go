package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreadsNameTestsThatExist holds docs/threads.md to it: each row names at least one test or story, and there are such.
func TestThreadsNameTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/threads.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := namesOfTests(t)
	story := regexp.MustCompile(`story ([a-z0-9_]+)`)
	test := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	for n, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Thread ") {
			continue
		}
		if len(cells) != 3 {
			t.Errorf("docs/threads.md:%d: %d cells, want 3", n+1, len(cells))
			continue
		}
		named := 0
		for _, m := range story.FindAllStringSubmatch(cells[2], -1) {
			named++
			if _, err := os.Stat(filepath.Join("../scenarios", m[1]+".txt")); err != nil {
				t.Errorf("docs/threads.md:%d: there is no story %s", n+1, m[1])
			}
		}
		for _, name := range test.FindAllString(cells[2], -1) {
			named++
			if !tests[name] {
				t.Errorf("docs/threads.md:%d: there is no %s", n+1, name)
			}
		}
		if named == 0 {
			t.Errorf("docs/threads.md:%d: names neither a test nor a story", n+1)
		}
	}
}

// namesOfTests are those of all Go tests of the project.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
