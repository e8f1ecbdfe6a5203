package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// passage is a comment or a string, together with its position.
type passage struct{ place, text string }

// Kinds of passages that can be sampled.
const (
	kindComments = "comments"
	kindStrings  = "strings"
)

// minimumWords is the minimum number of words in a string that is assumed to be text for users.
const minimumWords = 4

// printSample prints passages of one kind for a reader to rate. The passages are drawn at random, as determined by the
// seed.
func printSample(w io.Writer, directories []string, kind string, count int, seed uint64) error {
	if kind != kindComments && kind != kindStrings {
		return errors.New("-of: " + kind + ": use " + kindComments + " or " + kindStrings)
	}
	var all []passage
	for _, directory := range directories {
		err := walkSources(directory, func(path string, source []byte) error {
			found, err := passagesOf(path, source, kind)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return err
		}
	}
	draw := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed must draw the same passages
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, p := range all[:min(count, len(all))] {
		fmt.Fprintf(w, "%d. %s\n%s\n\n", i+1, p.place, p.text)
	}
	return nil
}

// walkSources calls visit for each Go file below a directory that is part of the product.
func walkSources(root string, visit func(path string, source []byte) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && isSkippedDirectory(entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil || isGenerated(source) {
			return err
		}
		return visit(path, source)
	})
}

// passagesOf returns the comments of a file, or its strings with multiple words.
func passagesOf(path string, source []byte, kind string) ([]passage, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []passage
	add := func(position token.Pos, text string) {
		all = append(all, passage{place: fmt.Sprintf("%s:%d", path, files.Position(position).Line), text: text})
	}
	if kind == kindComments {
		for _, group := range file.Comments {
			if text := strings.TrimSpace(group.Text()); text != "" {
				add(group.Pos(), text)
			}
		}
		return all, nil
	}
	ast.Inspect(file, func(node ast.Node) bool {
		literal, isLiteral := node.(*ast.BasicLit)
		if !isLiteral || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && isProse(text) {
			add(literal.Pos(), text)
		}
		return true
	})
	return all, nil
}

// isProse reports whether a string contains enough words to be text for users.
func isProse(text string) bool {
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return !isWord(word) })
	return len(words) >= minimumWords
}

// isWord reports whether a text consists only of letters and apostrophes, apart from punctuation around it.
func isWord(text string) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }
	return !strings.ContainsFunc(strings.Trim(text, `.,:;"()'`), isOther)
}
