package agent_test

import (
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/step/agent"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// stepRounds is the number of steps that each test for lost output runs.
var stepRounds = flag.Int("step.rounds", 15, "how many steps each test for lost output runs")

const (
	// sendBuffer is large enough for all output of a test's tasks; receiveBuffer holds only a small part of it.
	sendBuffer, receiveBuffer = 1 << 20, 32 << 10
)

// bufferedListener accepts connections with a large kernel buffer for sending.
type bufferedListener struct{ net.Listener }

func (l bufferedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if tcp, is := connection.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	return connection, err
}

// serveAgent runs the agent of a job on the loopback address. The returned function connects to it as another pod of
// the job does.
func serveAgent(t *testing.T) (connect func() *protocol.Conn) {
	t.Helper()
	identity := identityOf(t, "aa")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	a := agent.New(os.Environ(), nil)
	go a.ServeConnections(tls.NewListener(bufferedListener{listener}, identity))
	return func() *protocol.Conn {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.(*net.TCPConn).SetReadBuffer(receiveBuffer)
		return protocol.NewConn(tls.Client(connection, identity))
	}
}

// received holds what a peer has received from an agent.
type received struct {
	OutputBytes, Exits int
	Problem            string
	Answered           bool
}

// receiveAll reads frames until the agent answers or reports an error, or until the connection ends.
func receiveAll(conn *protocol.Conn) (r received) {
	for {
		f, err := conn.ReceiveFrame()
		if err != nil {
			r.Problem = err.Error()
			return r
		}
		switch f.Kind {
		case protocol.StdoutFrame:
			r.OutputBytes += len(f.Data)
		case protocol.ExitFrame:
			r.Exits++
		case protocol.ErrorFrame:
			r.Problem = protocol.DecodeError(f.Data).What
			return r
		case protocol.AnswerFrame:
			r.Answered = true
			return r
		}
	}
}

// keepSending sends input for task 0 until the connection is closed.
func keepSending(conn *protocol.Conn) {
	piece := make([]byte, 1024)
	for conn.SendFrame(protocol.StdinFrame, 0, piece) == nil {
	}
}

// An agent that closes its connection while input is unread makes the kernel reset the connection. A reset discards
// what the agent has written and the peer has not received yet.
func TestNothingIsLostWhenInputArrivesAfterTheTasksHaveEnded(t *testing.T) {
	t.Parallel()
	const tasks, size = 16, 8 << 10
	cases := map[string]struct {
		args []string // of each task
		want received
	}{
		"output and exit codes": {[]string{"sh", "-c", fmt.Sprintf("head -c %d /dev/zero; echo >>ended", size)}, received{OutputBytes: tasks * size, Exits: tasks, Answered: true}},
		"an error":              {nil, received{Problem: "task 0 has no command"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connect := serveAgent(t)
			for round := range *stepRounds {
				ask := &protocol.TasksRequest{Dir: t.TempDir()}
				for rank := range tasks {
					ask.Tasks = append(ask.Tasks, protocol.Task{Rank: rank, Args: c.args, Stdin: true})
				}
				conn := connect()
				if err := conn.SendJSON(protocol.AskFrame, 0, protocol.Request{Tasks: ask}); err != nil {
					t.Fatal(err)
				}
				go keepSending(conn)
				for ended := 0; ended < c.want.Exits; {
					lines, _ := os.ReadFile(filepath.Join(ask.Dir, "ended"))
					ended = len(lines)
				}
				got := receiveAll(conn)
				_ = conn.Close()
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("round %d (-want +got)\n%s", round, diff)
				}
			}
		})
	}
}
