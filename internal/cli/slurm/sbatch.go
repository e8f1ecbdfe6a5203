package slurm

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/translate"
)

var sbatchTable = request.Table(request.Sbatch, "SCRIPT [ARGS...]")

func newSbatch(f *cli.Factory) *cobra.Command {
	return command(f, program{table: sbatchTable, run: sbatch,
		short: "Submit a batch script",
		long: `
			Submit a script. It runs once, on the first node of the job; srun in it starts
			tasks on all of them. Options stand in lines of the script that begin with
			#SBATCH, in variables SBATCH_… and on the command line; later ones win. Without
			a script, standard input is read.

			A node of Slurm's is a pod here: -N4 are four pods on four nodes. What an option
			becomes, 'vcctl slurm translate' shows; what the site says for all, image,
			volumes and partitions, stands in the ConfigMap slurm-profile.`,
		example: `
			# A script, and a command line
			vcctl slurm sbatch run.sh
			vcctl slurm sbatch --wrap='hostname; date'

			# Four nodes with eight tasks each, two hours at most
			vcctl slurm sbatch -N4 --ntasks-per-node=8 -t 2:00:00 run.sh

			# An array of 100, ten at once; another job when all of it went well
			vcctl slurm sbatch --array=0-99%10 run.sh
			vcctl slurm sbatch -d afterok:1 run.sh

			# When would it start?
			vcctl slurm sbatch --test-only -N2 run.sh`,
	})
}

// submission is what sbatch, or a relative of it, was asked to submit.
type submission struct {
	request  *request.Request
	title    string
	script   []byte
	args     []string
	warnings []string
	site     *site
	// interactive: an allocation without a script.
	interactive bool
}

func sbatch(ctx context.Context, c *call) error {
	s, err := c.readBatch(ctx, c.parsed.Operands)
	if err != nil {
		return err
	}
	result, err := c.translated(s)
	if err != nil {
		return err
	}
	if s.request.TestOnly {
		if s.request.Verbose > 0 {
			if err := c.explain(result, c.f.Streams.Err); err != nil {
				return err
			}
		}
		return c.testOnly(ctx, s, result)
	}
	job, err := c.submit(ctx, result)
	if err != nil {
		return err
	}
	if err := c.say(s, job); err != nil || !s.request.Wait {
		return err
	}
	return c.untilEnd(ctx, job)
}

// say prints the line that programs look for.
func (c *call) say(s *submission, job *batchv1alpha1.Job) error {
	id := idOf(job)
	if id == job.Name {
		c.notef("warning", "this cluster gives jobs no numbers; the job's name stands for it")
	}
	text := "Submitted batch job " + id
	switch {
	case s.request.Parsable && s.request.Clusters != "":
		text = id + ";" + s.request.Clusters
	case s.request.Parsable:
		text = id
	case s.request.Quiet:
		return nil
	case s.request.Clusters != "":
		text += " on cluster " + s.request.Clusters
	}
	_, err := fmt.Fprintln(c.f.Streams.Out, text)
	return err
}

// idOf is a job's number, or its name where it has none.
func idOf(job *batchv1alpha1.Job) string {
	if id, ok := batchv1alpha1.JobID(job); ok {
		return batchv1alpha1.FormatJobID(id)
	}
	return job.Name
}

// readBatch reads the script, all its options, and what the site says.
func (c *call) readBatch(ctx context.Context, operands []string) (*submission, error) {
	s := &submission{}
	if err := c.readScript(s, operands); err != nil {
		return nil, err
	}
	script, err := directive.Read(s.script)
	if err != nil {
		return nil, err
	}
	if err := c.remarks(s, &script); err != nil {
		return nil, err
	}
	in := request.Input{Command: request.Sbatch, Words: script.Components[0], Environ: c.environ(), Line: c.parsed, Now: c.f.Now()}
	return s, c.complete(ctx, s, in)
}

// remarks refuses what a script asks for and cannot be had, and warns about lines that do not do what they seem to.
func (c *call) remarks(s *submission, script *directive.Script) error {
	if operands := c.parsed.Operands; len(script.Components) > 1 || len(operands) > 0 && operands[0] == ":" {
		return fault.Errorf("submit the components as jobs of their own, or write a Volcano Job with a task for each", "heterogeneous jobs are not supported here")
	}
	for _, line := range script.Slurm {
		c.notef("error", "line %d: #SLURM is read as #SBATCH; write #SBATCH", line)
	}
	for _, line := range script.Late {
		s.warnings = append(s.warnings, fmt.Sprintf("line %d: #SBATCH after the first command is ignored", line))
	}
	return nil
}

// complete reads the options and what the site says of them. Mistakes are told before the cluster is asked.
func (c *call) complete(ctx context.Context, s *submission, in request.Input) error {
	in.Ignore = request.RefusedNames()
	early, _, err := request.Build(in)
	if err != nil {
		return err
	}
	if early.Clusters != "" {
		*c.f.Config.Context = early.Clusters
	}
	if s.site, err = c.readSite(ctx, early); err != nil {
		return err
	}
	in.Ignore, in.Effective = s.site.profile.Ignore, s.site.effective()
	r, warnings, err := request.Build(in)
	if err != nil {
		return err
	}
	s.request, s.warnings = r, append(s.warnings, warnings...)
	return nil
}

// translated makes the objects, and tells what has to be told.
func (c *call) translated(s *submission) (*translate.Result, error) {
	in, err := c.inputOf(s)
	if err != nil {
		return nil, err
	}
	result, err := translate.Job(in)
	if err != nil {
		return nil, err
	}
	if s.request.Quiet {
		return result, nil
	}
	for _, text := range append(s.warnings, result.Warnings...) {
		c.notef("warning", "%s", text)
	}
	for _, text := range result.Notes {
		c.notef("note", "%s", text)
	}
	return result, nil
}

// inputOf gathers what a job is made of.
func (c *call) inputOf(s *submission) (translate.Input, error) {
	in := translate.Input{
		Request: s.request, Profile: s.site.profile, Facts: s.site.facts, Title: s.title, Script: s.script, Args: s.args, Interactive: s.interactive, Environ: c.environ(),
		Suffix: utilrand.String(5), Key: newKey(), Namespace: s.site.namespace, Cluster: s.site.cluster, User: c.me(),
		Line: c.line(),
	}
	in.Dir, _ = os.Getwd()
	in.Host, _ = os.Hostname()
	if name := s.request.Nodefile; name != "" {
		if err := readNodefile(s.request, name); err != nil {
			return in, err
		}
	}
	if name := s.request.ExportFile; name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return in, fault.Errorf("", "Unable to open file %s", name)
		}
		in.ExportFile = strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	}
	return in, nil
}

// newKey is the secret by which the pods of a job know each other.
func newKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails
	return hex.EncodeToString(key[:])
}

// environ is the environment of the caller.
func (c *call) environ() []string {
	if c.f.Streams.Environ == nil {
		return nil
	}
	return c.f.Streams.Environ()
}
