package policy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// foreignErrors maps the files that search the text of an error to the program that writes the text. These programs
// have no type for the error.
var foreignErrors = map[string]string{
	"internal/cli/errors.go":               "client-go's kubeconfig loader, TLS and admission webhooks",
	"internal/cli/fieldcheck.go":           "the API server's strict decoding",
	"internal/cli/files.go":                "kubectl's reader of manifests",
	"internal/cli/list.go":                 "the API server's field selectors",
	"internal/cli/retryingclient.go":       "net/http, about idle connections",
	"internal/cli/slurm/attach/sattach.go": "the streams of remotecommand",
}

func TestBehaviourDoesNotDependOnTheTextOfAnError(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range everySource(t) {
		if s.test || under(s.dir, "test") {
			continue
		}
		for _, found := range decisionsByText(s.file) {
			used[s.path] = used[s.path] || found.searches
			if !found.searches || foreignErrors[s.path] == "" {
				t.Errorf("%s: %s: give the error a type or a field, and use errors.Is or errors.As", s.fset.Position(found.pos), found.what)
			}
		}
	}
	for path := range foreignErrors {
		if !used[path] {
			t.Errorf("%s no longer searches the text of an error: remove it from foreignErrors", path)
		}
	}
}

// byText is a decision that depends on the text of an error. searches reports that it looks for a part of the text,
// which is permitted for errors of other programs.
type byText struct {
	pos      token.Pos
	what     string
	searches bool
}

// decisionsByText returns the places in a file that compare or search the text of an error.
func decisionsByText(file *ast.File) []byText {
	var all []byText
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isErrorText(n.X) || isErrorText(n.Y)) {
				all = append(all, byText{n.Pos(), "compares the text of an error", false})
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isErrorText(n.Tag) {
				all = append(all, byText{n.Pos(), "switches by the text of an error", false})
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 || !isErrorText(n.Args[0]) {
				break
			}
			searching := []string{"Contains", "HasPrefix", "HasSuffix", "EqualFold", "CutPrefix", "CutSuffix"}
			if of, ok := f.X.(*ast.Ident); ok && of.Name == "strings" && slices.Contains(searching, f.Sel.Name) {
				all = append(all, byText{n.Pos(), "searches the text of an error", true})
			}
		}
		return true
	})
	return all
}

// isErrorText reports whether an expression is a call like err.Error().
func isErrorText(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Error"
}

func TestTheRuleAboutTextsOfErrorsCatchesThem(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`if err.Error() == "x" {}`:                   "[compares the text of an error]",
		`if last != t.err.Error() {}`:                "[compares the text of an error]",
		`switch err.Error() { case "x": }`:           "[switches by the text of an error]",
		`if strings.HasSuffix(err.Error(), "x") {}`:  "[searches the text of an error]",
		`_ = fmt.Sprint(err.Error())`:                "[]",
		`_ = strings.TrimPrefix(err.Error(), "x: ")`: "[]",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, found := range decisionsByText(file) {
			got = append(got, found.what)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", code, got, want)
		}
	}
}
