package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// words returns the words of a line: sequences of ASCII letters, in lower case.
func words(line string) []string {
	return strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r < 'a' || r > 'z' })
}

// count returns how often each word occurs.
func count(lines []string) map[string]int {
	counts := map[string]int{}
	for _, line := range lines {
		for _, word := range words(line) {
			counts[word]++
		}
	}
	return counts
}

// deal distributes the lines over n parts, in turn.
func deal(lines []string, n int) [][]string {
	parts := make([][]string, n)
	for i, line := range lines {
		parts[i%n] = append(parts[i%n], line)
	}
	return parts
}

// merge adds counts to total.
func merge(total, counts map[string]int) {
	for word, n := range counts {
		total[word] += n
	}
}

// sum returns the total number of words.
func sum(counts map[string]int) int {
	all := 0
	for _, n := range counts {
		all += n
	}
	return all
}

// printCounts prints the totals and the most frequent words. Equal counts give equal output.
func printCounts(out io.Writer, counts map[string]int, top int) {
	order := make([]string, 0, len(counts))
	for word := range counts {
		order = append(order, word)
	}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	fmt.Fprintf(out, "total %d words, %d different\n", sum(counts), len(counts))
	for _, word := range order[:min(top, len(order))] {
		fmt.Fprintf(out, "%7d %s\n", counts[word], word)
	}
}
