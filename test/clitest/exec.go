package clitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// process is the process behind an exec or attach. It implements these programs for the tests:
//
//	true | exit N        exit with 0, or with N
//	echo WORD...         print the words; words that begin with ! go to standard error
//	cat                  print the input until it ends
//	cut                  print a line, then break the connection
//	keys                 print a line, then every input byte until q
//	…/vc-step WORD...    print the words
//	size                 print the size of the terminal after each change, until q
//
// Attach connects to a "cat" that has printed a line.
type process struct {
	tty bool
	in  *bufio.Reader
	err io.Writer

	mu   sync.Mutex // guards the fields below
	out  io.Writer
	size string
	// shown is true if sizes are printed.
	shown bool
}

// serveExec responds to exec and attach requests over WebSockets.
func (s *Server) serveExec(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	on := func(name string, kind wsstream.ChannelType) wsstream.ChannelType {
		if query.Get(name) == "true" {
			return kind
		}
		return wsstream.IgnoreChannel
	}
	channels := []wsstream.ChannelType{on("stdin", wsstream.ReadChannel), wsstream.WriteChannel, on("stderr", wsstream.WriteChannel),
		wsstream.WriteChannel, on("tty", wsstream.ReadChannel)}
	protocols := map[string]wsstream.ChannelProtocolConfig{}
	for _, version := range []string{"v5.channel.k8s.io", "v4.channel.k8s.io"} {
		protocols[version] = wsstream.ChannelProtocolConfig{Binary: true, Channels: channels}
	}
	conn := wsstream.NewConn(protocols)
	r = r.WithContext(klog.NewContext(r.Context(), logr.Discard())) // otherwise it logs that the connection was closed
	_, streams, err := conn.Open(w, r)
	if err != nil {
		s.t.Logf("%s: %v", r.URL, err)
		return
	}
	defer func() { _ = conn.Close() }()
	p := &process{tty: query.Get("tty") == "true", in: bufio.NewReader(streams[0]), out: streams[1], err: streams[2]}
	go p.readSizes(streams[4])
	command := query["command"]
	if strings.HasSuffix(r.URL.Path, "/attach") {
		p.printLine("attached to " + query.Get("container"))
		command = []string{"cat"}
	}
	if command[0] == "cut" {
		p.printLine("it runs")
		_ = connectionOf(r).Close()
		return
	}
	_ = json.NewEncoder(streams[3]).Encode(exitStatus(p.runCommand(command)))
}

// exitStatus returns the status that reports the exit code of a process.
func exitStatus(code int) metav1.Status {
	if code == 0 {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	return metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode", Message: fmt.Sprintf("command terminated with exit code %d", code),
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(code)}}}}
}

func (p *process) runCommand(command []string) int {
	if strings.HasSuffix(command[0], "/vc-step") {
		command = append([]string{"echo", "vc-step"}, command[1:]...)
	}
	switch command[0] {
	case "true":
	case "exit":
		code, err := strconv.Atoi(command[1])
		if err != nil {
			return 1
		}
		return code
	case "echo":
		for _, word := range command[1:] {
			if rest, toErr := strings.CutPrefix(word, "!"); toErr {
				_, _ = io.WriteString(p.err, rest+"\n")
			}
		}
		p.printLine(strings.Join(slices.DeleteFunc(command[1:], func(word string) bool { return strings.HasPrefix(word, "!") }), " "))
	case "cat":
		_, _ = io.Copy(p.out, p.in)
	case "keys":
		p.printLine("listening")
		p.readKeys(func(key byte) { p.printLine(fmt.Sprintf("%q", key)) })
	case "size":
		p.showSizes()
		p.readKeys(func(byte) {})
	default:
		p.printLine(command[0] + ": not found")
		return 127
	}
	return 0
}

// printLine prints a line.
func (p *process) printLine(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := "\n"
	if p.tty {
		end = "\r\n"
	}
	_, _ = io.WriteString(p.out, text+end)
}

// readKeys reads bytes until q or the end of the input.
func (p *process) readKeys(pressed func(byte)) {
	for {
		key, err := p.in.ReadByte()
		if err != nil || key == 'q' {
			return
		}
		pressed(key)
	}
}

// readSizes reads the sizes of the terminal. They must be read even if they are not used, because they precede the
// input.
func (p *process) readSizes(from io.Reader) {
	decoder := json.NewDecoder(from)
	for {
		var size struct{ Width, Height uint16 }
		if err := decoder.Decode(&size); err != nil {
			return
		}
		p.mu.Lock()
		p.size = fmt.Sprintf("%d columns, %d lines", size.Width, size.Height)
		if p.shown {
			_, _ = io.WriteString(p.out, p.size+"\r\n")
		}
		p.mu.Unlock()
	}
}

// showSizes prints the current size and all sizes that follow.
func (p *process) showSizes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	if p.size != "" {
		_, _ = io.WriteString(p.out, p.size+"\r\n")
	}
}
