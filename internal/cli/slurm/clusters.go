package slurm

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/fault"
)

// clusters are the contexts that -M names; given is false without -M. all says that they were not named one by one.
func (c *call) clusters() (names []string, given, all bool, err error) {
	text, given := c.given("clusters", "SLURM_CLUSTERS")
	if value, also := c.parsed.Last("cluster"); also {
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
	if names = words(text); slices.Contains(names, "all") {
		return known, true, true, nil
	}
	hint := "clusters are contexts of the kubeconfig: " + strings.Join(known, ", ") + ", or all"
	if len(names) == 0 {
		return nil, true, false, fault.Errorf(hint, "--clusters is empty")
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, true, false, fault.Errorf(hint, "'%s' is an invalid entry for --cluster.", name)
		}
	}
	return names, true, false, nil
}

// in is the call in another cluster.
func (c *call) in(cluster string) *call {
	one := *c
	streams := *c.f.Streams
	one.f = cli.NewFactory(c.f.Program, &streams)
	one.f.Now = c.f.Now
	// Where the kubeconfig is and how one asks are the same for all of them; what a cluster is reached by is its context's.
	from, to := c.f.Config, one.f.Config
	*to.KubeConfig, *to.Namespace, *to.CacheDir, *to.Timeout = *from.KubeConfig, *from.Namespace, *from.CacheDir, *from.Timeout
	*to.Impersonate, *to.ImpersonateUID, *to.ImpersonateGroup = *from.Impersonate, *from.ImpersonateUID, *from.ImpersonateGroup
	*to.Context = cluster
	return &one
}

// inClusters does something in the cluster that is connected to, or in those of -M, one after the other. named says that the latter were named. A job
// that is in one of them may be missing in the others.
func (c *call) inClusters(do func(one *call, named bool) error) error {
	names, given, all, err := c.clusters()
	if err != nil {
		return err
	}
	if !given {
		return do(c, false)
	}
	errs := make([]error, len(names))
	for i, name := range names {
		errs[i] = do(c.in(name), true)
	}
	return c.together(names, all, errs)
}

// sideBySide does something that only reads in the clusters of -M at once, so that one that does not answer holds up no other. What they print comes in
// the order of their names, with between in front of all but the first.
func (c *call) sideBySide(between string, do func(one *call, named bool) error) error {
	names, given, all, err := c.clusters()
	if err != nil {
		return err
	}
	if !given {
		return do(c, false)
	}
	errs, outs, notes := make([]error, len(names)), make([]bytes.Buffer, len(names)), make([]bytes.Buffer, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		one := c.in(name)
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
	return c.together(names, all, errs)
}

// together are the errors of several clusters: that a job is not there counts only when it is nowhere, and of all clusters some may be out of reach.
func (c *call) together(names []string, all bool, errs []error) error {
	missing, failed := 0, 0
	for _, err := range errs {
		switch {
		case err == nil:
		case notThere(err):
			missing++
		default:
			failed++
		}
	}
	var problems []error
	for i, err := range errs {
		switch {
		case err == nil, notThere(err) && (missing+failed < len(errs) || len(problems) > 0):
		case all && len(names) > 1 && !notThere(err) && failed < len(errs):
			c.noteOnce("cluster %s is left out: %s", names[i], c.faultOf(err).What)
		default:
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// invalidJob ends the sentences about jobs that are not there.
const invalidJob = "Invalid job id specified"

// notThere says whether all that is wrong is that a job is not there.
func notThere(err error) bool {
	for _, one := range flatten(err) {
		var f *fault.Error
		if !errors.As(one, &f) || !strings.HasSuffix(f.What, invalidJob) {
			return false
		}
	}
	return true
}
