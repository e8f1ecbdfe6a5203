package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// question is the message from the master to a worker.
type question struct {
	Lines []string `json:"lines"`
}

// answer is the message from a worker to the master.
type answer struct {
	Host   string         `json:"host"`
	Words  int            `json:"words"`
	Took   time.Duration  `json:"took"`
	Counts map[string]int `json:"counts"`
}

// serve answers questions until ctx ends.
func serve(ctx context.Context, listener net.Listener, out io.Writer) error {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	fmt.Fprintf(out, "waiting for lines on %s\n", listener.Addr())
	var open sync.WaitGroup
	defer open.Wait()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		open.Go(func() {
			defer func() { _ = conn.Close() }()
			if err := answerOne(conn, out); err != nil {
				fmt.Fprintf(out, "%s: %v\n", conn.RemoteAddr(), err)
			}
		})
	}
}

func answerOne(conn net.Conn, out io.Writer) error {
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	var q question
	if err := json.NewDecoder(conn).Decode(&q); err != nil {
		return fmt.Errorf("question: %w", err)
	}
	start := time.Now()
	counts := count(q.Lines)
	host, _ := os.Hostname() // used only for output
	reply := answer{Host: host, Words: sum(counts), Took: time.Since(start), Counts: counts}
	if err := json.NewEncoder(conn).Encode(reply); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	fmt.Fprintf(out, "counted %d words in %d lines for %s\n", reply.Words, len(q.Lines), conn.RemoteAddr())
	return nil
}

// askAll sends each worker its part, all in parallel.
func askAll(ctx context.Context, workers []string, parts [][]string) ([]answer, error) {
	answers := make([]answer, len(workers))
	errs := make([]error, len(workers))
	var asked sync.WaitGroup
	for i, worker := range workers {
		asked.Go(func() { answers[i], errs[i] = askUntilAnswered(ctx, addressOf(i, worker), question{Lines: parts[i]}) })
	}
	asked.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// askUntilAnswered retries until ctx ends, because the worker may still be starting.
func askUntilAnswered(ctx context.Context, address string, q question) (answer, error) {
	for {
		reply, err := ask(ctx, address, q)
		if err == nil {
			return reply, nil
		}
		select {
		case <-ctx.Done():
			return answer{}, fmt.Errorf("worker %s: %w", address, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func ask(ctx context.Context, address string, q question) (answer, error) {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return answer{}, err
	}
	var reply answer
	if err := json.NewDecoder(conn).Decode(&reply); err != nil {
		return answer{}, err
	}
	return reply, nil
}
