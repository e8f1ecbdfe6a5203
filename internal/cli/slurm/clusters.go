package slurm

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// selectedClusters returns the contexts that -M selects. given is false without -M. all reports that -M selects all
// contexts.
func (c *call) selectedClusters() (names []string, given, all bool, err error) {
	text, given := c.optionOrVariable("clusters", "SLURM_CLUSTERS")
	if value, also := c.parsed.LastValue("cluster"); also {
		text, given = value, true
	}
	if !given {
		return nil, false, false, nil
	}
	raw, err := c.f.Config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, true, true, err
	}
	known := slices.Sorted(maps.Keys(raw.Contexts))
	if names = splitList(text); slices.Contains(names, "all") {
		return known, true, true, nil
	}
	hint := "clusters are contexts of the kubeconfig: " + strings.Join(known, ", ") + ", or use all"
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
func (c *call) inCluster(cluster string) *call {
	one := *c
	streams := *c.f.Streams
	one.f = cli.NewFactory(c.f.Program, &streams)
	one.f.Now = c.f.Now
	// The path of the kubeconfig and the identity of the user are the same for all clusters; only the context
	// differs, which selects the server.
	from, to := c.f.Config, one.f.Config
	*to.KubeConfig, *to.Namespace, *to.CacheDir, *to.Timeout = *from.KubeConfig, *from.Namespace, *from.CacheDir, *from.Timeout
	*to.Impersonate, *to.ImpersonateUID, *to.ImpersonateGroup = *from.Impersonate, *from.ImpersonateUID, *from.ImpersonateGroup
	*to.Context = cluster
	return &one
}

// inClusters calls do for the current cluster or, with -M, for one cluster after another. named reports that -M is
// specified. A job that exists in one cluster may be missing in the others.
func (c *call) inClusters(do func(one *call, named bool) error) error {
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

// inClustersParallel calls do for all clusters of -M concurrently, so that an unreachable cluster does not delay the
// others. do must not change anything. The output is printed in the order of the cluster names, with between before
// each output except the first.
func (c *call) inClustersParallel(between string, do func(one *call, named bool) error) error {
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
		one.said = map[string]bool{}
		one.f.Streams.Out, one.f.Streams.Err, one.f.Streams.ErrTTY = &outs[i], &notes[i], false
		wait.Go(func() { errs[i] = do(one, true) })
	}
	wait.Wait()
	printed := false
	for i := range names {
		for line := range strings.Lines(notes[i].String()) {
			if !c.said[line] {
				c.said[line] = true
				if _, err := c.f.Streams.Err.Write([]byte(line)); err != nil {
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
		if _, err := outs[i].WriteTo(c.f.Streams.Out); err != nil {
			return err
		}
	}
	return c.joinClusterErrors(names, all, errs)
}

// joinClusterErrors joins the errors of multiple clusters. A missing job is an error only if it is missing in all
// clusters. If
// -M selects all clusters, unreachable ones are reported as notes unless all of them fail.
func (c *call) joinClusterErrors(names []string, all bool, errs []error) error {
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
			c.printNoteOnce("cluster %s is skipped: %s", names[i], c.toSlurmError(err).What)
		default:
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// invalidJob is the end of all messages about jobs that do not exist.
const invalidJob = "Invalid job id specified"

// isOnlyMissing reports whether an error only means that jobs do not exist.
func isOnlyMissing(err error) bool {
	for _, one := range usererror.Flatten(err) {
		var f *usererror.Error
		if !errors.As(one, &f) || !strings.HasSuffix(f.What, invalidJob) {
			return false
		}
	}
	return true
}
