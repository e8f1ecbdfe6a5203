package policy

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// link matches the target of a Markdown link.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path := document
			if target != "" {
				path = filepath.Join(filepath.Dir(document), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link to %s, which does not exist", document, match[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(path, ".md") && !slices.Contains(anchors(t, path), anchor) {
				t.Errorf("%s: link to %s, but the page has no such heading", document, match[1])
			}
		}
	}
}

// anchors returns the anchors of the headings of a document.
func anchors(t *testing.T, document string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
			heading = notInAnchors.ReplaceAllString(heading, "")
			all = append(all, strings.ReplaceAll(heading, " ", "-"))
		}
	}
	return all
}

// notInAnchors matches the characters of a heading that its anchor omits.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// target matches a make target in a command of a document.
var target = regexp.MustCompile("`make ([a-z-]+)")

func TestDocumentsNameTargetsThatExist(t *testing.T) {
	t.Parallel()
	targets := makeTargets(t)
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range target.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(targets, match[1]) {
				t.Errorf("%s: `make %s`, but the Makefile has no such target", document, match[1])
			}
		}
	}
}

// documents returns the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no documents found")
	}
	return all
}

func makeTargets(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var targets []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, rest, ok := strings.Cut(lines.Text(), ":")
		if ok && !strings.HasPrefix(rest, "=") && name != "" && !strings.ContainsAny(name, " \t#.$") {
			targets = append(targets, name)
		}
	}
	return targets
}
