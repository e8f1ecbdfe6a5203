package podcommands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/step/filecopy"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

// SgatherTable lists the options of sgather.
var SgatherTable = *(&getopt.Table{Program: "sgather", Operands: "SOURCE DESTINATION", Options: []getopt.Option{
	{Long: "jobid", Short: 'j', Arg: getopt.Required, Value: "JOB[.STEP]", Help: "Gather only from the nodes of this job or step"},
	{Long: "keep", Short: 'k', Help: "Keep the files on the nodes instead of removing them after the copy"},
	{Long: "recursive", Short: 'r', Help: "Copy a directory with its contents"},
}}).WithOptions(copyOptions...)

// RunSgather copies a file from each node of the job to the node on which it is called.
var RunSgather = (&command{table: &SgatherTable, run: gatherFiles}).execute

func gatherFiles(ctx context.Context, p getopt.Parsed) (int, error) {
	from, to, err := gatherFileNames(p)
	if err != nil {
		return 0, err
	}
	client, job, err := jobclient.RequestJob(ctx)
	if err != nil {
		return 0, err
	}
	hosts, err := requestedHosts(job, p)
	if err != nil {
		return 0, err
	}
	g := &gathering{from: from, tree: p.Has("recursive"), keep: IsSwitchedOn(p, "keep", "SGATHER_KEEP", os.Getenv)}
	g.storing = filecopy.ReceiveOptions{Replace: IsSwitchedOn(p, "force", "SGATHER_FORCE", os.Getenv), KeepTimes: IsSwitchedOn(p, "preserve", "SGATHER_PRESERVE", os.Getenv)}
	problems := make([]error, len(hosts))
	conns := make([]*protocol.Conn, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() { conns[i], problems[i] = g.fetchCopy(ctx, client, host, to+"."+host) })
	}
	all.Wait()
	for i, conn := range conns { // only after all files have arrived, because nodes may share a disk
		if conn != nil {
			all.Go(func() { problems[i] = confirmComplete(conn) })
		}
	}
	all.Wait()
	var withHost []error
	for i, err := range problems {
		switch {
		case err != nil:
			withHost = append(withHost, usererror.Errorf(usererror.FromError(err).Hint, "%s: %v", hosts[i], err))
		case p.Has("verbose"):
			fmt.Fprintf(os.Stderr, "sgather: %s.%s\n", to, hosts[i])
		}
	}
	return 0, joinErrors(withHost)
}

// gathering holds the options of sgather.
type gathering struct {
	from string
	keep bool
	// tree permits copying directories.
	tree    bool
	storing filecopy.ReceiveOptions
}

// gatherFileNames returns the absolute names of the source and of the copies. It rejects copying a directory into
// itself, because the copy would never end, or would be removed together with the source.
func gatherFileNames(p getopt.Parsed) (from, to string, err error) {
	if len(p.Operands) != 2 {
		return "", "", FileNamesError(p.Operands)
	}
	for i, name := range []*string{&from, &to} {
		if p.Operands[i] == "" {
			return "", "", usererror.Errorf("check for an unset shell variable", "A file name is empty")
		}
		if *name, err = filepath.Abs(p.Operands[i]); err != nil {
			return "", "", err
		}
	}
	isInside := strings.HasPrefix(to, strings.TrimSuffix(from, "/")+"/")
	if p.Has("recursive") && isInside {
		return "", "", usererror.Errorf("specify a destination outside the source", "Can't copy `%s` into itself: %s", from, to)
	}
	return from, to, nil
}

// fetchCopy copies the file from a host. The caller must call confirmComplete for the returned connection.
func (g *gathering) fetchCopy(ctx context.Context, client *jobclient.Client, host, to string) (*protocol.Conn, error) {
	conn, err := client.SendRequest(ctx, host, protocol.Request{Fetch: &protocol.FileRequest{Path: g.from, Remove: !g.keep, Tree: g.tree}})
	if err != nil {
		return nil, err
	}
	if err := filecopy.Receive(conn, g.from, to, g.storing); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// confirmComplete confirms to the agent that the copy is complete. It then waits for the agent's response, which
// follows the removal of the source if the source must be removed.
func confirmComplete(conn *protocol.Conn) error {
	defer conn.Close()
	if err := conn.SendFrame(protocol.StdinEndFrame, 0, nil); err != nil {
		return err
	}
	return conn.ReceiveAnswer(nil, nil)
}
