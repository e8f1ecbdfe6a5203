// Package postgres starts a PostgreSQL server for tests.
package postgres

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of database/sql
)

// Server is a server that listens on a Unix socket only.
type Server struct {
	directory string
	userID    int
	databases atomic.Int32
	// command returns a new process of the server. stop ends the current one by a signal and waits for its end.
	command func() *exec.Cmd
	stop    func(syscall.Signal)
}

// serverUser is the user of the server when tests run as root, and the name of the database's administrator.
const serverUser = "postgres"

// Start starts a server with some settings, such as "fsync=off". The test stops it at its end. The test is skipped if
// PostgreSQL is not installed.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	programs := programDirectory()
	if programs == "" {
		t.Skip("PostgreSQL is not installed: there is no initdb in PATH or /usr/lib/postgresql/*/bin")
	}
	owner := credential(t)
	directory := makeDirectory(t, owner)
	data := filepath.Join(directory, "data")
	initdb := exec.Command(filepath.Join(programs, "initdb"), "--pgdata", data, "--auth=trust", "--username="+serverUser,
		"--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir = directory
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	if output, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, output)
	}
	args := []string{"-D", data, "-k", directory, "-c", "listen_addresses="}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s := &Server{directory: directory, userID: os.Getuid()}
	if owner != nil {
		s.userID = int(owner.Uid)
	}
	s.command = func() *exec.Cmd {
		process := exec.Command(filepath.Join(programs, "postgres"), args...)
		process.Dir = directory
		process.Env = append(os.Environ(), "LC_ALL=C")
		// The process group keeps the signals of a terminal away from the server: the test stops it.
		process.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
		return process
	}
	s.run(t)
	t.Cleanup(func() { s.stop(syscall.SIGINT) }) // ends all sessions
	return s
}

// Restart kills all processes of the server with SIGKILL, and starts it again. It returns when the server accepts
// connections.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.stop(syscall.SIGKILL)
	s.run(t)
}

// programDirectory returns the directory of the newest installed version, or "".
func programDirectory() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// credential returns the user of the server, or nil for the current user. The server refuses to run as root.
func credential(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup(serverUser)
	if err != nil {
		t.Skipf("PostgreSQL does not run as root, and there is no user %s: %v", serverUser, err)
	}
	uid, err1 := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		t.Fatalf("user %s has uid %s and gid %s", serverUser, account.Uid, account.Gid)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// makeDirectory makes a directory of the server's user. The path of a socket may have 107 characters, and the directories
// of package testing are closed to other users.
func makeDirectory(t testing.TB, owner *syscall.Credential) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "vc-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	if owner != nil {
		if err := os.Chown(directory, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// run starts the server, and returns when it accepts connections.
func (s *Server) run(t testing.TB) {
	t.Helper()
	server := s.command()
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		err := server.Start()
		if err == nil {
			started <- waitUntilReady(log)
			_, _ = io.Copy(io.Discard, log)
			err = server.Wait()
		}
		select {
		case started <- err:
		default:
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("postgres: %v", err)
	}
	s.stop = func(signal syscall.Signal) {
		target := server.Process.Pid
		if signal == syscall.SIGKILL {
			target = -target // the processes of its sessions, too
		}
		_ = syscall.Kill(target, signal)
		<-ended
	}
}

// waitUntilReady reads the log of a server until it accepts connections.
func waitUntilReady(log io.Reader) error {
	var text strings.Builder
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "database system is ready to accept connections") {
			return nil
		}
	}
	return fmt.Errorf("the server ended:\n%s", text.String())
}

// NewDatabase creates an empty database and returns its URL.
func (s *Server) NewDatabase(t testing.TB) string {
	t.Helper()
	name := s.newName()
	s.execute(t, "CREATE DATABASE "+name)
	return s.url(name)
}

// NewDatabaseIn creates an empty database in a directory, which must belong to the user of the server. The test removes
// the database at its end.
func (s *Server) NewDatabaseIn(t testing.TB, directory string) string {
	t.Helper()
	name := s.newName()
	s.execute(t, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, directory))
	s.execute(t, fmt.Sprintf("CREATE DATABASE %s TABLESPACE %s", name, name))
	t.Cleanup(func() {
		s.execute(t, "DROP DATABASE "+name+" WITH (FORCE)")
		s.execute(t, "DROP TABLESPACE "+name)
	})
	return s.url(name)
}

func (s *Server) newName() string { return fmt.Sprintf("test%d", s.databases.Add(1)) }

// execute runs a statement as the administrator.
func (s *Server) execute(t testing.TB, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", s.url(serverUser))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// UserID returns the user of the server.
func (s *Server) UserID() int { return s.userID }

// url returns the URL of a database.
func (s *Server) url(database string) string {
	query := url.Values{"host": {s.directory}, "user": {serverUser}}
	return (&url.URL{Scheme: "postgres", Host: "", Path: "/" + database, RawQuery: query.Encode()}).String()
}
