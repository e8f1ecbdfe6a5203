package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap/zapcore"
)

const (
	// longestSocketPath is the maximum length of a socket path, a little less than the 108 bytes that Linux allows.
	longestSocketPath = 100
	// etcdQuotaBytes is the maximum size of the database. A benchmark with hundreds of thousands of pods needs more
	// than etcd's default of 2 GiB.
	etcdQuotaBytes = 8 << 30
	// etcdLargestRequestBytes is large enough for big Jobs and ConfigMaps.
	etcdLargestRequestBytes = 8 << 20
)

// clientSocket is etcd's only socket.
const clientSocket = "client.sock"

// store is a running etcd with one member.
type store struct {
	server    *embed.Etcd
	socketDir string
	socket    string
}

// startStore runs etcd on a unix socket and waits until it accepts writes.
func startStore(ctx context.Context, dir string, noSync bool, log zapcore.WriteSyncer) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	etcdClientLog = etcdLogger(log)
	socketDir, _, err := SocketDir(dir, clientSocket)
	if err != nil {
		return nil, err
	}
	s := &store{socketDir: socketDir, socket: filepath.Join(socketDir, clientSocket)}
	s.server, err = embed.StartEtcd(etcdConfig(dir, socketDir, noSync, log))
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-s.server.Server.ReadyNotify():
		return s, nil
	case err := <-s.server.Err():
		s.stopEtcd()
		return nil, fmt.Errorf("etcd: %w", err)
	case <-ctx.Done():
		s.stopEtcd()
		return nil, fmt.Errorf("etcd: %w", ctx.Err())
	}
}

func etcdConfig(dir, socketDir string, noSync bool, log zapcore.WriteSyncer) *embed.Config {
	client := url.URL{Scheme: "unix", Path: filepath.Join(socketDir, clientSocket)}
	// A member must announce an address, but no process listens on this one or connects to it.
	nowhere := url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	cfg := embed.NewConfig()
	cfg.Name = "vc-local"
	cfg.Dir = filepath.Join(dir, "data")
	cfg.ListenClientUrls = []url.URL{client}
	cfg.AdvertiseClientUrls = []url.URL{nowhere}
	cfg.ListenPeerUrls = nil
	cfg.AdvertisePeerUrls = []url.URL{nowhere}
	cfg.InitialCluster = cfg.Name + "=" + nowhere.String()
	cfg.QuotaBackendBytes = etcdQuotaBytes
	cfg.MaxRequestBytes = etcdLargestRequestBytes
	// The raft log is kept in memory between snapshots. It can be short because only this member reads it.
	cfg.SnapshotCount = 2000
	cfg.SnapshotCatchUpEntries = 100
	cfg.UnsafeNoFsync = noSync
	cfg.EnableGRPCGateway = false
	cfg.Metrics = "basic"
	// A single member elects itself after the election timeout, so short ticks speed up the start.
	cfg.TickMs, cfg.ElectionMs = 20, 100
	cfg.WarningApplyDuration = time.Second
	cfg.WarningUnaryRequestDuration = time.Second
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(etcdLogger(log))
	return cfg
}

// SocketDir returns a directory for a unix socket with the given name: dir or, if the resulting path would be too
// long for a socket, a new private directory in the system's temporary directory. made reports whether the directory
// is new.
func SocketDir(dir, name string) (path string, made bool, err error) {
	absolute, err := filepath.Abs(dir)
	if err == nil && len(filepath.Join(absolute, name)) <= longestSocketPath {
		return absolute, false, nil
	}
	path, err = os.MkdirTemp("", "vc-local-")
	return path, true, err
}

// endpoint returns the address for etcd's clients.
func (s *store) endpoint() string { return "unix://" + s.socket }

// failureChannel returns a channel that receives the error if etcd fails.
func (s *store) failureChannel() <-chan error { return s.server.Err() }

func (s *store) stopEtcd() {
	s.server.Close()
	// The directory is empty, and is therefore removed, only if it was created for the socket.
	_ = errors.Join(os.Remove(s.socket), os.Remove(s.socketDir))
}
