package root_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// hintLater are the functions that make errors without a hint, because who calls them adds it.
var hintLater = map[string]string{
	"Refusals":   "the noun knows what to do",
	"fieldError": "the file and the line are added, and what the flag was",
	"problems":   "only its hint is taken",
	// of Slurm's commands
	"ParseStates": "each command knows which states it takes",
	"CheckStates": "sinfo says which states nodes have",
	"Order":       "the command says how an order is written",
	"Sized":       "the command says where its columns are listed",
}

// An error that is made without a hint reaches a person without one: none is, but where the hint comes later.
func TestNoErrorIsMadeWithoutAHint(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	look := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is {
				continue
			}
			ast.Inspect(function, func(node ast.Node) bool {
				if !hintless(node) {
					return true
				}
				if hintLater[function.Name.Name] != "" {
					used[function.Name.Name] = true
				} else {
					t.Errorf("%s: an error without a hint: what is a person to do?", files.Position(node.Pos()))
				}
				return true
			})
		}
		return nil
	}
	for _, from := range []string{"..", filepath.Join("..", "..", "slurm")} {
		if err := filepath.WalkDir(from, look); err != nil {
			t.Fatal(err)
		}
	}
	for name := range hintLater {
		if !used[name] {
			t.Errorf("%s is exempt and makes no error without a hint", name)
		}
	}
}

// hintless says whether a node is Errorf("", …).
func hintless(node ast.Node) bool {
	call, is := node.(*ast.CallExpr)
	if !is || len(call.Args) < 2 {
		return false
	}
	name := ""
	switch called := call.Fun.(type) {
	case *ast.Ident:
		name = called.Name
	case *ast.SelectorExpr:
		if from, is := called.X.(*ast.Ident); is && (from.Name == "cli" || from.Name == "fault") {
			name = called.Sel.Name
		}
	}
	first, is := call.Args[0].(*ast.BasicLit)
	return name == "Errorf" && is && first.Value == `""`
}
