package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// mutant is a small change to a file.
type mutant struct {
	file   string
	line   int
	what   string
	source []byte // content of the whole changed file
}

// flips maps operators to the operators that replace them.
var flips = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// collector collects the mutants of one file.
type collector struct {
	set    *token.FileSet
	file   string
	source []byte
	found  []mutant
}

// mutantsOf returns all mutants of a file.
func mutantsOf(file string) ([]mutant, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return mutantsIn(file, source)
}

func mutantsIn(file string, source []byte) ([]mutant, error) {
	c := &collector{set: token.NewFileSet(), file: file, source: source}
	parsed, err := parser.ParseFile(c.set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
			ast.Inspect(function.Body, c.visitNode)
		}
	}
	return c.found, nil
}

// visitNode adds the mutants of one node.
func (c *collector) visitNode(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		c.replaceOperator(n)
	case *ast.IfStmt:
		c.negateCondition(n.Cond)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			c.addMutant(n.OpPos, n.OpPos+1, "", "drop !")
		}
	case *ast.BasicLit:
		c.addOne(n)
	case *ast.BlockStmt:
		c.dropStatements(n.List)
	case *ast.CaseClause:
		c.dropStatements(n.Body)
	case *ast.CommClause:
		c.dropStatements(n.Body)
	case *ast.ReturnStmt:
		c.invertResult(n)
	}
	return true
}

// replaceOperator replaces a comparison, a logical operator, plus or minus.
func (c *collector) replaceOperator(n *ast.BinaryExpr) {
	if other, ok := flips[n.Op]; ok && !isText(n.X) && !isText(n.Y) {
		c.addMutant(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String(), fmt.Sprintf("%s to %s", n.Op, other))
	}
}

func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}

// negateCondition inverts a condition, unless another mutant replaces its operator.
func (c *collector) negateCondition(condition ast.Expr) {
	if binary, ok := condition.(*ast.BinaryExpr); ok && (binary.Op == token.EQL || binary.Op == token.NEQ) {
		return
	}
	text := c.sourceText(condition.Pos(), condition.End())
	c.addMutant(condition.Pos(), condition.End(), "!("+text+")", "negate "+shortenText(text))
}

// addOne adds one to an integer.
func (c *collector) addOne(n *ast.BasicLit) {
	if value, err := strconv.ParseInt(n.Value, 10, 32); n.Kind == token.INT && err == nil {
		c.addMutant(n.Pos(), n.End(), strconv.FormatInt(value+1, 10), fmt.Sprintf("%d to %d", value, value+1))
	}
}

// logs matches statements that write log lines. Tests need not detect changes to these.
var logs = regexp.MustCompile(`\b[lL]og(\.V\(\d\))?\.(Info|Error)\(`)

// dropStatements removes statements without which the code still compiles: calls, assignments to existing variables,
// and if statements without else.
func (c *collector) dropStatements(statements []ast.Stmt) {
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.DeferStmt, *ast.IncDecStmt, *ast.SendStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || isBlank(s) {
				continue
			}
		case *ast.IfStmt:
			if s.Else != nil {
				continue
			}
		case *ast.BranchStmt:
		default:
			continue
		}
		text := c.sourceText(s.Pos(), s.End())
		if !logs.MatchString(text) {
			c.addMutant(s.Pos(), s.End(), keepLines(text), "drop "+shortenText(text))
		}
	}
}

func isBlank(s *ast.AssignStmt) bool {
	for _, left := range s.Lhs {
		if name, ok := left.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	return true
}

// invertResult inverts a constant boolean result.
func (c *collector) invertResult(n *ast.ReturnStmt) {
	for _, r := range n.Results {
		if name, ok := r.(*ast.Ident); ok && (name.Name == "true" || name.Name == "false") {
			other := strconv.FormatBool(name.Name == "false")
			c.addMutant(name.Pos(), name.End(), other, "return "+other)
		}
	}
}

func (c *collector) sourceText(from, to token.Pos) string {
	return string(c.source[c.set.Position(from).Offset:c.set.Position(to).Offset])
}

// addMutant adds a mutant in which a part of the source is replaced by text.
func (c *collector) addMutant(from, to token.Pos, text, what string) {
	start, end := c.set.Position(from), c.set.Position(to)
	changed := make([]byte, 0, len(c.source)+len(text))
	changed = append(changed, c.source[:start.Offset]...)
	changed = append(changed, text...)
	changed = append(changed, c.source[end.Offset:]...)
	c.found = append(c.found, mutant{file: c.file, line: start.Line, what: what, source: changed})
}

// keepLines returns as many newlines as text contains, so that line numbers do not change.
func keepLines(text string) string { return strings.Repeat("\n", strings.Count(text, "\n")) }

// shortenText returns a text as one line of at most 70 characters.
func shortenText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 70 {
		return string(runes[:70]) + "…"
	}
	return text
}
