package logfile

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func clock() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Second); return now }
}

func TestReadOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c", "0.log")
	file, err := Create(path, clock())
	if err != nil {
		t.Fatal(err)
	}
	out, errs := file.Stream(Stdout), file.Stream(Stderr)
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		_, _ = io.WriteString(out, line)
	}
	_, _ = io.WriteString(errs, "oops\n")
	_, _ = io.WriteString(out, "no end")
	_ = out.Close()
	file.Close()

	all := Options{Tail: -1, LimitBytes: -1}
	with := func(f func(*Options)) Options { o := all; f(&o); return o }
	cases := map[string]struct {
		options Options
		want    string
	}{
		"everything":              {all, "one\ntwo\nthree\noops\nno end"},
		"the last two lines":      {with(func(o *Options) { o.Tail = 2 }), "oops\nno end"},
		"no lines":                {with(func(o *Options) { o.Tail = 0 }), ""},
		"more lines than there":   {with(func(o *Options) { o.Tail = 99 }), "one\ntwo\nthree\noops\nno end"},
		"a limit of bytes":        {with(func(o *Options) { o.LimitBytes = 6 }), "one\ntw"},
		"since a time":            {with(func(o *Options) { o.Since = time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC) }), "three\noops\nno end"},
		"one stream":              {with(func(o *Options) { o.Stream = Stderr }), "oops\n"},
		"a time before each line": {with(func(o *Options) { o.Timestamps, o.Tail = true, 2 }), "2026-01-02T03:04:09Z oops\n2026-01-02T03:04:11Z no end"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := Read(context.Background(), path, nil, c.options, &got); err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got.String(), c.want)
			}
		})
	}
}

func TestFollowSeesLaterLinesAndEndsWithTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	file, err := Create(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	go func() {
		_ = Read(context.Background(), path, file, Options{Tail: -1, LimitBytes: -1}, write)
		_ = write.Close()
	}()
	stream := file.Stream(Stdout)
	buffer := make([]byte, 16)
	for _, line := range []string{"a\n", "b\n"} {
		_, _ = io.WriteString(stream, line)
		n, _ := io.ReadAtLeast(read, buffer, len(line))
		if string(buffer[:n]) != line {
			t.Fatalf("got %q, want %q", buffer[:n], line)
		}
	}
	file.Close()
	if rest, err := io.ReadAll(read); err != nil || len(rest) != 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	directory := t.TempDir()
	count := 0
	rapid.Check(t, func(t *rapid.T) {
		count++
		path := filepath.Join(directory, strings.Repeat("x", count%200+1)+time.Now().Format("150405.000000000"))
		file, err := Create(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		stream := file.Stream(Stdout)
		var want bytes.Buffer
		for _, chunk := range rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", "bc\nd", strings.Repeat("z", maxLineBytes+1), " "})).Draw(t, "chunks") {
			want.WriteString(chunk)
			_, _ = io.WriteString(stream, chunk)
		}
		_ = stream.Close()
		file.Close()
		var got bytes.Buffer
		if err := Read(context.Background(), path, nil, Options{Tail: -1, LimitBytes: -1}, &got); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Fatalf("got %d bytes, want %d", got.Len(), want.Len())
		}
	})
}

func TestALongLogIsPutAsideAndStillRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	file, err := Create(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	file.limit = 1000
	stream := file.Stream(Stdout)
	read, write := io.Pipe()
	followed := make(chan string)
	go func() {
		text, _ := io.ReadAll(read)
		followed <- string(text)
	}()
	var want strings.Builder
	for i := range 30 { // about 45 bytes each: one rotation
		line := "line " + time.Duration(i).String() + "\n"
		want.WriteString(line)
		_, _ = io.WriteString(stream, line)
		if i == 0 {
			go func() {
				_ = Read(context.Background(), path, file, Options{Tail: -1, LimitBytes: -1}, write)
				_ = write.Close()
			}()
		}
	}
	read2 := func(tail int64) string {
		var got bytes.Buffer
		if err := Read(context.Background(), path, nil, Options{Tail: tail, LimitBytes: -1}, &got); err != nil {
			t.Fatal(err)
		}
		return got.String()
	}
	if got := read2(-1); got != want.String() {
		t.Errorf("all: got %q", got)
	}
	for _, tail := range []int64{1, 10, 25, 30, 100} {
		if got, lines := read2(tail), min(tail, 30); int64(strings.Count(got, "\n")) != lines || !strings.HasSuffix(want.String(), got) {
			t.Errorf("tail %d: got %q", tail, got)
		}
	}
	file.Close()
	if got := <-followed; got != want.String() {
		t.Errorf("followed: got %q", got)
	}
	if file.rotations != 1 {
		t.Errorf("%d rotations", file.rotations)
	}
}

func TestFollowersPrintNoLineTwiceWhileTheLogIsRotated(t *testing.T) {
	directory := t.TempDir()
	for i := range 500 {
		path := filepath.Join(directory, strconv.Itoa(i)+".log")
		file, err := Create(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		file.limit = 120 // a rotation every few lines
		stream := file.Stream(Stdout)
		_, _ = io.WriteString(stream, "0\n")
		followed := make(chan string)
		go func() {
			var out bytes.Buffer
			_ = Read(context.Background(), path, file, Options{Tail: -1, LimitBytes: -1}, &out)
			followed <- out.String()
		}()
		for line := 1; line < 20; line++ {
			_, _ = io.WriteString(stream, strconv.Itoa(line)+"\n")
		}
		file.Close()
		last := -1
		for _, text := range strings.Fields(<-followed) {
			line, err := strconv.Atoi(text)
			if err != nil || line <= last {
				t.Fatalf("line %q after line %d", text, last)
			}
			last = line
		}
	}
}
