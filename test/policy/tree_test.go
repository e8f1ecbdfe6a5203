package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/vc-batch/vc/"

// root is the root of the repository, relative to this directory.
const root = "../.."

// source is one Go file of the repository.
type source struct {
	path    string // relative to the root, with slashes
	dir     string
	test    bool
	fset    *token.FileSet
	file    *ast.File
	imports []string
}

// sources returns all Go files of the repository, parsed once.
var sources = sync.OnceValues(func() ([]source, error) {
	var all []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(relative), test: strings.HasSuffix(name, "_test.go"), fset: fset, file: file}
		s.dir = filepath.ToSlash(filepath.Dir(s.path))
		for _, spec := range file.Imports {
			s.imports = append(s.imports, strings.Trim(spec.Path.Value, `"`))
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

// everySource returns sources, and fails the test on an error.
func everySource(t *testing.T) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found: the policy would hold for nothing")
	}
	return all
}

// directories returns the directories of the given sources that are not tests.
func directories(all []source) []string {
	seen := map[string]bool{}
	for _, s := range all {
		if !s.test {
			seen[s.dir] = true
		}
	}
	var dirs []string
	for dir := range seen {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

// under reports whether dir is parent or a directory below it.
func under(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func underAny(dir string, parents []string) bool {
	return slices.ContainsFunc(parents, func(parent string) bool { return under(dir, parent) })
}
