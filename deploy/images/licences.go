package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
	"golang.org/x/mod/module"
)

// noAssertion is SPDX's word for a value that is not known.
const noAssertion = "NOASSERTION"

// minConfidence is the similarity from which a text counts as a licence; 1 is the same text.
const minConfidence = 0.9

// licenceFile matches the names of files with a licence.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([-._].*)?$`)

// licenceFinder finds the licences of Go modules by the texts in the module cache.
type licenceFinder struct {
	source, cache, goroot string
	texts                 *classifier.Classifier
	known                 map[string]string // directory to licence
}

// licenceTexts returns the classifier with the texts of all licences. It loads them once.
var licenceTexts = sync.OnceValues(assets.DefaultClassifier)

func newLicenceFinder(ctx context.Context, source string) (*licenceFinder, error) {
	cmd := exec.CommandContext(ctx, goCommand(), "env", "GOMODCACHE", "GOROOT")
	cmd.Dir, cmd.Stderr = source, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		return nil, fmt.Errorf("go env printed %q", out)
	}
	texts, err := licenceTexts()
	if err != nil {
		return nil, err
	}
	return &licenceFinder{source: source, cache: lines[0], goroot: lines[1], texts: texts, known: map[string]string{}}, nil
}

// ofModule returns the licence of a module as an SPDX expression.
func (l *licenceFinder) ofModule(m debug.Module) (string, error) {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}
	return l.inDirectory(filepath.Join(l.cache, filepath.FromSlash(path)+"@"+version))
}

// ofGo returns the licence of Go's standard library.
func (l *licenceFinder) ofGo() (string, error) { return l.inDirectory(l.goroot) }

// ofSource returns the licence of the source tree.
func (l *licenceFinder) ofSource() (string, error) { return l.inDirectory(l.source) }

// inDirectory returns the licences of all licence files in dir, joined by AND.
func (l *licenceFinder) inDirectory(dir string) (string, error) {
	if known, ok := l.known[dir]; ok {
		return known, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var found []string
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return "", err
		}
		for _, match := range l.texts.Match(text).Matches {
			if match.MatchType == "License" && match.Confidence >= minConfidence {
				found = append(found, match.Name)
			}
		}
	}
	slices.Sort(found)
	licence := strings.Join(slices.Compact(found), " AND ")
	if licence == "" {
		licence = noAssertion
	}
	l.known[dir] = licence
	return licence, nil
}
