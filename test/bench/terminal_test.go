package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program in its own terminal, with its output.
type terminal struct {
	master  *os.File
	process *exec.Cmd

	mu      sync.Mutex
	written strings.Builder
	chunks  chan time.Time // the times of writes; dropped if not received
}

// startTerminal starts a program in a terminal of this size. It is stopped when the test ends.
func startTerminal(t *testing.T, columns, rows uint16, program string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG=/dev/null", "HOME="+t.TempDir(), "TERM=xterm-256color", "LANG=C.UTF-8")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	term := &terminal{master: master, process: cmd, chunks: make(chan time.Time, 1)}
	go term.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = master.Close()
	})
	return term
}

func (s *terminal) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := s.master.Read(buffer)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.written.Write(buffer[:n])
		s.mu.Unlock()
		select {
		case s.chunks <- time.Now():
		default:
		}
	}
}

func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

// until waits until the output meets a condition, and returns the time of that.
func (s *terminal) until(t *testing.T, limit time.Duration, wanted func(string) bool) time.Time {
	t.Helper()
	end := time.After(limit)
	for {
		select {
		case at := <-s.chunks:
			if wanted(s.text()) {
				return at
			}
		case <-end:
			t.Fatalf("the terminal does not show what is waited for; it shows\n%q", s.text())
		}
	}
}

func (s *terminal) send(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// silence is how long the program must write nothing before a key is sent, so that the next output is the response.
const silence = 60 * time.Millisecond

// longestSilence is how long to wait for silence, in case the program writes all the time.
const longestSilence = time.Second

// quiet waits until the program writes nothing.
func (s *terminal) quiet() {
	give := time.After(longestSilence)
	for {
		select {
		case <-give:
			return
		case <-s.chunks:
		case <-time.After(silence):
			return
		}
	}
}

// answer sends a key and returns the time until the next output.
func (s *terminal) answer(t *testing.T, key string) time.Duration {
	t.Helper()
	select {
	case <-s.chunks: // output from before is not a response
	default:
	}
	begin := time.Now()
	s.send(t, key)
	select {
	case at := <-s.chunks:
		return at.Sub(begin)
	case <-time.After(10 * time.Second):
		t.Fatalf("no answer to %q", key)
	}
	return 0
}

// shows sends text and returns the time until the program writes it, regardless of other output.
func (s *terminal) shows(t *testing.T, text string) time.Duration {
	t.Helper()
	s.mu.Lock()
	from := s.written.Len()
	s.mu.Unlock()
	begin := time.Now()
	s.send(t, text)
	return s.until(t, 10*time.Second, func(all string) bool { return strings.Contains(all[from:], text) }).Sub(begin)
}

// bytesPerSecond returns how many bytes the program writes in a second, measured over a period.
func (s *terminal) bytesPerSecond(period time.Duration) float64 {
	written := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.written.Len()
	}
	before := written()
	time.Sleep(period)
	return float64(written()-before) / period.Seconds()
}

// processorTime returns the processor time that the program has used.
func (s *terminal) processorTime(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks int64
	for _, at := range []int{11, 12} { // user and system
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// memory returns the current and the peak resident memory, in MB.
func (s *terminal) memory(t *testing.T) (now, most float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
			now = kib * 1024 / 1e6
		}
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			most = kib * 1024 / 1e6
		}
	}
	return now, most
}
