package run

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// startFlags holds the start conditions of a new job: --after, --begin and --hold.
type startFlags struct {
	after []string
	begin string
	hold  bool
}

// addFlags adds the flags to a command, with completion.
func (s *startFlags) addFlags(f *cli.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&s.after, "after", nil, "Start after these jobs (names or numbers) have completed; other conditions: afterany:NAME, afternotok:NAME, after:NAME+MINUTES, singleton")
	flags.StringVar(&s.begin, "begin", "", "Do not start before this time: 2h (from now), 18:30, tomorrow, 2026-11-22T18:30, or, with a time zone, 2026-11-22T18:30:00Z")
	flags.BoolVar(&s.hold, "hold", false, "Hold the job until it is released (vcctl job release)")
	_ = cmd.RegisterFlagCompletionFunc("after", f.CompleteJobs())
	_ = cmd.RegisterFlagCompletionFunc("begin", cli.CompleteValues("10m", "1h", "noon", "teatime", "midnight", "tomorrow"))
}

// startAnnotations returns the annotations for the flags. The map is empty if the user specified none of the flags.
func (s *startFlags) startAnnotations(namespace string, now time.Time) (map[string]string, error) {
	set := map[string]string{}
	if s.hold {
		set[keys.Hold] = keys.HoldUser
	}
	if s.begin != "" {
		at, err := parseBeginTime(s.begin, now)
		if err != nil {
			return nil, err
		}
		set[keys.Begin] = at.Format(time.RFC3339)
	}
	if len(s.after) > 0 {
		text := dependencyText(s.after)
		if _, err := batchv1alpha1.ParseDependency(text, namespace); err != nil {
			return nil, usererror.Errorf("examples: --after prepare  --after prepare,42  --after afterany:prepare", "--after: %v", err)
		}
		set[keys.Dependency] = text
	}
	return set, nil
}

// parseBeginTime parses --begin: a duration from now, an RFC 3339 time, or one of the formats of sbatch's --begin.
func parseBeginTime(text string, now time.Time) (time.Time, error) {
	if after, err := time.ParseDuration(strings.TrimPrefix(text, "+")); err == nil {
		if after < 0 {
			return time.Time{}, usererror.Errorf("for example --begin 2h", "--begin: %q is in the past", text)
		}
		return now.Add(after), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := optionvalue.ParseDate(text, now, optionvalue.Coming)
	if err != nil {
		return time.Time{}, usererror.Errorf("examples: --begin 2h  --begin 18:30  --begin tomorrow  --begin 2026-11-22T18:30", "--begin: %q is not a valid time", text)
	}
	return at, nil
}

// dependencyText converts --after to the syntax of the annotation. For a job without a condition, it requires
// completion.
func dependencyText(after []string) string {
	terms := make([]string, len(after))
	for i, term := range after {
		kind, _, named := strings.Cut(term, ":")
		if !named && kind != string(batchv1alpha1.Singleton) {
			term = string(batchv1alpha1.AfterOK) + ":" + cli.BareName(term, "jobs")
		}
		terms[i] = term
	}
	return strings.Join(slices.Compact(terms), ",")
}

// flagsOfStart maps the annotations of a new job to the flags that set them.
var flagsOfStart = map[string]string{
	"metadata.annotations[" + keys.Hold + "]": "--hold", "metadata.annotations[" + keys.Begin + "]": "--begin", "metadata.annotations[" + keys.Dependency + "]": "--after",
}
