package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryExampleIsInATest checks that a test uses each manifest in examples, by its name or with its whole directory.
func TestEveryExampleIsInATest(t *testing.T) {
	t.Parallel()
	var sources []string
	walk := func(directory, suffix string, each func(path string)) {
		t.Helper()
		err := filepath.WalkDir(filepath.Join(root, directory), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, suffix) {
				each(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// A path may be joined from words.
		if joined := strings.ReplaceAll(string(text), `", "`, "/"); strings.Contains(joined, "examples/") {
			sources = append(sources, joined)
		}
	}
	walk("test", "_test.go", read)
	read(filepath.Join(root, "hack/demo.sh")) // a test runs it
	manifests := 0
	walk("examples", ".yaml", func(path string) {
		manifests++
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		directory, bare := filepath.Dir(name), strings.TrimSuffix(filepath.Base(name), ".yaml")
		for _, source := range sources {
			if strings.Contains(source, name) || strings.Contains(source, directory) && containsAny(source,
				`"`+bare+`.yaml"`, `"`+bare+`"`, directory+"/*.yaml", `"*.yaml"`) {
				return
			}
		}
		t.Errorf("no test names %s, nor takes all of %s", name, directory)
	})
	if manifests < 30 {
		t.Errorf("only %d manifests were looked at", manifests)
	}
}

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
