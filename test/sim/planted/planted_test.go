package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBugsFitTheCode checks that every bug can still be planted, and that it changes only the bodies of functions.
func TestBugsFitTheCode(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	names := map[string]bool{}
	for _, b := range allBugs() {
		t.Run(b.name, func(t *testing.T) {
			if names[b.name] {
				t.Error("two bugs have this name")
			}
			names[b.name] = true
			if kinds[b.kind] == "" {
				t.Errorf("the kind %q is not described", b.kind)
			}
			source, err := os.ReadFile(filepath.Join(root, b.file))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := plantAll(string(source), []*bug{b}); err != nil {
				t.Error(err)
			}
		})
	}
}
