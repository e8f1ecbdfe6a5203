package podcommands

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/filecopy"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

// copyOptions lists the options that sbcast and sgather have in common.
var copyOptions = []getopt.Option{
	{Long: "force", Short: 'f', Help: "Replace existing files"},
	{Long: "preserve", Short: 'p', Help: "Preserve timestamps (the file mode is always preserved)"},
	{Long: "compress", Short: 'C', Arg: getopt.Optional, Value: "LIB", NoEffect: true, Help: "No effect: files are sent uncompressed"},
	{Long: "fanout", Short: 'F', Arg: getopt.Required, Value: "N", NoEffect: true, Help: "No effect: all nodes are contacted at the same time"},
	{Long: "size", Short: 's', Arg: getopt.Required, Value: "BYTES", NoEffect: true, Help: "No effect: the block size is always 32 KiB"},
	{Long: "timeout", Short: 't', Arg: getopt.Required, Value: "SECONDS", NoEffect: true, Help: "No effect: the command waits for a node as long as its pod runs"},
	{Long: "verbose", Short: 'v', Help: "Report each copy"},
}

// Options with which sbcast outside a job passes a file to sbcast in the head.
const (
	fromStdin = "from-stdin"
	stdinMode = "stdin-mode"
	stdinTime = "stdin-time"
)

// SbcastTable lists the options of sbcast.
var SbcastTable = *(&getopt.Table{Program: "sbcast", Operands: "SOURCE DESTINATION", Options: []getopt.Option{
	{Long: "jobid", Short: 'j', Arg: getopt.Required, Value: "JOB[.STEP]", Help: "Use the nodes of this job or step (default in a job: the current job)"},
	{Long: "exclude", Arg: getopt.Required, Value: "PATHS", NoEffect: true, Help: "No effect: shared libraries are not sent"},
	{Long: "send-libs", Arg: getopt.Optional, Value: "yes|no", NoEffect: true, Help: "No effect: shared libraries are not sent"},
	{Long: "treewidth", Arg: getopt.Required, Value: "N", NoEffect: true, Help: "No effect: all nodes are contacted at the same time"},
	{Long: fromStdin, Exact: true, Hidden: true},
	{Long: stdinMode, Arg: getopt.Required, Exact: true, Hidden: true},
	{Long: stdinTime, Arg: getopt.Required, Exact: true, Hidden: true},
}}).WithOptions(copyOptions...)

// source is the file that sbcast copies.
type source struct {
	io.Reader
	name  string
	stamp protocol.FileStamp
}

// RunSbcast copies a file to all nodes of the job.
var RunSbcast = (&command{table: &SbcastTable, isOwn: isOwnSbcast, run: broadcastFile}).execute

func broadcastFile(ctx context.Context, p getopt.Parsed) (int, error) {
	if len(p.Operands) != 2 {
		return 0, FileNamesError(p.Operands)
	}
	from, err := openSource(p)
	if err != nil {
		return 0, err
	}
	if file, is := from.Reader.(*os.File); is {
		defer file.Close()
	}
	path, err := filepath.Abs(p.Operands[1])
	if err != nil {
		return 0, err
	}
	if strings.HasSuffix(p.Operands[1], "/") {
		path = filepath.Join(path, from.name)
	}
	client, job, err := jobclient.RequestJob(ctx)
	if err != nil {
		return 0, err
	}
	hosts, err := requestedHosts(job, p)
	if err != nil {
		return 0, err
	}
	r := &protocol.FileRequest{Path: path, Stamp: from.stamp, Force: IsSwitchedOn(p, "force", "SBCAST_FORCE", os.Getenv)}
	c := &copies{client: client, program: "sbcast", verbose: p.Has("verbose")}
	return 0, c.sendFile(ctx, hosts, from, r)
}

// FileNamesError returns the error for a wrong number of file names.
func FileNamesError(operands []string) error {
	return usererror.Errorf("specify the file and the path of its copies, for example data.bin /tmp/data.bin", "Need two file names, have %d names", len(operands))
}

// IsSwitchedOn reports whether a switch is turned on by its option or by an environment variable.
func IsSwitchedOn(p getopt.Parsed, option, variable string, env func(string) string) bool {
	return p.Has(option) || env(variable) != ""
}

// openSource opens the file to copy. If sbcast was called outside the job, it uses the standard input instead.
func openSource(p getopt.Parsed) (*source, error) {
	name := p.Operands[0]
	s := &source{name: filepath.Base(name)}
	if p.Has(fromStdin) {
		s.Reader = os.Stdin
		mode, _ := p.LastValue(stdinMode)
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", stdinMode, err)
		}
		s.stamp.Mode = fs.FileMode(bits)
		if text, given := p.LastValue(stdinTime); given {
			if s.stamp.Modified, err = strconv.ParseInt(text, 10, 64); err != nil {
				return nil, fmt.Errorf("--%s: %w", stdinTime, err)
			}
			s.stamp.Accessed = s.stamp.Modified
		}
		return s, nil
	}
	file, info, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	s.Reader, s.stamp = file, filecopy.NewStamp(info, IsSwitchedOn(p, "preserve", "SBCAST_PRESERVE", os.Getenv))
	return s, nil
}

