package policy

import (
	"bytes"
	"go/ast"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	all := everySource(t)
	documented := map[string]bool{}
	for _, s := range all {
		if doc := s.file.Doc; doc != nil && !s.test {
			first := strings.Fields(doc.Text())
			if len(first) > 5 && (first[0] == "Package" || first[0] == "Command") {
				documented[s.dir] = true
			}
		}
	}
	for _, dir := range directories(all) {
		if !documented[dir] {
			t.Errorf("%s: no package comment that begins with \"Package …\" or \"Command …\" and says what it is", dir)
		}
	}
}

func TestEveryFileIsFormatted(t *testing.T) {
	t.Parallel()
	for _, s := range everySource(t) {
		text, err := os.ReadFile(filepath.Join(root, s.path))
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source(text)
		if err != nil || !bytes.Equal(text, formatted) {
			t.Errorf("%s: gofmt would change it (%v)", s.path, err)
		}
	}
}

// left matches notes about later work. They need an owner on the same line: the number of an ADR or a line in the docs.
var left = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`)

func TestNothingIsLeftForLater(t *testing.T) {
	t.Parallel()
	for _, s := range everySource(t) {
		if generated(s.file) {
			continue
		}
		for _, group := range s.file.Comments {
			for _, comment := range group.List {
				if left.MatchString(comment.Text) && !strings.Contains(comment.Text, "ADR") && !strings.Contains(comment.Text, "docs/") {
					t.Errorf("%s: %s", s.fset.Position(comment.Pos()), comment.Text)
				}
			}
		}
	}
}

func generated(file *ast.File) bool { return ast.IsGenerated(file) }
