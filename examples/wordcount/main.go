// Command wordcount counts the words of a text with many workers. It runs in the pods of the demo's job: the master
// reads the text, distributes its lines over the workers, and merges their counts. Master and workers find each other
// with the hosts file that the job plugin svc writes.
//
//	wordcount worker [-listen :PORT]
//	wordcount master -text FILE [-hosts /etc/volcano/worker.host] [-top 10]
//	wordcount local  -text FILE [-top 10]
//
// There is one connection per worker with one JSON message in each direction: lines to the worker, counts back. A
// worker's port is 7070 plus its index, which the job plugin env sets in VC_TASK_INDEX, so that workers in the same
// host network do not conflict.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// firstPort is the port of worker 0.
const firstPort = 7070

// indexVariable is the environment variable with the index of a pod in its task.
const indexVariable = "VC_TASK_INDEX"

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
		return fmt.Errorf("no role specified: use master, worker or local")
	}
	flags := flag.NewFlagSet("wordcount "+args[0], flag.ContinueOnError)
	listen := flags.String("listen", "", "`address` that a worker serves (default: all, port 7070 + VC_TASK_INDEX)")
	text := flags.String("text", "/data/text", "file with the text to count")
	hosts := flags.String("hosts", "/etc/volcano/worker.host", "file with the host name of one worker per line")
	patience := flags.Duration("patience", 2*time.Minute, "maximum time to wait for a worker's answer")
	top := flags.Int("top", 10, "number of frequent words to print")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "worker":
		if *listen == "" {
			index, err := indexOf(os.Getenv(indexVariable))
			if err != nil {
				return fmt.Errorf("worker: %w", err)
			}
			*listen = ":" + portOf(index)
		}
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
	return fmt.Errorf("unknown role %q: use master, worker or local", args[0])
}

// indexOf parses the index of a worker. Outside of a job it is empty and counts as 0.
func indexOf(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	index, err := strconv.Atoi(text)
	if err != nil || index < 0 || index > 1<<16-1-firstPort {
		return 0, fmt.Errorf("%s=%q: specify a number from 0 to %d", indexVariable, text, 1<<16-1-firstPort)
	}
	return index, nil
}

// portOf returns the port of the worker with this index.
func portOf(index int) string { return strconv.Itoa(firstPort + index) }

// addressOf returns the address of the worker on line index of the hosts file: the plugin svc lists the pods of a task
// in the order of their indices. A line may contain a port.
func addressOf(index int, host string) string {
	if strings.Contains(host, ":") {
		return host
	}
	return net.JoinHostPort(host, portOf(index))
}

// master distributes the text over the workers, and prints their results and the totals.
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

// readLines returns the non-blank lines of a file.
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
