package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// switchVariable is the environment variable that names the bug which a process has.
const switchVariable = "PLANTED_BUG"

// builder compiles tests with planted bugs. Each bug is behind a switch.
type builder struct {
	root    string
	dir     string // for temporary files
	overlay string // file that names the files that the compiler replaces
}

// newBuilder plants bugs.
func newBuilder(bugs []*bug, root, dir string) (*builder, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	byFile := map[string][]*bug{}
	for _, b := range bugs {
		byFile[b.file] = append(byFile[b.file], b)
	}
	replaced := map[string]string{}
	replace := func(name, content string) error {
		path := replaced[name]
		if path == "" {
			path = filepath.Join(dir, fmt.Sprintf("%d.go", len(replaced)))
		}
		replaced[name] = path
		return os.WriteFile(path, []byte(content), 0o600)
	}
	for file, list := range byFile {
		name := filepath.Join(root, file)
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		changed, pkg, err := plantAll(string(source), list)
		if err != nil {
			return nil, err
		}
		err = errors.Join(replace(name, changed), replace(filepath.Join(filepath.Dir(name), "planted_switch.go"), switchSource(pkg)))
		if err != nil {
			return nil, err
		}
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return nil, err
	}
	return &builder{root, dir, overlay}, nil
}

// compileTest compiles the tests of a package and returns the path of the binary.
func (b *builder) compileTest(pkg string) (string, error) {
	binary := filepath.Join(b.dir, filepath.Base(pkg)+".test")
	command := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", b.overlay, "-o", binary, "./"+pkg)
	command.Dir = b.root
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("a bug does not compile; find it with -only: %s", strings.TrimSpace(string(out)))
	}
	return binary, nil
}

// switchSource returns a file that declares the switch of a package.
func switchSource(pkg string) string {
	return fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar plantedBug = os.Getenv(%q)\n", pkg, switchVariable)
}

// insertion is a text to insert into a source.
type insertion struct {
	at   int
	text string
}

// plantAll returns the source of a file in which each function that a bug changes has two bodies, of which the switch
// selects one. It also returns the name of the package.
func plantAll(source string, bugs []*bug) (changed, pkg string, err error) {
	original, err := parseBodies(source)
	if err != nil {
		return "", "", err
	}
	var insertions []insertion
	for _, b := range bugs {
		with, err := b.plant(source)
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", b.name, err)
		}
		planted, err := parseBodies(with)
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", b.name, err)
		}
		if original.outside != planted.outside {
			return "", "", fmt.Errorf("%s changes more than the bodies of functions", b.name)
		}
		for i, body := range planted.bodies {
			if body.text == original.bodies[i].text {
				continue
			}
			text := fmt.Sprintf("\nif plantedBug == %q {\n%s", b.name, body.text)
			if !body.hasResults {
				text += "\nreturn"
			}
			insertions = append(insertions, insertion{original.bodies[i].start, text + "\n}\n"})
		}
	}
	slices.SortStableFunc(insertions, func(x, y insertion) int { return y.at - x.at })
	for _, i := range insertions {
		source = source[:i.at] + i.text + source[i.at:]
	}
	return source, original.pkg, nil
}

// file is a source that is divided into the bodies of functions and the rest.
type file struct {
	pkg     string
	bodies  []body
	outside string
}

// body is the text between the braces of a function.
type body struct {
	start      int
	text       string
	hasResults bool
}

func parseBodies(source string) (*file, error) {
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f, end := &file{pkg: parsed.Name.Name}, 0
	for _, d := range parsed.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		start := positions.Position(function.Body.Lbrace).Offset + 1
		f.outside += source[end:start]
		end = positions.Position(function.Body.Rbrace).Offset
		f.bodies = append(f.bodies, body{start, source[start:end], function.Type.Results.NumFields() > 0})
	}
	f.outside += source[end:]
	return f, nil
}
