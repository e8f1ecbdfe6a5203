// Command wordcount counts the words of a text with many workers. It is what the
// pods of the demo's job run: the master reads the text, deals its lines out to
// the workers, and merges what they counted. Master and workers find each other
// through the hosts file that the job plugin svc writes.
//
//	wordcount worker [-listen :7070]
//	wordcount master -text FILE [-hosts /etc/volcano/worker.host] [-top 10]
//	wordcount local  -text FILE [-top 10]
//
// One connection a worker, one JSON message each way: lines there, counts back.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const defaultPort = "7070"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("no role given: want master, worker or local")
	}
	flags := flag.NewFlagSet("wordcount "+args[0], flag.ContinueOnError)
	listen := flags.String("listen", ":"+defaultPort, "address that a worker serves")
	text := flags.String("text", "/data/text", "file whose words are counted")
	hosts := flags.String("hosts", "/etc/volcano/worker.host", "file with one worker's host name a line")
	patience := flags.Duration("patience", 2*time.Minute, "how long to wait for a worker to answer")
	top := flags.Int("top", 10, "how many of the most frequent words to print")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "worker":
		listener, err := net.Listen("tcp", *listen)
		if err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		return serve(ctx, listener, out)
	case "master":
		return master(ctx, out, *text, *hosts, *patience, *top)
	case "local":
		lines, err := readLines(*text)
		if err != nil {
			return err
		}
		printCounts(out, count(lines), *top)
		return nil
	}
	return fmt.Errorf("role %q: want master, worker or local", args[0])
}

// master deals the text out to the workers, and prints who did what and the result.
func master(ctx context.Context, out io.Writer, text, hosts string, patience time.Duration, top int) error {
	lines, err := readLines(text)
	if err != nil {
		return err
	}
	workers, err := readLines(hosts)
	if err != nil {
		return err
	}
	if len(workers) == 0 {
		return fmt.Errorf("%s: names no workers", hosts)
	}
	fmt.Fprintf(out, "%d lines for %d workers\n", len(lines), len(workers))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers, err := askAll(ctx, workers, deal(lines, len(workers)))
	if err != nil {
		return err
	}
	total := map[string]int{}
	for i, answer := range answers {
		fmt.Fprintf(out, "  %-36s %-16s %6d words in %s\n", workers[i], answer.Host, answer.Words, answer.Took.Round(time.Microsecond))
		merge(total, answer.Counts)
	}
	printCounts(out, total, top)
	return nil
}

// readLines are the lines of a file that are not blank.
func readLines(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
