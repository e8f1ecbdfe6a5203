package step

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// squeueTable lists the options of squeue that are supported inside a job.
var squeueTable = getopt.Table{Program: "squeue", Options: []getopt.Option{
	{Long: "noheader", Short: 'h', Help: "do not print the header"},
	{Long: "jobs", Short: 'j', Arg: getopt.Optional, Value: "ids", Help: "only these jobs"},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "format", Help: "columns to print: %i %j %t %M %L %l %D %P %u %N"},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "states", Help: "only jobs in these states"},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "users", Help: "only jobs of these users"},
	{Long: "me", Help: "only your jobs"},
	{Long: "version", Short: 'V', Help: "print the version"},
	{Long: "help", Help: "print this help"},
	{Long: "usage", Help: "print a brief list of all options"},
}}

// RunSqueue shows this job.
func RunSqueue(ctx context.Context, args []string) int {
	if err := becomeIfForeign("squeue", args, isOwnSqueue(args)); err != nil {
		return reportError("squeue", err)
	}
	p, err := squeueTable.ParseArguments(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "squeue: %v\n", err)
		return 1
	}
	if printInformation(&squeueTable, p) {
		return 0
	}
	_, job, err := requestOwnJob(ctx)
	if err != nil {
		return reportError("squeue", err)
	}
	ids, _ := p.LastValue("jobs")
	ids = strings.Join(append(p.Operands, ids), ",")
	for id := range strings.SplitSeq(ids, ",") {
		if id != "" && !job.matchesID(id) {
			return reportError("squeue", foreignJobError(id, job))
		}
	}
	if !job.matchesFilters(p) {
		job = nil
	}
	format, given := p.LastValue("format")
	if !given {
		format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
	}
	if !p.Has("noheader") {
		fmt.Fprintln(os.Stdout, formatRow(format, columnHeadings()))
	}
	if job != nil {
		fmt.Fprintln(os.Stdout, formatRow(format, job.columnValues(time.Now())))
	}
	return 0
}

// matchesFilters reports whether this job, which is running, passes the filters of squeue.
func (j *jobAnswer) matchesFilters(p getopt.Parsed) bool {
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

// columnHeadings returns the headings of squeue's columns, by format letter.
func columnHeadings() map[byte]string {
	return map[byte]string{'i': "JOBID", 'A': "JOBID", 'P': "PARTITION", 'j': "NAME", 'u': "USER", 't': "ST", 'T': "STATE", 'M': "TIME", 'L': "TIME_LEFT", 'l': "TIME_LIMIT",
		'D': "NODES", 'R': "NODELIST(REASON)", 'N': "NODELIST", 'S': "START_TIME", 'e': "END_TIME", 'a': "ACCOUNT", 'q': "QOS", 'r': "REASON", 'C': "CPUS", 'Z': "WORK_DIR"}
}

// columnValues returns the values of the job's columns, by format letter.
func (j *jobAnswer) columnValues(now time.Time) map[byte]string {
	limit, left, end := "UNLIMITED", "UNLIMITED", "N/A"
	used := now.Unix() - j.Start
	if s := j.Spec.TimeLimit; s > 0 {
		limit, left, end = timeformat.ShortDuration(toSeconds(s)), timeformat.ShortDuration(toSeconds(s-used)), time.Unix(j.Start+s, 0).Format(timeformat.Standard)
	}
	id := j.Pod.SlurmJobID()
	if j.Pod.ArrayIndex >= 0 {
		id = j.Pod.JobID + "_" + strconv.Itoa(j.Pod.ArrayIndex)
	}
	nodes := hostlist.CompressNames(j.Hosts)
	return map[byte]string{'i': id, 'A': j.Pod.SlurmJobID(), 'P': j.Spec.Partition, 'j': j.Spec.JobName, 'u': j.Spec.User, 't': "R", 'T': "RUNNING", 'M': timeformat.ShortDuration(toSeconds(used)), 'L': left, 'l': limit,
		'D': strconv.Itoa(len(j.Hosts)), 'R': nodes, 'N': nodes, 'S': time.Unix(j.Start, 0).Format(timeformat.Standard), 'e': end, 'a': j.Spec.Account, 'q': j.Spec.QOS, 'r': "None",
		'C': strconv.Itoa(len(j.Hosts) * j.Spec.CPUs), 'Z': j.Spec.WorkDir}
}

func toSeconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// formatRow formats a row. Each column has the form %[.][width]letter, where a dot aligns to the right.
func formatRow(format string, fields map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		right := format[i] == '.'
		if right {
			i++
		}
		begin := i
		for i < len(format) && format[i] >= '0' && format[i] <= '9' {
			i++
		}
		if i == len(format) {
			break
		}
		width, _ := strconv.Atoi(format[begin:i])
		text, ok := fields[format[i]]
		if !ok {
			text = "N/A"
		}
		if width > 0 && len(text) > width {
			text = text[:width]
		}
		if right {
			fmt.Fprintf(&b, "%*s", width, text)
		} else {
			fmt.Fprintf(&b, "%-*s", width, text)
		}
	}
	return b.String()
}
