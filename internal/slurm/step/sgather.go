package step

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// SgatherTable is what sgather understands.
var SgatherTable = *(&getopt.Table{Program: "sgather", Operands: "SOURCE DESTINATION", Options: []getopt.Option{
	{Long: "jobid", Short: 'j', Arg: getopt.Required, Value: "JOB[.STEP]", Help: "The nodes of a step of this job"},
	{Long: "keep", Short: 'k', Help: "Leave the files on the nodes; otherwise they are removed when they were copied"},
	{Long: "recursive", Short: 'r', Help: "Refused: directories are not copied"},
}}).With(copyOptions...)

// Sgather copies a file of each node of the job to the node where it runs.
func Sgather(ctx context.Context, args []string) int {
	p, err := SgatherTable.Parse(args)
	if err != nil {
		return report("sgather", fault.Usage("sgather", err))
	}
	if informed(&SgatherTable, p) {
		return 0
	}
	return report("sgather", sgather(ctx, p))
}

func sgather(ctx context.Context, p getopt.Parsed) error {
	switch {
	case p.Has("recursive"):
		return fault.Errorf("pack the directory on each node first: srun --ntasks-per-node=1 tar cf /tmp/dir.tar DIR", "--recursive is not supported here")
	case len(p.Operands) != 2:
		return TwoNames(p.Operands)
	}
	from, err := filepath.Abs(p.Operands[0])
	if err != nil {
		return err
	}
	to, err := filepath.Abs(p.Operands[1])
	if err != nil {
		return err
	}
	h, job, err := ownJob(ctx)
	if err != nil {
		return err
	}
	hosts, err := job.hostsOf(p)
	if err != nil {
		return err
	}
	g := &gathering{from: from, keep: IsOn(p, "keep", "SGATHER_KEEP", os.Getenv), force: IsOn(p, "force", "SGATHER_FORCE", os.Getenv), times: IsOn(p, "preserve", "SGATHER_PRESERVE", os.Getenv)}
	problems := make([]error, len(hosts))
	wires := make([]*wire, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() { wires[i], problems[i] = g.fetch(ctx, h, host, to+"."+host) })
	}
	all.Wait()
	for i, w := range wires { // not before all files are here: nodes may share a disk
		if w != nil {
			all.Go(func() { problems[i] = w.release() })
		}
	}
	all.Wait()
	var told []error
	for i, err := range problems {
		switch {
		case err != nil:
			told = append(told, fault.Errorf(fault.Of(err).Hint, "%s: %v", hosts[i], err))
		case p.Has("verbose"):
			fmt.Fprintf(os.Stderr, "sgather: %s.%s\n", to, hosts[i])
		}
	}
	return joined(told)
}

// gathering is what sgather was told.
type gathering struct {
	from               string
	keep, force, times bool
}

// fetch copies the file of one host. The connection that it returns waits for release.
func (g *gathering) fetch(ctx context.Context, h *here, host, to string) (*wire, error) {
	w, err := h.ask(ctx, host, request{Fetch: &fileRequest{Path: g.from, Remove: !g.keep}})
	if err != nil {
		return nil, err
	}
	if err := g.receive(w, to); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// release tells the agent that its file is here, and waits until it has removed it if it is to.
func (w *wire) release() error {
	defer w.Close()
	if err := w.send(stdinEndFrame, 0, nil); err != nil {
		return err
	}
	return w.answer(nil, nil)
}

// receive writes the file that an agent sends.
func (g *gathering) receive(w *wire, to string) error {
	var stamp fileStamp
	if err := w.answer(&stamp, nil); err != nil {
		return fmt.Errorf("%s: %w", g.from, err)
	}
	if !g.times {
		stamp.Accessed, stamp.Modified = 0, 0
	}
	file, err := createFile(to, g.force, stamp)
	if err != nil {
		hint := ""
		if os.IsExist(err) {
			hint = "--force replaces it"
		}
		return fault.Errorf(hint, "%s: %v", to, err)
	}
	if err := receiveFile(w, file); err != nil {
		file.discard()
		return fmt.Errorf("%s: %w", to, err)
	}
	if err := file.complete(); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return nil
}

// receiveFile writes what comes until its end.
func receiveFile(w *wire, to *newFile) error {
	for {
		f, err := w.receive()
		switch {
		case err != nil:
			return err
		case f.kind == stdoutFrame:
			if _, err := to.Write(f.data); err != nil {
				return err
			}
		case f.kind == errorFrame:
			return errorOf(f.data)
		case f.kind == answerFrame:
			return json.Unmarshal(f.data, &struct{}{})
		default:
			return fmt.Errorf("a file is sent with a message of kind %d", f.kind)
		}
	}
}
