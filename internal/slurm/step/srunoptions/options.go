// Package srunoptions parses the options that srun accepts inside a job, and the environment variables that set them.
package srunoptions

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/signals"
	"github.com/vc-batch/vc/internal/slurm/step/taskio"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// Options holds the options of srun.
type Options struct {
	Begin protocol.BeginRequest
	Name  string // value of -J; "" if it was not specified
	Input string
	taskio.OutputOptions
	Export        string
	KillOnBadExit bool
	Wait          time.Duration
	Limit         time.Duration
	Signal        *launchconfig.Signal
	MultiProg     bool
	JobID         string
	// Ineffective lists options that were specified but have no effect.
	Ineffective []string
	CPUsGiven   bool
	Quiet       bool
	Command     []string
}

// Read parses srun's arguments. Environment variables may set options that are not specified.
func Read(p getopt.Parsed, lookup func(string) (string, bool)) (*Options, error) {
	env := func(name string) string { value, _ := lookup(name); return value }
	p.Given = append(FromEnvironment(lookup), p.Given...)
	o := &Options{Command: p.Operands, Input: "all"}
	o.Begin.Relative = 0
	r := &optionReader{parsed: p, options: o}
	r.readSizes(env)
	r.readStreams()
	r.readRunSettings()
	r.collectIneffective(env)
	if r.err != nil {
		return nil, r.err
	}
	if len(o.Command) == 0 {
		return nil, usererror.Errorf("specify a command, for example srun -n2 hostname", "No command given to execute.")
	}
	if o.Begin.Name == "" {
		o.Begin.Name = filepath.Base(o.Command[0])
	}
	if here, err := os.Getwd(); err == nil && !filepath.IsAbs(o.Dir) {
		o.Dir = filepath.Join(here, o.Dir)
	}
	return o, nil
}

// optionReader parses options and stores the first error.
type optionReader struct {
	parsed  getopt.Parsed
	options *Options
	err     error
}

