package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// exampleFlag matches a flag in a command line.
	exampleFlag = regexp.MustCompile(`^--?[a-zA-Z][a-z-]*`)
	// referenceFlags matches the flags in the options of a page of docs/reference.
	referenceFlags = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[a-z-]+)`)
)

// TestDocumentsNameCommandsAndFlagsThatExist checks the calls of vcctl in the README, the tutorial and the guides
// against docs/reference.
func TestDocumentsNameCommandsAndFlagsThatExist(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, document := range documents(t) {
		page, err := filepath.Rel(root, document)
		if err != nil {
			t.Fatal(err)
		}
		isGuide := page == "README.md" || page == "docs/tutorial.md" || strings.HasPrefix(page, "docs/guides/")
		if !isGuide {
			continue
		}
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range codeLines(string(text)) {
			if call, ok := strings.CutPrefix(strings.TrimPrefix(line, "$ "), "vcctl "); ok {
				checked++
				checkCall(t, page, call)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d calls of vcctl were checked", checked)
	}
}

// codeLines returns the lines of the code blocks of a Markdown text, without leading spaces.
func codeLines(text string) []string {
	var lines []string
	inCode := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
			continue
		}
		if inCode {
			lines = append(lines, line)
		}
	}
	return lines
}

// checkCall reports an error if docs/reference has no page for the command, or the page lacks a flag of the call.
func checkCall(t *testing.T, page, call string) {
	t.Helper()
	call, _, _ = strings.Cut(call, " #")
	call, _, _ = strings.Cut(call, " > ")
	words := strings.Fields(call)
	name, rest := referencePage(words)
	if len(words) > 0 && len(rest) == len(words) && !strings.HasPrefix(words[0], "-") {
		t.Errorf("%s: vcctl %s: docs/reference has no page for this command", page, call)
		return
	}
	flags := flagsOfPages(t, name, "vcctl_options.md")
	for _, word := range rest {
		if word == "--" {
			return // the command of the pod follows
		}
		if flag := exampleFlag.FindString(word); flag != "" && !flags[flag] && !flags[flag[:2]] {
			t.Errorf("%s: vcctl %s: %s has no flag %s", page, call, name, flag)
		}
	}
}

// referencePage returns the page of the longest command that begins the words, and the remaining words.
func referencePage(words []string) (page string, rest []string) {
	page, rest = "vcctl.md", words
	name := "vcctl"
	for i, word := range words {
		name += "_" + word
		if _, err := os.Stat(filepath.Join(root, "docs", "reference", name+".md")); err != nil {
			break
		}
		page, rest = name+".md", words[i+1:]
	}
	return page, rest
}

// flagsOfPages returns the flags that pages of docs/reference list.
func flagsOfPages(t *testing.T, pages ...string) map[string]bool {
	t.Helper()
	flags := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, "docs", "reference", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range referenceFlags.FindAllStringSubmatch(string(text), -1) {
			flags[match[1]], flags[match[2]] = true, true
		}
	}
	return flags
}
