package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inBackticks matches a Go name in a document: camelCase, or with a package or a type before it.
var inBackticks = regexp.MustCompile("`((?:[A-Za-z]\\w*\\.)?[A-Za-z]\\w*)`")

// notOurs matches names of documents that are not declared in this module.
var notOurs = regexp.MustCompile(`^(README|CHANGELOG|CONTRIBUTING|CLAUDE)\.md$|\.(go|md|txt|yaml|sh|txtar|json)$`)

// Recipes name functions, types and fields. After a rename, the recipe would send contributors to a name that does not
// exist.
func TestContributingNamesWhatIsDeclared(t *testing.T) {
	t.Parallel()
	declared := declaredNames(t)
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, match := range inBackticks.FindAllStringSubmatch(string(text), -1) {
		name := match[1]
		_, last, isDotted := strings.Cut(name, ".")
		if !isDotted {
			last = name
		}
		isGoName := isDotted || isCamelCase(name)
		if !isGoName || notOurs.MatchString(name) {
			continue
		}
		checked++
		if !declared[last] {
			t.Errorf("CONTRIBUTING.md names `%s`, which is not declared", name)
		}
	}
	if checked < 20 {
		t.Errorf("only %d names were checked", checked)
	}
}

// isCamelCase reports whether a name has a capital letter after a small one.
func isCamelCase(name string) bool { return regexp.MustCompile(`[a-z][A-Z]`).MatchString(name) }

// declaredNames returns the names of all functions, methods, types, fields, constants and variables of the module.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	collect := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				names[node.Name.Name] = true
			case *ast.TypeSpec:
				names[node.Name.Name] = true
			case *ast.ValueSpec:
				addNames(names, node.Names)
			case *ast.Field:
				addNames(names, node.Names)
			}
			return true
		})
		return nil
	}
	for _, directory := range []string{"api", "cmd", "hack", "internal", "plugin", "test"} {
		if err := filepath.WalkDir(filepath.Join(root, directory), collect); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func addNames(names map[string]bool, idents []*ast.Ident) {
	for _, ident := range idents {
		names[ident.Name] = true
	}
}
