package controlplane

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/klog/v2"
)

// logLimitBytes is the size at which a log file is rotated. A single old file is kept, so a log takes at most twice
// this size.
const logLimitBytes = 32 << 20

// LogFile is a log file with rotation. When the file reaches its maximum size, it is renamed to NAME.1 and a new file
// is created. Write never fails; if the disk is full, log lines are lost. A LogFile is safe for concurrent use.
type LogFile struct {
	path string

	mu      sync.Mutex
	file    *os.File
	written int64
}

// OpenLogFile opens the file at path for appending. It creates the file and its directory if necessary.
func OpenLogFile(path string) (*LogFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := &LogFile{path: path}
	return l, l.openForAppend()
}

func (l *LogFile) openForAppend() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file, l.written = file, 0
	if info, err := file.Stat(); err == nil {
		l.written = info.Size()
	}
	return nil
}

// Write implements io.Writer. It always reports success.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return len(p), nil
	}
	if l.written > logLimitBytes {
		_ = l.file.Close()
		l.file = nil
		_ = os.Rename(l.path, l.path+".1")
		if l.openForAppend() != nil {
			return len(p), nil
		}
	}
	n, _ := l.file.Write(p)
	l.written += int64(n)
	return len(p), nil
}

// Sync implements zap's WriteSyncer.
func (l *LogFile) Sync() error { return nil }

// Close closes the file. Later writes are dropped.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// SendKlogTo makes klog, the logger of all Kubernetes code, write only to w. Because klog is global, SendKlogTo must
// be called before any code that logs.
func SendKlogTo(w *LogFile) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true", "v": "0",
	} {
		_ = flags.Set(name, value)
	}
	klog.SetOutput(w)
	klog.OsExit = func(code int) {
		fmt.Fprintf(os.Stderr, "error: a component of the control plane cannot continue\nhint:  see the end of %s\n", w.path)
		os.Exit(code)
	}
}
