package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is a small change to a file. The change is compiled into the file, and a switch enables it at run time, so that
// all mutants need only one build. See switches.go for the functions that the changed code calls.
type mutant struct {
	number int // unique among the mutants of a run, from 1; 0 if the mutant was not chosen
	pkg    string
	file   string
	line   int
	// function is the name of the function that is changed, with the type of its receiver. code is a hash of its source.
	function, code string
	what           string
	// occurrence is 1 for the first mutant of the function with this text, 2 for the second, and so on.
	occurrence int
	// edits adds the change to the source, with the number of the mutant in place of numberMark.
	edits []edit
}

// name identifies the mutant. It stays the same if code outside of the function changes.
func (m *mutant) name() string {
	name := fmt.Sprintf("%s/%s %s: %s", m.pkg, filepath.Base(m.file), m.function, m.what)
	if m.occurrence > 1 {
		name += fmt.Sprintf(" #%d", m.occurrence)
	}
	return name
}

// describe returns where the mutant is, and what it changes.
func (m *mutant) describe() string {
	return fmt.Sprintf("%s/%s:%d: %s", m.pkg, filepath.Base(m.file), m.line, m.what)
}

// numberMark stands for the number of a mutant in the text of its edits.
const numberMark = "#"

// edit replaces the text between two offsets of a file. Most edits only insert text, so the edits of several mutants can
// be made in the same expression.
type edit struct {
	from, to int
	text     string
	// nodeFrom and nodeTo are the bounds of the expression or statement that the edit belongs to. At the same offset, the
	// edit of the enclosing node comes first when nodes are opened, and last when they are closed.
	nodeFrom, nodeTo int
	number           int
}

// isOpening reports whether the edit inserts text before its node.
func (e *edit) isOpening() bool { return e.from == e.to && e.from == e.nodeFrom }

// collector collects the mutants of one file.
type collector struct {
	set    *token.FileSet
	file   string
	source []byte
	found  []*mutant

	function, code string // of the function whose body is being visited
	texts          map[string]int
}

// mutantsOf returns all mutants of a file.
func mutantsOf(file string) ([]*mutant, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return mutantsIn(file, source)
}

func mutantsIn(file string, source []byte) ([]*mutant, error) {
	c := &collector{set: token.NewFileSet(), file: file, source: source}
	parsed, err := parser.ParseFile(c.set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
			c.visitFunction(function)
		}
	}
	return c.found, nil
}

