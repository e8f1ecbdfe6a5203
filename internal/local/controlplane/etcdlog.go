package controlplane

import (
	"fmt"
	"os"
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // owns etcdClientLog
)

// etcdClientLog is the logger of the API server's etcd clients. There is no other way to set it, and by default it
// writes to the terminal.
//
//go:linkname etcdClientLog k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcdClientLog *zap.Logger

// etcdLogger returns a logger for etcd's warnings and errors.
func etcdLogger(log zapcore.WriteSyncer) *zap.Logger {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(encoding), log, zap.WarnLevel)
	return zap.New(core, zap.WithFatalHook(sayGoodbye{}))
}

// sayGoodbye handles a fatal error in etcd, such as a full disk. It ends the process, because etcd can no longer store
// data that it has accepted.
type sayGoodbye struct{}

// OnWrite implements zapcore.CheckWriteHook.
func (sayGoodbye) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	text := entry.Message
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok {
			text += ": " + err.Error()
		}
	}
	fmt.Fprintf(os.Stderr, "error: etcd cannot continue: %s\nhint:  check that the disk is not full; acknowledged writes are not lost\n", text)
	os.Exit(1)
}
