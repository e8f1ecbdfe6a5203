package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// TestBugsFitTheCode checks that every bug can still be planted, and that the result is a Go file.
func TestBugsFitTheCode(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	names := map[string]bool{}
	for i := range bugs {
		b := &bugs[i]
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
			changed, err := b.plant(string(source))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.ParseFile(token.NewFileSet(), b.file, changed, parser.SkipObjectResolution); err != nil {
				t.Error(err)
			}
		})
	}
}
