package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"unicode"
)

// measure holds the counts for one or more packages.
type measure struct {
	// lines is the number of all lines, codeLines the number of lines that are neither blank nor only a comment, and
	// commentLines the number of comment lines.
	lines, codeLines, commentLines int
	// habits holds, for each entry in the habits table, the number of comment lines that have the habit.
	habits []int
	// branches is the number of if, for, case, && and ||.
	branches int
	// denseLines is the number of source lines with three or more && or ||.
	denseLines int
	// functions is the number of functions and methods. oneWord is the number of functions whose name is a single word,
	// and nameLetters is the number of letters in the names of all functions.
	functions, oneWord, nameLetters int
	// findings lists the lines that have a habit, in the form file:line: text.
	findings []string
}

func newMeasure() *measure { return &measure{habits: make([]int, len(habits))} }

// addMeasure adds the counts of another measure. It does not copy findings.
func (m *measure) addMeasure(o *measure) {
	m.lines += o.lines
	m.codeLines += o.codeLines
	m.commentLines += o.commentLines
	for i, n := range o.habits {
		m.habits[i] += n
	}
	m.branches += o.branches
	m.denseLines += o.denseLines
	m.functions += o.functions
	m.oneWord += o.oneWord
	m.nameLetters += o.nameLetters
}

// habitRate returns the number of comment lines per 1,000 that have habit i.
func (m *measure) habitRate(i int) float64 { return ratePer(m.habits[i], m.commentLines, 1000) }

// measureBelow measures the Go files below a directory and adds the results to packages, by package directory.
func measureBelow(root string, packages map[string]*measure) error {
	return walkSources(root, func(path string, source []byte) error {
		directory := filepath.ToSlash(filepath.Dir(path))
		if packages[directory] == nil {
			packages[directory] = newMeasure()
		}
		return packages[directory].addFile(path, source)
	})
}

// isSkippedDirectory reports whether a directory contains test helpers, test data or hidden files instead of product
// source.
func isSkippedDirectory(name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test")
}

// isGenerated reports whether a file contains Go's comment for generated code before its package clause.
func isGenerated(source []byte) bool {
	head, _, _ := bytes.Cut(source, []byte("\npackage "))
	return bytes.Contains(head, []byte("// Code generated ")) && bytes.Contains(head, []byte(" DO NOT EDIT."))
}

// addFile measures one file.
func (m *measure) addFile(path string, source []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	commented := m.addComments(files, file)
	for i, line := range bytes.Split(bytes.TrimSuffix(source, []byte("\n")), []byte("\n")) {
		m.lines++
		isComment := commented[i+1] && bytes.HasPrefix(bytes.TrimSpace(line), []byte("//"))
		if len(bytes.TrimSpace(line)) > 0 && !isComment {
			m.codeLines++
		}
	}
	m.addCode(files, file)
	return nil
}

// addComments counts comment lines and their habits. It returns the numbers of the lines that contain a comment.
func (m *measure) addComments(files *token.FileSet, file *ast.File) map[int]bool {
	commented := map[int]bool{}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:") || strings.HasPrefix(comment.Text, "//nolint") {
				continue
			}
			start := files.Position(comment.Pos())
			for i, text := range strings.Split(comment.Text, "\n") {
				commented[start.Line+i] = true
				m.addCommentLine(start.Filename, start.Line+i, text)
			}
		}
	}
	return commented
}

// addCommentLine counts the habits of one line of a comment.
func (m *measure) addCommentLine(path string, line int, text string) {
	m.commentLines++
	for i, h := range habits {
		if h.pattern.MatchString(text) {
			m.habits[i]++
			m.findings = append(m.findings, fmt.Sprintf("%s:%d: %s: %s", path, line, h.name, strings.TrimSpace(text)))
		}
	}
}

// addCode counts branches, dense lines and function names.
func (m *measure) addCode(files *token.FileSet, file *ast.File) {
	operators := map[int]int{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			m.branches++
		case *ast.CaseClause:
			if node.List != nil {
				m.branches++
			}
		case *ast.CommClause:
			m.branches++
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				m.branches++
				operators[files.Position(node.OpPos).Line]++
			}
		case *ast.FuncDecl:
			m.addFunction(node.Name.Name)
		}
		return true
	})
	name := files.Position(file.Pos()).Filename
	for line, count := range operators {
		if count >= 3 {
			m.denseLines++
			m.findings = append(m.findings, fmt.Sprintf("%s:%d: %d operators in one line", name, line, count))
		}
	}
}

// addFunction counts the name of a function or method.
func (m *measure) addFunction(name string) {
	m.functions++
	m.nameLetters += len(name)
	if isOneWord(name) {
		m.oneWord++
	}
}

// isOneWord reports whether a name consists of one word. A single word has no capital letter after its first letter, or
// it is an initialism, which consists only of capital letters.
func isOneWord(name string) bool {
	rest := strings.TrimLeft(name, "_")
	if rest == "" {
		return true
	}
	return strings.IndexFunc(rest[1:], unicode.IsUpper) < 0 || strings.ToUpper(rest) == rest
}
