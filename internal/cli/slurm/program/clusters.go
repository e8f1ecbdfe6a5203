package program

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// selectedClusters returns the contexts that -M selects. given reports whether -M is specified, and all reports whether
// it selects all contexts.
func (c *Call) selectedClusters() (names []string, given, all bool, err error) {
	text, given := c.OptionOrVariable("clusters", "SLURM_CLUSTERS")
	if value, also := c.Parsed.LastValue("cluster"); also {
		text, given = value, true
	}
	if !given {
		return nil, false, false, nil
	}
	raw, err := c.Factory.Config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, true, true, err
	}
	known := slices.Sorted(maps.Keys(raw.Contexts))
	if names = SplitList(text); slices.Contains(names, "all") {
		return known, true, true, nil
	}
	hint := "specify kubeconfig contexts: " + strings.Join(known, ", ") + ", or all"
	if len(names) == 0 {
		return nil, true, false, usererror.Errorf(hint, "--clusters is empty")
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, true, false, usererror.Errorf(hint, "'%s' is an invalid entry for --cluster.", name)
		}
	}
	return names, true, false, nil
}

// inCluster returns a copy of the call that uses another cluster.
func (c *Call) inCluster(cluster string) *Call {
	one := *c
	streams := *c.Factory.Streams
	one.Factory = cli.NewFactory(c.Factory.Program, &streams)
	one.Factory.Now = c.Factory.Now
	// The path of the kubeconfig and the identity of the user are the same for all clusters; only the context
	// differs, which selects the server.
	from, to := c.Factory.Config, one.Factory.Config
	*to.KubeConfig, *to.Namespace, *to.CacheDir, *to.Timeout = *from.KubeConfig, *from.Namespace, *from.CacheDir, *from.Timeout
	*to.Impersonate, *to.ImpersonateUID, *to.ImpersonateGroup = *from.Impersonate, *from.ImpersonateUID, *from.ImpersonateGroup
	*to.Context = cluster
	return &one
}

// InClusters calls do for the current cluster or, with -M, for one cluster after another. named is true if -M is
// specified. A job that exists in one cluster may be missing in the others without causing an error.
func (c *Call) InClusters(do func(one *Call, named bool) error) error {
	names, given, all, err := c.selectedClusters()
	if err != nil {
		return err
	}
	if !given {
		return do(c, false)
	}
	errs := make([]error, len(names))
	for i, name := range names {
		errs[i] = do(c.inCluster(name), true)
	}
	return c.joinClusterErrors(names, all, errs)
}

// InClustersParallel calls do concurrently for all clusters that -M selects, so that an unreachable cluster does not
// delay the others. do must not change anything. The output is printed in the order of the cluster names, with between
// before each output except the first.
func (c *Call) InClustersParallel(between string, do func(one *Call, named bool) error) error {
	names, given, all, err := c.selectedClusters()
	if err != nil {
		return err
	}
	if !given {
		return do(c, false)
	}
	errs, outs, notes := make([]error, len(names)), make([]bytes.Buffer, len(names)), make([]bytes.Buffer, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		one := c.inCluster(name)
		one.printedNotes = map[string]bool{}
		one.Factory.Streams.Out, one.Factory.Streams.Err, one.Factory.Streams.ErrTTY = &outs[i], &notes[i], false
		wait.Go(func() { errs[i] = do(one, true) })
	}
	wait.Wait()
	printed := false
	for i := range names {
		for line := range strings.Lines(notes[i].String()) {
			if !c.printedNotes[line] {
				c.printedNotes[line] = true
				if _, err := c.Factory.Streams.Err.Write([]byte(line)); err != nil {
					return err
				}
			}
		}
		if outs[i].Len() == 0 {
			continue
		}
		if printed {
			outs[i] = *bytes.NewBufferString(between + outs[i].String())
		}
		printed = true
		if _, err := outs[i].WriteTo(c.Factory.Streams.Out); err != nil {
			return err
		}
	}
	return c.joinClusterErrors(names, all, errs)
}

// joinClusterErrors joins the errors from multiple clusters. A missing job is an error only if it is missing in all
// clusters. If -M selects all clusters, clusters that fail are reported as notes, unless all of them fail.
func (c *Call) joinClusterErrors(names []string, all bool, errs []error) error {
	missing, failed := 0, 0
	for _, err := range errs {
		switch {
		case err == nil:
		case isOnlyMissing(err):
			missing++
		default:
			failed++
		}
	}
	isFoundSomewhere := missing+failed < len(errs)
	maySkip := all && len(names) > 1 && failed < len(errs)
	var problems []error
	for i, err := range errs {
		switch {
		case err == nil:
		case isOnlyMissing(err):
			if !isFoundSomewhere && len(problems) == 0 {
				problems = append(problems, err)
			}
		case maySkip:
			c.PrintNoteOnce("cluster %s is skipped: %s", names[i], c.ToSlurmError(err).What)
		default:
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// errMissingJob is the cause of errors about jobs that do not exist.
var errMissingJob = errors.New("the job does not exist")

// MissingJobError returns the error for a job that does not exist.
func MissingJobError(hint, format string, args ...any) error {
	return &usererror.Error{What: fmt.Sprintf(format, args...), Hint: hint, Err: errMissingJob}
}

// isOnlyMissing reports whether an error only means that jobs do not exist.
func isOnlyMissing(err error) bool {
	for _, one := range usererror.Flatten(err) {
		if !errors.Is(one, errMissingJob) {
			return false
		}
	}
	return true
}