// OpenRegular opens a regular file for copying.
func OpenRegular(name string) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, usererror.Errorf("specify an existing file that you can read", "Can't open `%s`: %v", name, slurmerror.SystemReason(err))
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = usererror.Errorf("to copy a directory, pack it with tar and copy the archive", "Can't copy `%s`: not a regular file", name)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// requestedHosts returns the nodes of the job or, if --jobid specifies a step, the nodes of that step.
func requestedHosts(j *protocol.JobAnswer, p getopt.Parsed) ([]string, error) {
	text, given := p.LastValue("jobid")
	id, step, hasStep := strings.Cut(text, ".")
	if given && !j.Pod.HasID(id) {
		return nil, foreignJobError(id, &j.Pod)
	}
	if !hasStep {
		return j.Hosts, nil
	}
	for _, s := range j.Steps {
		if strconv.Itoa(s.ID) == step {
			return hostlist.ExpandList(s.Nodes)
		}
	}
	return nil, usererror.Errorf("steps are numbered from 0; if no step is specified, the file is copied to all nodes of the job", "Invalid job id specified: job %s has no step %s", j.Pod.SlurmJobID(), step)
}

// copies copies files by means of the agents on the nodes.
type copies struct {
	client  *jobclient.Client
	program string
	verbose bool
}

// target is a node that receives a copy.
type target struct {
	host string
	conn *protocol.Conn
	err  error
}

// sendFile copies a file to all hosts in parallel. A failure on one host does not affect the other hosts.
func (c *copies) sendFile(ctx context.Context, hosts []string, from *source, r *protocol.FileRequest) error {
	targets := make([]*target, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		targets[i] = &target{host: host}
		all.Go(func() { targets[i].requestCopy(ctx, c.client, r) })
	}
	all.Wait()
	buffer := make([]byte, protocol.ChunkSize)
	var readErr error
	for readErr == nil {
		var n int
		n, readErr = io.ReadFull(from, buffer)
		for _, t := range targets {
			if t.err == nil && n > 0 {
				all.Go(func() { t.err = t.conn.SendFrame(protocol.StdinFrame, 0, buffer[:n]) })
			}
		}
		all.Wait()
	}
	isWhole := filecopy.IsEndOfFile(readErr)
	for _, t := range targets {
		all.Go(func() { t.confirmCopy(isWhole) })
	}
	all.Wait()
	if !isWhole {
		return fmt.Errorf("read %s: %w", from.name, readErr)
	}
	var problems []error
	for _, t := range targets {
		switch {
		case t.err != nil:
			problems = append(problems, usererror.Errorf(usererror.FromError(t.err).Hint, "%s: %s: %v", t.host, r.Path, t.err))
		case c.verbose:
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", c.program, t.host, r.Path)
		}
	}
	return joinErrors(problems)
}

// requestCopy requests that the agent on the host accept a file.
func (t *target) requestCopy(ctx context.Context, client *jobclient.Client, r *protocol.FileRequest) {
	if t.conn, t.err = client.SendRequest(ctx, t.host, protocol.Request{Store: r}); t.err == nil {
		t.err = t.conn.ReceiveAnswer(nil, nil)
	}
}

// confirmCopy confirms to the agent that the file is complete. If the file is incomplete, confirmCopy only closes the
// connection, and the agent then removes the incomplete copy.
func (t *target) confirmCopy(isWhole bool) {
	if t.conn == nil {
		return
	}
	defer t.conn.Close()
	if t.err != nil || !isWhole {
		return
	}
	if t.err = t.conn.SendFrame(protocol.StdinEndFrame, 0, nil); t.err == nil {
		t.err = t.conn.ReceiveAnswer(nil, nil)
	}
}

// joinErrors combines several errors and their hints into a single error.
func joinErrors(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	var what, hints []string
	for _, problem := range problems {
		f := usererror.FromError(problem)
		what = append(what, f.What)
		if f.Hint != "" && (len(hints) == 0 || hints[len(hints)-1] != f.Hint) {
			hints = append(hints, f.Hint)
		}
	}
	return usererror.Errorf(strings.Join(hints, "\n"), "%s", strings.Join(what, "\n"))
}

// isOwnSbcast reports whether sbcast copies a file only to this job.
func isOwnSbcast(client *jobclient.Client, p getopt.Parsed) bool {
	id, given := p.LastValue("jobid")
	return !given || client.MayBeOwnID(id)
}