// visitFunction adds the mutants of one function.
func (c *collector) visitFunction(f *ast.FuncDecl) {
	c.function, c.texts = f.Name.Name, map[string]int{}
	if f.Recv != nil && len(f.Recv.List) > 0 {
		c.function = fmt.Sprintf("(%s).%s", c.text(f.Recv.List[0].Type), f.Name.Name)
	}
	sum := sha256.Sum256([]byte(c.text(f)))
	c.code = hex.EncodeToString(sum[:6])
	ast.Inspect(f.Body, c.visitNode)
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
			c.wrap(n, "("+numberCall+" != (", "))", "drop ! of "+c.shortText(n))
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

// numberCall is the expression that is true if the mutant is enabled.
const numberCall = "mutant(" + numberMark + ")"

// replacedByCall maps operators to the functions of switches.go that compute them, and to the operators that these
// functions apply if the mutant is enabled.
var replacedByCall = map[token.Token]struct{ function, other string }{
	token.LSS: {"mutantLess", "<="}, token.LEQ: {"mutantLessOrEqual", "<"},
	token.GTR: {"mutantGreater", ">="}, token.GEQ: {"mutantGreaterOrEqual", ">"},
	token.ADD: {"mutantSum", "-"}, token.SUB: {"mutantDifference", "+"},
}

// replaceOperator replaces a comparison, a logical operator, plus or minus.
func (c *collector) replaceOperator(n *ast.BinaryExpr) {
	operator := c.offset(n.OpPos)
	end := operator + len(n.Op.String())
	switch n.Op {
	case token.EQL:
		c.wrap(n, "("+numberCall+" != (", "))", "== to != in "+c.shortText(n))
	case token.NEQ:
		c.wrap(n, "("+numberCall+" != (", "))", "!= to == in "+c.shortText(n))
	case token.LAND, token.LOR:
		// By De Morgan's laws, x || y is !(!x && !y).
		other := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[n.Op]
		c.wrap(n, "("+numberCall+" != (("+numberCall+" != (", "))))", fmt.Sprintf("%s to %s in %s", n.Op, other, c.shortText(n)),
			edit{from: operator, to: end, text: ")) " + n.Op.String() + " (" + numberCall + " != ("})
	default:
		call, ok := replacedByCall[n.Op]
		if ok && !isText(n.X) && !isText(n.Y) {
			c.wrap(n, call.function+"("+numberMark+", ", ")", fmt.Sprintf("%s to %s in %s", n.Op, call.other, c.shortText(n)),
				edit{from: operator, to: end, text: ","})
		}
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

// negateCondition inverts a condition, unless another mutant does the same by replacing its operator.
func (c *collector) negateCondition(condition ast.Expr) {
	if binary, ok := condition.(*ast.BinaryExpr); ok && (binary.Op == token.EQL || binary.Op == token.NEQ) {
		return
	}
	if unary, ok := condition.(*ast.UnaryExpr); ok && unary.Op == token.NOT {
		return
	}
	c.wrap(condition, numberCall+" != (", ")", "negate "+c.shortText(condition))
}

// addOne adds one to an integer.
func (c *collector) addOne(n *ast.BasicLit) {
	if value, err := strconv.ParseInt(n.Value, 10, 32); n.Kind == token.INT && err == nil {
		c.wrap(n, "mutantNext("+numberMark+", ", ")", fmt.Sprintf("%d to %d", value, value+1))
	}
}

// logs matches statements that write log lines. Tests need not detect changes to these.
var logs = regexp.MustCompile(`\b[lL]og(\.V\(\d\))?\.(Info|Error)\(`)

// dropStatements skips statements without which the code still compiles: calls, assignments to existing variables,
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
		if !logs.MatchString(c.text(s)) {
			c.wrap(s, "if !"+numberCall+" { ", " }", "drop "+c.shortText(s))
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
			c.wrap(name, numberCall+" != ", "", "return "+strconv.FormatBool(name.Name == "false"))
		}
	}
}

// wrap adds a mutant that inserts text before and after a node, and makes further edits inside.
func (c *collector) wrap(n ast.Node, before, after, what string, inside ...edit) {
	from, to := c.offset(n.Pos()), c.offset(n.End())
	edits := append([]edit{{from: from, to: from, text: before}, {from: to, to: to, text: after}}, inside...)
	for i := range edits {
		edits[i].nodeFrom, edits[i].nodeTo = from, to
	}
	c.texts[what]++
	c.found = append(c.found, &mutant{
		file: c.file, line: c.set.Position(n.Pos()).Line, function: c.function, code: c.code, what: what, occurrence: c.texts[what], edits: edits,
	})
}

func (c *collector) offset(p token.Pos) int { return c.set.Position(p).Offset }

func (c *collector) text(n ast.Node) string {
	return string(c.source[c.offset(n.Pos()):c.offset(n.End())])
}

// shortText returns the source of a node as one line of at most 70 characters.
func (c *collector) shortText(n ast.Node) string {
	text := strings.Join(strings.Fields(c.text(n)), " ")
	if runes := []rune(text); len(runes) > 70 {
		return string(runes[:70]) + "…"
	}
	return text
}

// addMutants returns the source of a file with the switches of the given mutants. Lines keep their numbers.
func addMutants(source []byte, mutants []*mutant) []byte {
	var edits []edit
	for _, m := range mutants {
		for _, e := range m.edits {
			e.text = strings.ReplaceAll(e.text, numberMark, strconv.Itoa(m.number))
			e.number = m.number
			edits = append(edits, e)
		}
	}
	slices.SortStableFunc(edits, compareEdits)
	var changed []byte
	at := 0
	for i := range edits {
		changed = append(changed, source[at:edits[i].from]...)
		changed = append(changed, edits[i].text...)
		at = edits[i].to
	}
	return append(changed, source[at:]...)
}

// compareEdits orders edits by their offset. At the same offset, nodes that end there are closed before others are opened,
// inner nodes are closed before outer nodes, and outer nodes are opened before inner nodes.
func compareEdits(a, b edit) int {
	if order := cmp.Compare(a.from, b.from); order != 0 {
		return order
	}
	switch {
	case a.isOpening() && b.isOpening():
		return cmp.Or(cmp.Compare(b.nodeTo, a.nodeTo), cmp.Compare(a.number, b.number))
	case !a.isOpening() && !b.isOpening():
		return cmp.Or(cmp.Compare(b.nodeFrom, a.nodeFrom), cmp.Compare(a.nodeTo, b.nodeTo), cmp.Compare(b.number, a.number))
	case a.isOpening():
		return 1
	}
	return -1
}