func (r *optionReader) setError(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// setErrorWithHint is like setError, but adds a hint for the user.
func (r *optionReader) setErrorWithHint(hint, format string, args ...any) {
	if r.err == nil {
		r.err = usererror.Errorf(hint, format, args...)
	}
}

// readCount parses an option whose value is a number that must not be smaller than least. It reports whether the option
// was specified.
func (r *optionReader) readCount(name string, to *int, least int) bool {
	text, given := r.parsed.LastValue(name)
	if !given {
		return false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		r.setErrorWithHint(fmt.Sprintf("specify a number of at least %d, for example --%s=%d", least, name, max(least, 2)), "Invalid numeric value %q for --%s.", text, name)
	}
	*to = n
	return true
}

func (r *optionReader) readSizes(env func(string) string) {
	o := r.options
	if text, given := r.parsed.LastValue("nodes"); given {
		least, most, isRange := strings.Cut(text, "-")
		n, err := strconv.Atoi(least)
		if isRange && err == nil {
			n, err = strconv.Atoi(most)
		}
		if err != nil || n < 1 {
			r.setError("Invalid node count %q", text)
		}
		o.Begin.Nodes = n
	}
	r.readCount("ntasks", &o.Begin.Tasks, 1)
	r.readCount("ntasks-per-node", &o.Begin.PerNode, 1)
	r.readCount("relative", &o.Begin.Relative, 0)
	r.readAccelerators()
	if o.CPUsGiven = r.readCount("cpus-per-task", &o.Begin.CPUs, 1); !o.CPUsGiven {
		if n, err := strconv.Atoi(env("SRUN_CPUS_PER_TASK")); err == nil && n > 0 {
			o.Begin.CPUs, o.CPUsGiven = n, true
		}
	}
	o.Begin.Only, o.Begin.Not = r.readHosts("nodelist"), r.readHosts("exclude")
	o.Begin.Overlap = r.parsed.Has("overlap") || r.parsed.Has("overcommit")
	o.Begin.Now = r.parsed.Has("immediate")
	if n := o.Begin.Nodes; n > 0 && o.Begin.Tasks > 0 && o.Begin.Tasks < n {
		o.Begin.Nodes = o.Begin.Tasks // Slurm also reduces the number of nodes, but with a warning
	}
}

func (r *optionReader) readHosts(name string) []string {
	text, given := r.parsed.LastValue(name)
	if !given {
		return nil
	}
	if strings.Contains(text, "/") {
		file, err := os.ReadFile(text)
		if err != nil {
			r.setError("Invalid --%s: %v", name, err)
		}
		text = strings.Join(strings.Fields(string(file)), ",")
	}
	hosts, err := hostlist.ExpandList(text)
	if err != nil {
		r.setError("Invalid --%s: %v", name, err)
	}
	return hosts
}

func (r *optionReader) readStreams() {
	o := r.options
	for name, to := range map[string]*string{"input": &o.Input, "output": &o.Output, "error": &o.Error} {
		if text, given := r.parsed.LastValue(name); given {
			*to = text
		}
	}
	if mode, given := r.parsed.LastValue("open-mode"); given {
		if !slices.Contains([]string{"a", "append", "t", "truncate"}, mode) {
			r.setError("Invalid --open-mode specification %q: use append or truncate", mode)
		}
		o.Append = mode[0] == 'a'
	}
	o.Label = r.parsed.Has("label")
	o.Unbuffered = r.parsed.Has("unbuffered")
	o.PTY = r.parsed.Has("pty")
	o.Quiet = r.parsed.Has("quiet")
}

func (r *optionReader) readRunSettings() {
	o := r.options
	o.Name, _ = r.parsed.LastValue("job-name")
	o.Begin.Name = o.Name
	o.Dir, _ = r.parsed.LastValue("chdir")
	o.Export, _ = r.parsed.LastValue("export")
	o.JobID, _ = r.parsed.LastValue("jobid")
	o.MultiProg = r.parsed.Has("multi-prog")
	if text, given := r.parsed.LastValue("kill-on-bad-exit"); given {
		o.KillOnBadExit = text != "0"
	}
	var seconds int
	if r.readCount("wait", &seconds, 0) {
		o.Wait = time.Duration(seconds) * time.Second
	}
	r.readLimits()
	switch mpi, _ := r.parsed.LastValue("mpi"); mpi {
	case "", "none":
	default:
		r.setErrorWithHint("start MPI programs with mpirun, which finds the job's nodes automatically", "srun cannot start MPI programs here: --mpi=%s is not supported", mpi)
	}
	for _, option := range []string{"het-group", "pack-group", "no-allocate"} {
		if r.parsed.Has(option) {
			r.setError("--%s is not supported in steps here", option)
		}
	}
}

// collectIneffective collects options that were specified but have no effect.
func (r *optionReader) collectIneffective(env func(string) string) {
	job := map[string]string{"partition": env("SLURM_JOB_PARTITION"), "account": env("SLURM_JOB_ACCOUNT")}
	for _, given := range r.parsed.Given {
		own, isJob := job[given.Name]
		switch {
		case !hasNoEffect(given.Name), slices.Contains(fine[given.Name], given.Value), isJob && own == given.Value:
		case given.HasValue:
			r.options.Ineffective = append(r.options.Ineffective, "--"+given.Name+"="+given.Value)
		default:
			r.options.Ineffective = append(r.options.Ineffective, "--"+given.Name)
		}
	}
}

func hasNoEffect(name string) bool {
	return slices.ContainsFunc(Table.Options, func(o getopt.Option) bool { return o.Long == name && o.Group == groupNone })
}

func (r *optionReader) readLimits() {
	if text, given := r.parsed.LastValue("time"); given {
		seconds, ok := timeformat.ParseClock(text)
		if !ok {
			r.setError("Invalid --time specification")
		}
		r.options.Limit = time.Duration(min(seconds, math.MaxInt64/int64(time.Second))) * time.Second
	}
	if text, given := r.parsed.LastValue("signal"); given {
		signal, err := parseSignal(text)
		if err != nil {
			r.setError("Invalid --signal specification")
		}
		r.options.Signal = signal
	}
}

// parseSignal parses a signal name or number, which may be followed by @ and the number of seconds before the time
// limit, such as USR1@30.
func parseSignal(text string) (*launchconfig.Signal, error) {
	name, before, timed := strings.Cut(text, "@")
	s := &launchconfig.Signal{Seconds: 60}
	var err error
	if s.Number, err = signals.ParseNumber(name); err != nil {
		return nil, err
	}
	if timed {
		if s.Seconds, err = strconv.ParseInt(before, 10, 32); err != nil || s.Seconds < 0 {
			return nil, fmt.Errorf("%q is not a valid number of seconds", before)
		}
	}
	return s, nil
}

// readAccelerators parses the options that request accelerators that only the step uses.
func (r *optionReader) readAccelerators() {
	read := func(name string, set func(*protocol.GPURequest, int)) {
		text, given := r.parsed.LastValue(name)
		if !given {
			return
		}
		n, ok := countAccelerators(text)
		if !ok {
			r.setError("Invalid numeric value %q for --%s.", text, name)
			return
		}
		if r.options.Begin.GPUs == nil {
			r.options.Begin.GPUs = &protocol.GPURequest{}
		}
		set(r.options.Begin.GPUs, n)
	}
	read("gpus-per-task", func(g *protocol.GPURequest, n int) { g.PerTask = n })
	read("gpus-per-node", func(g *protocol.GPURequest, n int) { g.PerNode = n })
	read("gpus", func(g *protocol.GPURequest, n int) { g.Total = n })
	text, given := r.parsed.LastValue("gres")
	if !given || r.err != nil {
		return
	}
	n, others, ok := parseGres(text)
	switch {
	case !ok:
		r.setError("Invalid --gres specification %q", text)
	case len(others) > 0:
		r.options.Ineffective = append(r.options.Ineffective, "--gres="+strings.Join(others, ","))
	}
	if len(others) == 0 || n > 0 {
		if r.options.Begin.GPUs == nil {
			r.options.Begin.GPUs = &protocol.GPURequest{}
		}
		r.options.Begin.GPUs.PerNode = n
	}
}

// InheritGPUs requests the number of accelerators per task that the job requested, unless the step has its own request.
func (o *Options) InheritGPUs(spec *launchconfig.Spec) {
	if o.Begin.GPUs != nil || spec.GPUsPerTask == "" || spec.GPUsOnNode == 0 {
		return
	}
	if n, ok := countAccelerators(spec.GPUsPerTask); ok && n > 0 {
		o.Begin.GPUs = &protocol.GPURequest{PerTask: n, Inherited: true}
	}
}

// countAccelerators returns the total number of accelerators in a list such as 2, a100:2 or a100:2,v100:1.
func countAccelerators(list string) (int, bool) {
	total := 0
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word[strings.LastIndex(word, ":")+1:])
		if err != nil || n < 0 {
			return 0, false
		}
		total += n
	}
	return total, true
}

// parseGres returns the number of GPUs in the value of --gres, which contains entries such as gpu[:type][:count]. It
// returns the entries for other resources in others, because steps do not count these resources.
func parseGres(list string) (count int, others []string, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimPrefix(word, "gres/")
		name, rest, _ := strings.Cut(word, ":")
		name, number, equals := strings.Cut(name, "=")
		if equals {
			rest = number
		}
		switch {
		case name == "none":
		case name != "gpu":
			others = append(others, word)
		default:
			n, err := strconv.Atoi(rest[strings.LastIndex(rest, ":")+1:])
			if err != nil {
				n = 1 // the entry has no count, and possibly no type
			}
			if n < 0 {
				return 0, nil, false
			}
			count += n
		}
	}
	return count, others, true
}
