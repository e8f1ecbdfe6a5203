package gather

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const serverOnly = "VC_GATHER_SERVER"

// TestMain is also the server of the benchmark, in a process of its own, so that
// the client's processor time is the client's.
func TestMain(m *testing.M) {
	if os.Getenv(serverOnly) == "" {
		os.Exit(m.Run())
	}
	answer := bytes.Repeat([]byte("x"), 900)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(3 * time.Millisecond) // about what the API server takes
		_, _ = w.Write(answer)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
}

// BenchmarkPatch is the client's processor time of a small patch, fifty at a time.
func BenchmarkPatch(b *testing.B) {
	dial := (&net.Dialer{}).DialContext
	for _, connections := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("plain, connections %d", connections), func(b *testing.B) { benchmarkPatch(b, dial, connections) })
		b.Run(fmt.Sprintf("gathered, connections %d", connections), func(b *testing.B) { benchmarkPatch(b, Dialer(dial), connections) })
	}
}

func benchmarkPatch(b *testing.B, dial Dial, connections int) {
	url := startServer(b)
	var transports []*http.Transport
	for range connections {
		one := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true} //nolint:gosec // of this benchmark
		defer one.CloseIdleConnections()
		transports = append(transports, one)
	}
	body := bytes.Repeat([]byte("y"), 300)
	patch := func(i int) {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPatch, fmt.Sprintf("%s/api/v1/namespaces/default/pods/pod-%d/status", url, i), bytes.NewReader(body))
		if err != nil {
			b.Error(err)
			return
		}
		response, err := transports[i%connections].RoundTrip(r)
		if err != nil {
			b.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	all := func(n int) {
		var next atomic.Int64
		var workers sync.WaitGroup
		for range 50 {
			workers.Go(func() {
				for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
					patch(i)
				}
			})
		}
		workers.Wait()
	}
	all(200) // connections are made
	b.ResetTimer()
	before := used(b)
	all(b.N)
	b.ReportMetric(float64((used(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
}

func startServer(b *testing.B) (url string) {
	b.Helper()
	server := exec.Command(os.Args[0]) //nolint:gosec // this binary
	server.Env = append(os.Environ(), serverOnly+"=1")
	in, err := server.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = server.Wait()
	})
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
