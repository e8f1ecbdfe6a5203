package podcommands

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// squeueTable lists the options of squeue that are supported inside a job.
var squeueTable = getopt.Table{Program: "squeue", Options: []getopt.Option{
	{Long: "noheader", Short: 'h', Help: "Do not print the header"},
	{Long: "jobs", Short: 'j', Arg: getopt.Optional, Value: "IDS", Help: "Show only these jobs"},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print: %i %j %t %M %L %l %D %P %u %N"},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "STATES", Help: "Show only jobs in these states"},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "USERS", Help: "Show only jobs of these users"},
	{Long: "me", Help: "Show only your jobs"},
}}

// RunSqueue lists this job.
var RunSqueue = (&command{table: &squeueTable, isPartial: true, isOwn: isOwnSqueue, run: showQueue}).execute

func showQueue(ctx context.Context, p getopt.Parsed) (int, error) {
	_, job, err := jobclient.RequestJob(ctx)
	if err != nil {
		return 0, err
	}
	ids, _ := p.LastValue("jobs")
	ids = strings.Join(append(p.Operands, ids), ",")
	for id := range strings.SplitSeq(ids, ",") {
		if id != "" && !job.Pod.HasID(id) {
			return 0, foreignJobError(id, &job.Pod)
		}
	}
	format, given := p.LastValue("format")
	if !given {
		format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
	}
	columns, _, err := tableformat.ParseLetters(format, columnFields(time.Now()))
	if err != nil {
		return 0, err
	}
	var rows []*protocol.JobAnswer
	if matchesFilters(job, p) {
		rows = append(rows, job)
	}
	heading := !p.Has("noheader")
	columns.WidenToFit(rows, heading)
	_, err = io.WriteString(os.Stdout, columns.FormatLines(rows, heading))
	return 0, err
}

// matchesFilters reports whether this job, which is running, matches the filters of squeue.
func matchesFilters(j *protocol.JobAnswer, p getopt.Parsed) bool {
	for name, own := range map[string][]string{"user": {j.Spec.User}, "states": {"R", "RUNNING", "ALL"}} {
		list, given := p.LastValue(name)
		if given && !slices.ContainsFunc(strings.Split(list, ","), func(word string) bool {
			return slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, word) })
		}) {
			return false
		}
	}
	return true
}

// unavailable is the text of a column whose value is available only from the API server.
const unavailable = "N/A"

// columnFields returns squeue's columns. Their values come from the job's launcher. Columns that need the API server
// contain the text unavailable.
func columnFields(now time.Time) []tableformat.Field[*protocol.JobAnswer] {
	type job = *protocol.JobAnswer
	now = now.Truncate(time.Second)
	var fields []tableformat.Field[job]
	add := func(letter byte, title string, value func(job) string) {
		fields = append(fields, tableformat.NewField(letter, "", title, 0, value))
	}
	limited := func(without string, value func(start time.Time, limit time.Duration) string) func(job) string {
		return func(j job) string {
			if j.Spec.TimeLimit <= 0 {
				return without
			}
			return value(time.Unix(j.Start, 0), time.Duration(j.Spec.TimeLimit)*time.Second)
		}
	}
	add('i', "JOBID", func(j job) string { return j.Pod.DisplayID() })
	add('A', "JOBID", func(j job) string { return j.Pod.SlurmJobID() })
	add('P', "PARTITION", func(j job) string { return j.Spec.Partition })
	add('j', "NAME", func(j job) string { return j.Spec.JobName })
	add('u', "USER", func(j job) string { return j.Spec.User })
	add('t', "ST", func(job) string { return "R" })
	add('T', "STATE", func(job) string { return "RUNNING" })
	add('M', "TIME", func(j job) string { return timeformat.ShortDuration(now.Sub(time.Unix(j.Start, 0))) })
	add('L', "TIME_LEFT", limited("UNLIMITED", func(start time.Time, limit time.Duration) string {
		return timeformat.ShortDuration(start.Add(limit).Sub(now))
	}))
	add('l', "TIME_LIMIT", limited("UNLIMITED", func(_ time.Time, limit time.Duration) string { return timeformat.ShortDuration(limit) }))
	add('D', "NODES", func(j job) string { return strconv.Itoa(len(j.Hosts)) })
	add('R', "NODELIST(REASON)", func(j job) string { return hostlist.CompressNames(j.Hosts) })
	add('N', "NODELIST", func(j job) string { return hostlist.CompressNames(j.Hosts) })
	add('S', "START_TIME", func(j job) string { return time.Unix(j.Start, 0).Format(timeformat.Standard) })
	add('e', "END_TIME", limited(unavailable, func(start time.Time, limit time.Duration) string { return start.Add(limit).Format(timeformat.Standard) }))
	add('a', "ACCOUNT", func(j job) string { return j.Spec.Account })
	add('q', "QOS", func(j job) string { return j.Spec.QOS })
	add('r', "REASON", func(job) string { return "None" })
	add('C', "CPUS", func(j job) string { return strconv.Itoa(len(j.Hosts) * j.Spec.CPUs) })
	add('Z', "WORK_DIR", func(j job) string { return j.Spec.WorkDir })
	for _, letter := range []byte("bBcdEfFgGhHIJkKmnoOpQsUvVwWxXyYz") {
		add(letter, unavailable, func(job) string { return unavailable })
	}
	return fields
}

// isOwnSqueue reports whether the arguments of squeue refer only to this job.
func isOwnSqueue(client *jobclient.Client, p getopt.Parsed) bool {
	ids, _ := p.LastValue("jobs")
	return client.AreOwnIDs(append(p.Operands, ids))
}
