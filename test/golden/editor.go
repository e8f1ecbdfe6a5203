package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ReplaceInEditor returns an editor that replaces texts: the first pair when it opens the first time, the second pair the
// second time.
func ReplaceInEditor(pairs ...string) func(string) string {
	look := 0
	return func(text string) string {
		if 2*look+1 >= len(pairs) {
			return text
		}
		look++
		return strings.Replace(text, pairs[2*look-2], pairs[2*look-1], 1)
	}
}

// CollectEditedCopies gives the test its own directory for temporary files. left returns the contents of the files that
// edit commands have not removed.
func CollectEditedCopies(t *testing.T) (left func() []string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "vcctl-edit-*"))
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		return texts
	}
}
