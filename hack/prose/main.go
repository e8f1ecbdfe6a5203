// Command prose measures how the project's Go source reads: habits of speech in comments, and the density of names and
// conditions.
//
//	go run ./hack/prose [-list] [-package] [DIR ...]
//	go run ./hack/prose -sample 100 [-of comments|strings] [-seed 1] [DIR ...]
//
// It reads every Go file below the directories (default: the current one) except tests, test packages and generated
// files. It prints two tables. The first shows, for each habit, how many of 1,000 comment lines have it; the second
// shows figures about the code. With -list it prints each line that has a habit, as file:line. With -package it prints
// the figures for each package. With -sample it prints comments, or strings of several words, drawn at random with a
// seed, for a reader who rates them.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
)

// habit is a habit of writing that the style guide advises against.
type habit struct {
	name    string
	pattern *regexp.Regexp
	// peers is the highest rate among well-known projects of the same kind, per 1,000 comment lines.
	peers float64
}

// habits lists the habits to count in comments. The rates of other projects come from the style guide.
var habits = []habit{
	{"noun clause (is what, of what, with what …)", regexp.MustCompile(`(?i)\b(is|are|of|with|from|to|by|for|on|in|and|than|as|that) what\b`), 1.3},
	{"says whether, what, why, how", regexp.MustCompile(`(?i)\bsays? (whether|what|why|how|when|where|which|who|if)\b`), 1.3},
	{"those that, those of", regexp.MustCompile(`(?i)\bthose (that|of|which|who|whose|in|on|with)\b`), 4.6},
	{"tell, told", regexp.MustCompile(`(?i)\b(told|tells?|telling)\b`), 1.3},
	{"somebody, nobody, whoever", regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|everybody|anybody)\b`), 1.3},
	{"is none, has none", regexp.MustCompile(`(?i)\b(is|are|has|have|was|were|had) none\b`), 1.3},
	{"anew", regexp.MustCompile(`(?i)\banew\b`), 1.3},
}

func main() {
	list := flag.Bool("list", false, "print each comment line and condition that counts")
	byPackage := flag.Bool("package", false, "print the figures of each package")
	count := flag.Int("sample", 0, "print this many passages at random instead of figures")
	kind := flag.String("of", kindComments, "passages to sample: comments or strings")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	flag.Parse()
	directories := flag.Args()
	if len(directories) == 0 {
		directories = []string{"."}
	}
	var err error
	if *count > 0 {
		err = printSample(os.Stdout, directories, *kind, *count, *seed)
	} else {
		err = reportMeasures(os.Stdout, directories, *list, *byPackage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

// reportMeasures measures the directories and prints the tables.
func reportMeasures(w io.Writer, directories []string, list, byPackage bool) error {
	packages := map[string]*measure{}
	for _, directory := range directories {
		if err := measureBelow(directory, packages); err != nil {
			return err
		}
	}
	total := newMeasure()
	names := make([]string, 0, len(packages))
	for name, m := range packages {
		total.addMeasure(m)
		names = append(names, name)
	}
	slices.Sort(names)
	if list {
		for _, name := range names {
			for _, finding := range packages[name].findings {
				fmt.Fprintln(w, finding)
			}
		}
	}
	if byPackage {
		printPackages(w, names, packages)
	}
	printHabits(w, total)
	printCode(w, total)
	return nil
}

// printHabits prints one row for each habit.
func printHabits(w io.Writer, m *measure) {
	fmt.Fprintf(w, "%d comment lines\n", m.commentLines)
	for i, h := range habits {
		fmt.Fprintf(w, "  %-46s %6.1f in 1,000   peers up to %.1f\n", h.name, m.habitRate(i), h.peers)
	}
}

// printCode prints the figures about the code.
func printCode(w io.Writer, m *measure) {
	fmt.Fprintf(w, "%d lines, %d of code, %d functions\n", m.lines, m.codeLines, m.functions)
	fmt.Fprintf(w, "  %-46s %6.1f            aim 14 to 16\n", "branches in 100 lines of code", ratePer(m.branches, m.codeLines, 100))
	fmt.Fprintf(w, "  %-46s %6.2f in 1,000   aim under 0.5\n", "lines with three or more && or ||", ratePer(m.denseLines, m.codeLines, 1000))
	fmt.Fprintf(w, "  %-46s %6.1f %%          aim under 30\n", "functions with a one-word name", ratePer(m.oneWord, m.functions, 100))
	fmt.Fprintf(w, "  %-46s %6.1f            aim over 11\n", "mean length of a function name", ratePer(m.nameLetters, m.functions, 1))
}

// printPackages prints one row for each package, with the figures that vary most between packages.
func printPackages(w io.Writer, names []string, packages map[string]*measure) {
	fmt.Fprintf(w, "%-44s %7s %8s %8s %6s %8s %6s\n", "PACKAGE", "LINES", "HABITS", "BRANCHES", "DENSE", "ONE-WORD", "NAME")
	for _, name := range names {
		m := packages[name]
		found := 0
		for _, n := range m.habits {
			found += n
		}
		fmt.Fprintf(w, "%-44s %7d %8.1f %8.1f %6.2f %8.1f %6.1f\n", name, m.lines, ratePer(found, m.commentLines, 1000),
			ratePer(m.branches, m.codeLines, 100), ratePer(m.denseLines, m.codeLines, 1000), ratePer(m.oneWord, m.functions, 100), ratePer(m.nameLetters, m.functions, 1))
	}
}

// ratePer returns count per unit of total, or 0 if total is 0.
func ratePer(count, total, unit int) float64 {
	if total == 0 {
		return 0
	}
	return float64(count) * float64(unit) / float64(total)
}
