package podcommands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// scontrolTable lists the options of scontrol that are supported inside a job.
var scontrolTable = getopt.Table{Program: "scontrol", Operands: "COMMAND", Options: []getopt.Option{
	{Long: "oneliner", Short: 'o', Help: "Print each object on one line"},
	{Long: "quiet", Short: 'Q', Help: "No effect: only errors are printed"},
	{Long: "details", Short: 'd', Help: "No effect: no further details are available"},
}}

// RunScontrol runs the subset of scontrol that scripts need: host lists, the script's own job, requeue and ping.
var RunScontrol = (&command{table: &scontrolTable, isPartial: true, isOwn: isOwnScontrol, run: runScontrol}).execute

func runScontrol(ctx context.Context, p getopt.Parsed) (int, error) {
	if len(p.Operands) == 0 {
		return 0, errors.New("missing command: use show hostnames, show hostlist, show job or requeue")
	}
	verb, rest := p.Operands[0], p.Operands[1:]
	switch {
	case getopt.IsAbbreviation(verb, "show", 2) && len(rest) > 0:
		return 0, runShow(ctx, os.Stdout, rest, p.Has("oneliner"))
	case getopt.IsAbbreviation(verb, "requeue", 3):
		return 0, requeueJob(ctx, rest)
	case getopt.IsAbbreviation(verb, "ping", 2):
		fmt.Fprintln(os.Stdout, "Slurmctld(primary) is UP")
		return 0, nil
	}
	return 0, fmt.Errorf("%q is not supported inside a job; run scontrol on the host where the job was submitted", strings.Join(p.Operands, " "))
}

func runShow(ctx context.Context, out io.Writer, words []string, oneLine bool) error {
	what, arguments := words[0], words[1:]
	if getopt.IsAbbreviation(what, "jobs", 1) {
		return showJob(ctx, out, arguments, oneLine)
	}
	text, isHosts, err := FormatHosts(what, strings.Join(arguments, ","), os.Getenv)
	if !isHosts {
		return fmt.Errorf("show %s is not supported inside a job; run scontrol on the host where the job was submitted", what)
	}
	fmt.Fprint(out, text)
	return err
}

// FormatHosts returns the output of scontrol show with the words hostnames, hostlist and hostlistsorted. isHosts is
// false for other words. list is a list of hosts or the path of a file with names. If it is empty, the list is that of
// the job in which the command runs.
func FormatHosts(word, list string, env func(string) string) (text string, isHosts bool, err error) {
	each, sorted := getopt.IsAbbreviation(word, "hostnames", 5), getopt.IsAbbreviation(word, "hostlistsorted", 9)
	if !each && !sorted && !getopt.IsAbbreviation(word, "hostlist", 5) {
		return "", false, nil
	}
	if list = cmp.Or(list, env("SLURM_JOB_NODELIST")); list == "" {
		return "", true, usererror.Errorf("SLURM_JOB_NODELIST is set only inside jobs; outside a job, specify a host list or the path of a file", "host list is empty: SLURM_JOB_NODELIST is not set")
	}
	if strings.HasPrefix(list, "/") {
		file, err := os.ReadFile(list)
		if err != nil {
			return "", true, err
		}
		list = strings.Join(strings.Fields(string(file)), ",")
	}
	names, err := hostlist.ExpandList(list)
	switch {
	case err != nil:
		return "", true, usererror.Errorf("separate names with commas, for example n1,n[3-5]", "Invalid hostlist: %s", list)
	case each:
		return strings.Join(names, "\n") + "\n", true, nil
	case sorted:
		hostlist.SortNames(names)
	}
	return hostlist.CompressNames(names) + "\n", true, nil
}

// showJob prints this job as key=value pairs.
func showJob(ctx context.Context, out io.Writer, ids []string, oneLine bool) error {
	client, job, err := jobclient.RequestJob(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !job.Pod.HasID(id) {
			return foreignJobError(id, &job.Pod)
		}
	}
	lines := descriptionLines(job, client, time.Now())
	if oneLine {
		fmt.Fprintln(out, strings.Join(lines, " "))
		return nil
	}
	fmt.Fprintln(out, strings.Join(lines, "\n   ")+"\n")
	return nil
}

