// Package directive parses the #SBATCH lines of a batch script.
//
//	In:   the text of a script
//	Out:  a Script: the words of the directives with their line numbers, by component; the lines that need a warning
//
// Package getopt parses the words with the option table of sbatch.
//
// # Invariants
//
//   - All functions are pure. They do not change the script, because its interpreter treats directives as comments.
package directive

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

// MaxSize is the maximum size of a script in bytes. A script must fit into a ConfigMap together with the job's
// specification.
const MaxSize = 900 << 10

// Word is one word of a directive.
type Word struct {
	Text string
	// Line is the number of the line, starting at 1.
	Line int
}

// Script is the result of parsing a script.
type Script struct {
	// Components holds the words of each component of the job. There is one component unless the script has hetjob
	// lines.
	Components [][]Word
	// Late lists the lines with directives after the first command, which have no effect.
	Late []int
	// Slurm lists the lines with #SLURM instead of #SBATCH.
	Slurm []int
}

// WordTexts returns the texts of words.
func WordTexts(words []Word) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word.Text
	}
	return texts
}

// CheckScript returns an error if text is not a valid batch script.
func CheckScript(text []byte) error {
	switch {
	case len(text) == 0:
		return usererror.Errorf("start the script with #!/bin/sh, or use --wrap='COMMAND'", "Batch script is empty!")
	case len(bytes.TrimSpace(text)) == 0:
		return usererror.Errorf("start the script with #!/bin/sh, or use --wrap='COMMAND'", "the batch script contains only whitespace")
	case !bytes.HasPrefix(text, []byte("#!")):
		return usererror.Errorf("use #!/bin/sh as the first line; for a single command use --wrap='COMMAND'", "This does not look like a batch script.  The first\nline must start with #! followed by the path to an interpreter.\nFor instance: #!/bin/sh")
	case bytes.IndexByte(text, 0) >= 0:
		return usererror.Errorf("a batch script must be text; call binary programs from the script", "the batch script contains a NUL byte on line %d", 1+bytes.Count(text[:bytes.IndexByte(text, 0)], []byte("\n")))
	case bytes.Contains(text, []byte("\r\n")):
		return usererror.Errorf("convert the script with dos2unix or sed -i 's/\\r$//'", "the batch script has DOS line endings (\\r\\n), first on line %d", 1+bytes.Count(text[:bytes.Index(text, []byte("\r\n"))], []byte("\n")))
	case len(text) > MaxSize:
		return usererror.Errorf("move large data to a separate file, because the script is stored in a ConfigMap", "the batch script is larger than %d bytes", MaxSize)
	}
	return nil
}

// ParseScript parses the directives of a script before its first command. The text must have passed CheckScript.
func ParseScript(text []byte) (Script, error) {
	script := Script{Components: [][]Word{nil}}
	atCommand := false
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line := strings.TrimSuffix(string(line), "\n")
		rest, is := strings.CutPrefix(line, "#SBATCH")
		if !is {
			if rest, is = strings.CutPrefix(line, "#SLURM"); is && !atCommand {
				script.Slurm = append(script.Slurm, number)
			}
		}
		switch {
		case is && atCommand:
			script.Late = append(script.Late, number)
		case is:
			if err := script.addDirective(rest, number); err != nil {
				return Script{}, err
			}
		case !atCommand:
			blank := strings.TrimLeft(line, " \t")
			atCommand = blank != "" && blank[0] != '#'
		}
	}
	return script, nil
}

// addDirective parses one directive.
func (s *Script) addDirective(rest string, line int) error {
	words, err := splitWords(rest, line)
	if err != nil {
		return err
	}
	if len(words) == 1 && (words[0].Text == "hetjob" || words[0].Text == "packjob") {
		s.Components = append(s.Components, nil)
		return nil
	}
	last := len(s.Components) - 1
	s.Components[last] = append(s.Components[last], words...)
	return nil
}

// SplitDirective splits the text after #SBATCH into words, by the rules of directives.
func SplitDirective(rest string, line int) ([]Word, error) { return splitWords(rest, line) }

// splitWords splits a directive into words: blanks separate words, quotes and backslashes protect blanks, and # begins
// a comment.
func splitWords(text string, line int) ([]Word, error) {
	var words []Word
	var word strings.Builder
	var quote byte
	within, escaped := false, false
	flush := func() {
		if within {
			words = append(words, Word{Text: word.String(), Line: line})
		}
		word.Reset()
		within = false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			word.WriteByte(c)
			escaped = false
		case c == '\\':
			within, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			within, quote = true, c
		case c == '#':
			flush()
			return words, nil
		case strings.IndexByte(" \t\r\v\f", c) >= 0:
			flush()
		default:
			word.WriteByte(c)
			within = true
		}
	}
	if quote != 0 {
		return nil, usererror.Errorf("close the quote on the same line", "line %d: Unmatched `%c` in [%s]", line, quote, strings.TrimSpace(text)).WithCode(slurmerror.CodeDirective)
	}
	flush()
	return words, nil
}

// FormatDirective formats words as a directive. SplitDirective splits the text of the directive into the same words.
func FormatDirective(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quoteWord(word)
	}
	return "#SBATCH " + strings.Join(quoted, " ")
}

func quoteWord(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\r\v\f'\"\\#") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// String returns the word with its line number.
func (w Word) String() string { return fmt.Sprintf("%s (line %d)", w.Text, w.Line) }
