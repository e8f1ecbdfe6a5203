package controlplane

import (
	"fmt"
	"os"
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // owns etcdClientLog
)

// etcdClientLog is the log of the API server's etcd clients. It cannot be set
// otherwise, and would go to the terminal.
//
//go:linkname etcdClientLog k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcdClientLog *zap.Logger

// etcdLogger writes what etcd warns of.
func etcdLogger(log zapcore.WriteSyncer) *zap.Logger {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(encoding), log, zap.WarnLevel)
	return zap.New(core, zap.WithFatalHook(sayGoodbye{}))
}

// sayGoodbye is what etcd does when it cannot go on, for example because the
// disk is full: the process ends, since what was promised to be written is not.
type sayGoodbye struct{}

// OnWrite implements zapcore.CheckWriteHook.
func (sayGoodbye) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	text := entry.Message
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok {
			text += ": " + err.Error()
		}
	}
	fmt.Fprintf(os.Stderr, "error: etcd cannot go on: %s\nhint:  see whether the disk is full; what was acknowledged is kept\n", text)
	os.Exit(1)
}