// descriptionLines returns the description of the job, in the order and format that scontrol uses outside a job.
func descriptionLines(j *protocol.JobAnswer, client *jobclient.Client, now time.Time) []string {
	s := &j.Spec
	end, limit := "Unknown", "UNLIMITED"
	start := time.Unix(j.Start, 0)
	if s.TimeLimit > 0 {
		end, limit = start.Add(time.Duration(s.TimeLimit)*time.Second).Format(timeformat.Standard), timeformat.LongDuration(time.Duration(s.TimeLimit)*time.Second)
	}
	const none = "(null)"
	out := cmp.Or(expandPattern(j, client, s.Output), none)
	title := "JobId=" + j.Pod.SlurmJobID()
	if j.Pod.ArrayIndex >= 0 {
		title += fmt.Sprintf(" ArrayJobId=%s ArrayTaskId=%d", j.Pod.JobID, j.Pod.ArrayIndex)
	}
	lines := []string{
		title + " JobName=" + s.JobName,
		fmt.Sprintf("UserId=%s(%d) GroupId=N/A MCS_label=N/A", s.User, os.Getuid()),
		fmt.Sprintf("Nice=0 Account=%s QOS=%s", cmp.Or(s.Account, none), cmp.Or(s.QOS, none)),
		fmt.Sprintf("JobState=RUNNING Reason=None Dependency=%s", none), // a running job has no unmet dependency
		fmt.Sprintf("Requeue=%d Restarts=%d BatchFlag=%d Reboot=0 ExitCode=0:0", boolDigit(!s.NoRequeue), j.Pod.Restarts, boolDigit(!s.Interactive)),
		fmt.Sprintf("RunTime=%s TimeLimit=%s TimeMin=N/A", timeformat.LongDuration(now.Sub(start)), limit),
		fmt.Sprintf("StartTime=%s EndTime=%s Deadline=N/A", start.Format(timeformat.Standard), end),
		fmt.Sprintf("Partition=%s AllocNode:Sid=%s:N/A", s.Partition, cmp.Or(s.SubmitHost, "N/A")),
		"NodeList=" + hostlist.CompressNames(slices.Clone(j.Hosts)),
		"BatchHost=" + j.Hosts[0],
		fmt.Sprintf("NumNodes=%d NumCPUs=%d NumTasks=%d CPUs/Task=%d", len(j.Hosts), len(j.Hosts)*s.CPUs, s.DefaultTaskCount(len(j.Hosts)), max(s.CPUsPerTask, 1)),
		"Command=" + cmp.Or(s.Command, none),
		"WorkDir=" + cmp.Or(s.WorkDir, "/"),
		"StdErr=" + cmp.Or(expandPattern(j, client, s.Error), out),
		"StdIn=" + cmp.Or(expandPattern(j, client, s.Input), "/dev/null"),
		"StdOut=" + out,
	}
	return lines
}

// boolDigit returns the number that scontrol prints for a boolean.
func boolDigit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func foreignJobError(id string, own *launchconfig.Pod) error {
	return usererror.Errorf("to access other jobs, run the same command on the host where the job was submitted",
		"job %s is not the current job (%s): a job can access only itself, because its pods have no permissions in the cluster", id, own.SlurmJobID())
}

func expandPattern(j *protocol.JobAnswer, client *jobclient.Client, pattern string) string {
	if pattern == "" {
		return ""
	}
	text, err := client.FileNames(j).ExpandPattern(pattern)
	if err != nil {
		return pattern
	}
	return text
}

// requeueJob ends the job and requests that the job be started again.
func requeueJob(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return errors.New("specify a job: scontrol requeue $SLURM_JOB_ID")
	}
	client, job, err := jobclient.RequestJob(ctx)
	if err != nil {
		return err
	}
	for _, list := range ids {
		for id := range strings.SplitSeq(list, ",") {
			if !job.Pod.HasID(id) {
				return foreignJobError(id, &job.Pod)
			}
		}
	}
	if job.Spec.NoRequeue {
		return usererror.Errorf("submit the job with --requeue", "Requested operation is presently disabled for job %s: it was submitted with --no-requeue", job.Pod.SlurmJobID())
	}
	return client.QueryHead(ctx, protocol.Request{End: &protocol.EndRequest{Requeue: true}}, nil)
}

// isOwnScontrol reports whether scontrol can run without access to the cluster, for example because its arguments refer
// only to this job.
func isOwnScontrol(client *jobclient.Client, p getopt.Parsed) bool {
	words := p.Operands
	switch {
	case len(words) == 0, getopt.IsAbbreviation(words[0], "ping", 2):
		return true
	case getopt.IsAbbreviation(words[0], "requeue", 3):
		return client.AreOwnIDs(words[1:])
	case !getopt.IsAbbreviation(words[0], "show", 2) || len(words) < 2:
		return false
	case strings.HasPrefix(strings.ToLower(words[1]), "host"):
		return true
	}
	return getopt.IsAbbreviation(words[1], "jobs", 1) && client.AreOwnIDs(words[2:])
}
