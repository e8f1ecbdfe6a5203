package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestManyWorkersCountWhatOneCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var hosts strings.Builder
	for range 3 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = serve(ctx, listener, io.Discard) }()
		hosts.WriteString(listener.Addr().String() + "\n")
	}
	hostsFile := filepath.Join(dir, "worker.host")
	if err := os.WriteFile(hostsFile, []byte(hosts.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var together, alone bytes.Buffer
	if err := run(ctx, []string{"master", "-text", "../../LICENSE", "-hosts", hostsFile}, &together); err != nil {
		t.Fatal(err)
	}
	if err := run(ctx, []string{"local", "-text", "../../LICENSE"}, &alone); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(together.String(), alone.String()) {
		t.Errorf("together:\n%s\nalone:\n%s", together.String(), alone.String())
	}
}

func TestWorkersOfOneMachineHavePortsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ variable, host, want string }{
		"outside of a job":         {"", "localhost", "localhost:7070"},
		"worker 0":                 {"0", "wordcount-worker-0.wordcount", "wordcount-worker-0.wordcount:7070"},
		"worker 3":                 {"3", "wordcount-worker-3.wordcount", "wordcount-worker-3.wordcount:7073"},
		"a port that the line has": {"3", "127.0.0.1:99", "127.0.0.1:99"},
	} {
		index, err := indexOf(c.variable)
		if got := addressOf(index, c.host); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
	for _, wrong := range []string{"x", "-1", "60000"} {
		if index, err := indexOf(wrong); err == nil {
			t.Errorf("%q is index %d", wrong, index)
		}
	}
}

func TestDealingAndMergingLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a-cA-C ,.]{0,20}`)).Draw(t, "lines")
		total := map[string]int{}
		for _, part := range deal(lines, rapid.IntRange(1, 7).Draw(t, "workers")) {
			merge(total, count(part))
		}
		if diff := cmp.Diff(count(lines), total); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestWrongUseIsToldAndRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no role":         {},
		"an unknown role": {"boss"},
		"no such text":    {"local", "-text", "/nowhere"},
		"no such hosts":   {"master", "-text", "../../LICENSE", "-hosts", "/nowhere"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
