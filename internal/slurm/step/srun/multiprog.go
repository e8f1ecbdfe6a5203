package srun

import (
	"fmt"
	"strconv"
	"strings"
)

// program is a line in a --multi-prog file. It specifies tasks and the command that they run.
type program struct {
	// ranks lists the tasks that the line names. all is true if the line applies to all tasks that no other line names.
	ranks []rankRange
	all   bool
	args  []string
}

type rankRange struct{ first, last int }

// parsePrograms parses a --multi-prog file. Each line contains ranks (0-3,5 or *), a program and its arguments. In the
// arguments, %t is replaced by the rank, and %o by the rank's position among the ranks in the line.
func parsePrograms(text string) ([]program, error) {
	var programs []program
	for number, line := range strings.Split(text, "\n") {
		words, err := splitWords(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 {
			return nil, fmt.Errorf("line %d: no program is specified for tasks %s", number+1, words[0])
		}
		p := program{args: words[1:], all: words[0] == "*"}
		if !p.all {
			if p.ranks, err = parseRanks(words[0]); err != nil {
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			}
		}
		programs = append(programs, p)
	}
	return programs, nil
}

func parseRanks(text string) ([]rankRange, error) {
	var ranks []rankRange
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		isNumber := err == nil && err2 == nil && from >= 0
		if !isNumber || to < from {
			return nil, fmt.Errorf("%q is not a valid list of tasks: use a list such as 0-3,5, or *", text)
		}
		ranks = append(ranks, rankRange{from, to})
	}
	return ranks, nil
}

// splitWords splits a line at blanks. Quotes group words, a backslash escapes the next character, and # begins a
// comment.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '#':
			i = len(line)
		case c == ' ' || c == '\t' || c == '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("missing closing quote %c", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// commandOfTask returns the command of a task, or nil if no line applies to the task.
func commandOfTask(programs []program, rank int) []string {
	rest := -1
	for i := range programs {
		p := &programs[i]
		if p.all {
			rest = i
			continue
		}
		offset := 0
		for _, r := range p.ranks {
			if rank >= r.first && rank <= r.last {
				return fillPlaceholders(p.args, rank, offset+rank-r.first)
			}
			offset += r.last - r.first + 1
		}
	}
	if rest < 0 {
		return nil
	}
	return fillPlaceholders(programs[rest].args, rank, rank)
}

func fillPlaceholders(args []string, rank, offset int) []string {
	replacer := strings.NewReplacer("%t", strconv.Itoa(rank), "%o", strconv.Itoa(offset))
	filled := make([]string, len(args))
	for i, arg := range args {
		filled[i] = replacer.Replace(arg)
	}
	return filled
}
