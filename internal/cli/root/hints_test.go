package root_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// hintLater lists the functions that create errors without a hint because their callers add one.
var hintLater = map[string]string{
	"ValidationError": "the noun knows what to do",
	"fieldError":      "the file and the line are added, and what the flag was",
	"writeProblems":   "only its hint is taken",
	// Functions of Slurm commands.
	"ParseStates": "each command knows which states it takes",
	"CheckStates": "sinfo says which states nodes have",
	"ParseOrder":  "the command says how an order is written",
	"ParseSized":  "the command says where its columns are listed",
}

// An error created without a hint may reach the user without one. So no function does that, unless its callers add
// the hint.
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

// hintless reports whether a node is a call Errorf("", …).
func hintless(node ast.Node) bool {
	call, is := node.(*ast.CallExpr)
	if !is || len(call.Args) < 2 {
		return false
	}
	name := ""
	if called, is := call.Fun.(*ast.SelectorExpr); is {
		if from, is := called.X.(*ast.Ident); is && from.Name == "usererror" {
			name = called.Sel.Name
		}
	}
	first, is := call.Args[0].(*ast.BasicLit)
	return name == "Errorf" && is && first.Value == `""`
}

// A flag that belongs to another tool does not hide that the command is unknown.
func TestAnUnknownCommandIsNamedWhateverItsFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ args, what, hint string }{
		"a verb of kubectl":          {"apply -f x.yaml", `unknown command "apply"`, "job run -f FILE"},
		"a verb of jobs at the root": {"logs train -f", `unknown command "logs"`, "job logs"},
		"within a noun":              {"job apply a --replicas 3", `unknown command "apply"`, "commands: "},
		"a word that is near":        {"jobb --wide list", `unknown command "jobb"`, `did you mean "job"?`},
		"after a namespace":          {"-n nlp get vcjob -o json", `unknown command "get"`, "job list"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := golden.Run{Args: tc.args}.RunAgainst(t, clitest.Start(t))
			if !strings.Contains(got.Err, tc.what) || !strings.Contains(got.Err, tc.hint) || got.Code != cli.ExitError {
				t.Errorf("exit %d:\n%s\nwant %q and %q", got.Code, got.Err, tc.what, tc.hint)
			}
		})
	}
}
