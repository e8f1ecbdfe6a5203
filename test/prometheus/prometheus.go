// Package prometheus starts a Prometheus server for tests.
package prometheus

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Start starts a real Prometheus server with past samples in the OpenMetrics format. The server scrapes an exporter every
// second, and labels the samples as servers in Kubernetes do. It returns the server's URL.
func Start(t *testing.T, history, exporter string) string {
	t.Helper()
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed; Debian's package is prometheus", program)
		}
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", write("history", history), data).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
	config := write("prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s}
scrape_configs:
- job_name: dcgm
  static_configs: [{targets: [%q], labels: {namespace: gpu-operator, pod: dcgm-exporter-x7k2p}}]
`, exporter))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	server := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+address) //nolint:gosec // the test's own arguments
	server.Stdout, server.Stderr = &output, &output
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Logf("Prometheus:\n%s", output.String())
		}
	})
	return "http://" + address
}
