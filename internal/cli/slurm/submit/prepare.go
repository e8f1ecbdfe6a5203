package submit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// readBatch reads the script, all of its options and the site's configuration.
func readBatch(ctx context.Context, c *program.Call, operands []string) (*jobInput, error) {
	s := &jobInput{}
	script, err := readDirectives(c, s, operands)
	if err != nil {
		return nil, err
	}
	in := request.Input{Command: request.Sbatch, Words: script.Components[0], Environ: c.UserEnvironment(), Line: c.Parsed, Now: c.Factory.Now()}
	return s, buildRequest(ctx, c, s, in)
}

// readDirectives reads the script and its directives. It rejects unsupported requests and warns about lines that have
// no effect.
func readDirectives(c *program.Call, s *jobInput, operands []string) (directive.Script, error) {
	if len(operands) > 0 && operands[0] == nextComponent {
		return directive.Script{}, heterogeneousError()
	}
	if err := readScript(c, s, operands); err != nil {
		return directive.Script{}, err
	}
	script, err := directive.ParseScript(s.script)
	if err == nil {
		err = checkDirectives(c, s, &script)
	}
	return script, err
}

// nextComponent is the word that separates the components of a heterogeneous job.
const nextComponent = ":"

func heterogeneousError() error {
	return usererror.Errorf("submit the components as separate jobs, or create a Volcano Job with one task for each component", "heterogeneous jobs are not supported")
}

// startsMPI matches a line that uses srun as the process manager of an MPI library.
var startsMPI = regexp.MustCompile(`^[^#]*\bsrun\b[^#]*\s--mpi[= ](pmi|openmpi|cray)|^[^#]*\bSLURM_MPI_TYPE=["']?(pmi|openmpi|cray)`)

// findMPILine returns the number of the first line of a script that starts MPI programs in an unsupported way, or 0.
func findMPILine(script []byte) int {
	for i, line := range strings.Split(string(script), "\n") {
		if startsMPI.MatchString(line) {
			return i + 1
		}
	}
	return 0
}

func checkDirectives(c *program.Call, s *jobInput, script *directive.Script) error {
	if len(script.Components) > 1 {
		return heterogeneousError()
	}
	for _, line := range script.Slurm {
		c.PrintNotef("error", "line %d: #SLURM is treated as #SBATCH; use #SBATCH instead", line)
	}
	if line := findMPILine(s.script); line > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("line %d: srun cannot start MPI programs through PMI here; replace srun with mpirun", line))
	}
	for _, line := range script.Late {
		s.warnings = append(s.warnings, fmt.Sprintf("line %d: #SBATCH after the first command is ignored", line))
	}
	return nil
}

// buildRequest parses the options and checks them against the site's profile. It reports errors in the options before
// connecting to the cluster.
func buildRequest(ctx context.Context, c *program.Call, s *jobInput, in request.Input) error {
	r, err := request.BuildRequest(in)
	if r != nil && r.Strict {
		_, refusals := r.CheckSupport(request.RejectedNames(), nil)
		err = errors.Join(err, refusals)
	}
	if err != nil {
		return err
	}
	if r.Clusters != "" {
		*c.Factory.Config.Context = r.Clusters
	}
	if s.site, err = readSite(ctx, c, r); err != nil {
		return err
	}
	s.request = r
	return s.checkOptions()
}

// checkOptions checks the options of the request against the site's profile.
func (s *jobInput) checkOptions() error {
	warnings, err := s.request.CheckSupport(s.site.profile.Ignore, s.site.effectiveOptions())
	s.warnings = append(s.warnings, warnings...)
	return err
}

// translateJob creates the job's objects and prints warnings.
func translateJob(c *program.Call, s *jobInput) (*translate.Result, error) {
	in, err := translationInput(c, s)
	if err != nil {
		return nil, err
	}
	result, err := translate.Job(in)
	if err != nil {
		return nil, err
	}
	warnings := slices.Concat(s.warnings, result.Warnings, missingPaths(result.Needs))
	if s.request.Strict && len(warnings) > 0 {
		var refusals []error
		for _, text := range warnings {
			refusals = append(refusals, usererror.Errorf("remove the option, or remove --strict", "%s", text))
		}
		return nil, errors.Join(refusals...)
	}
	if s.request.Quiet {
		return result, nil
	}
	for _, text := range warnings {
		c.PrintNotef("warning", "%s", text)
	}
	return result, nil
}

// printNotes prints the translation's notes about differences from Slurm. id is empty if no job was submitted.
func printNotes(c *program.Call, s *jobInput, r *translate.Result, id string) {
	if s.request.Quiet {
		return
	}
	for _, note := range r.Notes {
		text := note.Text
		switch {
		case note.Kind == translate.NothingExported && !c.Factory.Streams.ErrTTY:
			continue // programs that call sbatch may look for the number in both output streams
		case note.Kind == translate.OutputInPodLog && id != "":
			text += " (vcctl job logs " + id + ")"
		}
		c.PrintNotef("note", "%s", text)
	}
}

// missingPaths returns warnings about paths that a script needs when it starts but that do not exist. The user is
// warned because, in Slurm, such a job ends without a message. missingPaths skips a path if none of its parent
// directories except the root exists on this machine, because the volume is probably not mounted here.
func missingPaths(needs []translate.Need) []string {
	var all []string
	for _, need := range needs {
		if _, err := os.Stat(need.Path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		there := filepath.Dir(need.Path)
		for ; len(there) > 1; there = filepath.Dir(there) {
			if _, err := os.Stat(there); err == nil {
				all = append(all, fmt.Sprintf("%s: %s does not exist; the job fails at startup unless this path exists", need.Option, need.Path))
				break
			}
		}
	}
	return all
}

// translationInput collects the input of the translation.
func translationInput(c *program.Call, s *jobInput) (translate.Input, error) {
	in := translate.Input{
		Request: s.request, Profile: s.site.profile, Facts: s.site.facts, Title: s.title, Script: s.script, Args: s.args, Interactive: s.interactive, Environ: c.UserEnvironment(),
		Namespace: s.site.namespace, Cluster: s.site.cluster, User: c.UserName(), Submitter: s.submitter, Line: storedCommandLine(c),
	}
	in.Suffix, in.Key, in.Dir, in.Host = origin()
	in.Owner, in.InJob = owner(), c.IsInJob()
	in.Program, _ = os.Executable() // if empty, jobs search PATH for vcctl
	if in.ScriptFile = s.file; s.file != "" && !filepath.IsAbs(s.file) {
		in.ScriptFile = filepath.Join(in.Dir, s.file)
	}
	if name := s.request.Nodefile; name != "" {
		if err := readNodefile(s.request, name); err != nil {
			return in, err
		}
	}
	if name := s.request.ExportFile; name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return in, usererror.Errorf("--export-file must contain NAME=value entries, each terminated by a NUL byte", "Unable to open file %s", name)
		}
		in.ExportFile = strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	}
	return in, nil
}

// origin returns the random suffix of the job's name, the secret that its pods share, and the working directory and
// host of the submission. It is a variable so that tests can replace it.
var origin = func() (suffix, key, dir, host string) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	dir, _ = os.Getwd()
	host, _ = os.Hostname()
	return utilrand.String(5), hex.EncodeToString(secret[:]), dir, host
}

// owner returns the user of this process. It is a variable so that tests can replace it.
var owner = func() translate.Owner {
	o := translate.Owner{UID: strconv.Itoa(os.Getuid()), GID: strconv.Itoa(os.Getgid())}
	if group, err := user.LookupGroupId(o.GID); err == nil {
		o.Group = group.Name
	}
	return o
}
