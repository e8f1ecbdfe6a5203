package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// scontrolTable are the options of scontrol that make sense here.
var scontrolTable = getopt.Table{Program: "scontrol", Operands: "command", Stop: false, Options: []getopt.Option{
	{Long: "oneliner", Short: 'o', Help: "one line"},
	{Long: "quiet", Short: 'Q', Help: "say nothing"},
	{Long: "details", Short: 'd', Help: "no more than without it"},
	{Long: "version", Short: 'V', Help: "the version"},
	{Long: "help", Short: 'h', Help: "this text"},
	{Long: "usage", Help: "the options in short"},
}}

// Scontrol is what a script asks of scontrol: lists of hosts, its own job, and to be run again.
func Scontrol(ctx context.Context, args []string) int {
	p, err := scontrolTable.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "scontrol: %v\n", err)
		return 1
	}
	if informed(&scontrolTable, p) {
		return 0
	}
	if len(p.Operands) == 0 {
		return report("scontrol", errors.New("a command is needed: show hostnames, show hostlist, show job, requeue"))
	}
	verb, rest := p.Operands[0], p.Operands[1:]
	switch {
	case isWord(verb, "show", 2) && len(rest) > 0:
		return report("scontrol", show(ctx, os.Stdout, rest, p.Has("oneliner")))
	case isWord(verb, "requeue", 3):
		return report("scontrol", requeue(ctx, rest))
	case isWord(verb, "ping", 2):
		fmt.Fprintln(os.Stdout, "Slurmctld(primary) is UP")
		return 0
	}
	return report("scontrol", fmt.Errorf("%q cannot be done from inside a job; use scontrol where the job was submitted", strings.Join(p.Operands, " ")))
}

// isWord says whether text begins word, with as many letters at least.
func isWord(text, word string, least int) bool {
	return len(text) >= least && strings.HasPrefix(word, strings.ToLower(text))
}

func show(ctx context.Context, out io.Writer, words []string, oneLine bool) error {
	what, arguments := strings.ToLower(words[0]), words[1:]
	list := os.Getenv("SLURM_JOB_NODELIST")
	if len(arguments) > 0 {
		list = strings.Join(arguments, ",")
	}
	switch {
	case isWord(what, "hostnames", 5):
		if list == "" {
			return says("SLURM_JOB_NODELIST is not set, and no list of hosts was given")
		}
		hosts, err := hostlist.Expand(list)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			fmt.Fprintln(out, host)
		}
		return nil
	case what == "hostlist", what == "hostlistsorted":
		hosts, err := hostlist.Expand(list)
		if err != nil {
			return err
		}
		if what == "hostlistsorted" {
			hostlist.Sort(hosts)
		}
		fmt.Fprintln(out, hostlist.Compress(hosts))
		return nil
	case isWord(what, "jobs", 1):
		return showJob(ctx, out, arguments, oneLine)
	}
	return fmt.Errorf("show %s cannot be done from inside a job; use scontrol where the job was submitted", words[0])
}

// showJob prints the own job, key=value.
func showJob(ctx context.Context, out io.Writer, ids []string, oneLine bool) error {
	h, job, err := ownJob(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !job.called(id) {
			return foreign(id, job)
		}
	}
	end := "Unknown"
	limit := "UNLIMITED"
	start := time.Unix(job.Start, 0)
	if s := job.Spec.TimeLimit; s > 0 {
		end, limit = start.Add(time.Duration(s)*time.Second).Format(slurmTime), clock(s, true)
	}
	lines := []string{
		fmt.Sprintf("JobId=%s JobName=%s", job.Pod.ID(), job.Spec.JobName),
		fmt.Sprintf("UserId=%s Account=%s QOS=%s", job.Spec.User, cmp.Or(job.Spec.Account, "(null)"), cmp.Or(job.Spec.QOS, "(null)")),
		fmt.Sprintf("JobState=RUNNING Reason=None Requeue=%d Restarts=%d BatchFlag=%d", bit(!job.Spec.NoRequeue), job.Pod.Restarts, bit(!job.Spec.Interactive)),
		fmt.Sprintf("RunTime=%s TimeLimit=%s", clock(int64(time.Since(start).Seconds()), true), limit),
		fmt.Sprintf("StartTime=%s EndTime=%s", start.Format(slurmTime), end),
		fmt.Sprintf("Partition=%s BatchHost=%s", job.Spec.Partition, job.Hosts[0]),
		fmt.Sprintf("NodeList=%s NumNodes=%d NumCPUs=%d NumTasks=%d", hostlist.Compress(job.Hosts), len(job.Hosts), len(job.Hosts)*job.Spec.CPUs, job.Spec.TasksOf(len(job.Hosts))),
		fmt.Sprintf("WorkDir=%s StdOut=%s", cmp.Or(job.Spec.WorkDir, "/"), cmp.Or(job.expand(h, job.Spec.Output), "(pod log)")),
	}
	if oneLine {
		fmt.Fprintln(out, strings.Join(lines, " "))
		return nil
	}
	fmt.Fprintln(out, strings.Join(lines, "\n   ")+"\n")
	return nil
}

// bit is how scontrol writes yes and no.
func bit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

const slurmTime = "2006-01-02T15:04:05"

// clock writes seconds as Slurm does, [D-][HH:]MM:SS.
func clock(seconds int64, hours bool) string {
	days, rest := seconds/86400, seconds%86400
	switch {
	case days > 0:
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, rest/3600, rest/60%60, rest%60)
	case hours || rest >= 3600:
		return fmt.Sprintf("%02d:%02d:%02d", rest/3600, rest/60%60, rest%60)
	}
	return fmt.Sprintf("%d:%02d", rest/60, rest%60)
}

// ownJob asks the launcher.
func ownJob(ctx context.Context) (*here, *jobAnswer, error) {
	h, err := findHere()
	if err != nil {
		return nil, nil, err
	}
	var job jobAnswer
	return h, &job, h.question(ctx, request{Job: true}, &job)
}

// called says whether a job id is this job's: its number, its array's with the element, or its name.
func (j *jobAnswer) called(id string) bool {
	if j.Pod.ArrayIndex >= 0 && id == j.Pod.JobID+"_"+strconv.Itoa(j.Pod.ArrayIndex) {
		return true
	}
	return id == j.Pod.ID() || id == j.Pod.Job || j.Pod.ArrayIndex < 0 && id == j.Pod.JobID
}

func foreign(id string, job *jobAnswer) error {
	return fmt.Errorf("job %s is not this job, %s: from inside a job only the job itself can be reached, because its pods have no rights in the cluster", id, job.Pod.ID())
}

func (j *jobAnswer) expand(h *here, pattern string) string {
	if pattern == "" {
		return ""
	}
	text, err := namesOf(j, h).Expand(pattern)
	if err != nil {
		return pattern
	}
	return text
}

// namesOf are what patterns of file names stand for in the job's script.
func namesOf(j *jobAnswer, h *here) launch.Names {
	return launch.NamesOf(&j.Spec, &j.Pod, launch.Place{Hosts: h.place.Hosts})
}

// requeue ends the job so that it begins anew.
func requeue(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return errors.New("requeue wants a job: scontrol requeue $SLURM_JOB_ID")
	}
	h, job, err := ownJob(ctx)
	if err != nil {
		return err
	}
	for _, list := range ids {
		for id := range strings.SplitSeq(list, ",") {
			if !job.called(id) {
				return foreign(id, job)
			}
		}
	}
	if job.Spec.NoRequeue {
		return says("Requested operation is presently disabled for job %s: it was submitted with --no-requeue", job.Pod.ID())
	}
	return h.question(ctx, request{End: &endRequest{Requeue: true}}, nil)
}

// scancelTable are the options of scancel that make sense here.
var scancelTable = getopt.Table{Program: "scancel", Operands: "[job_id[.step_id]...]", Options: []getopt.Option{
	{Long: "signal", Short: 's', Arg: getopt.Required, Value: "name", Help: "send this signal instead of ending the job"},
	{Long: "batch", Short: 'b', Help: "to the script only"},
	{Long: "full", Short: 'f', Help: "to script and steps"},
	{Long: "quiet", Short: 'Q', Help: "say nothing"},
	{Long: "verbose", Short: 'v', Help: "say more"},
	{Long: "version", Short: 'V', Help: "the version"},
	{Long: "help", Short: 'h', Help: "this text"},
	{Long: "usage", Help: "the options in short"},
}}

// Scancel ends the own job, or one of its steps, or sends it a signal.
func Scancel(ctx context.Context, args []string) int {
	p, err := scancelTable.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "scancel: %v\n", err)
		return 1
	}
	if informed(&scancelTable, p) {
		return 0
	}
	if len(p.Operands) == 0 {
		return report("scancel", says("No job identification provided"))
	}
	h, job, err := ownJob(ctx)
	if err != nil {
		return report("scancel", err)
	}
	text, signalled := p.Last("signal")
	for _, operand := range p.Operands {
		id, step, _ := strings.Cut(operand, ".")
		if !job.called(id) {
			return report("scancel", foreign(id, job))
		}
		r := request{End: &endRequest{Cancel: true}}
		if signalled || step != "" || p.Has("batch") || p.Has("full") {
			if r.Signal, err = signalOf(cmp.Or(text, "TERM"), step, p.Has("batch"), p.Has("full")); err != nil {
				return report("scancel", err)
			}
			r.End = nil
		}
		if err := h.question(ctx, r, nil); err != nil {
			return report("scancel", err)
		}
	}
	return 0
}

// signalOf says what gets a signal: the steps unless it says otherwise.
func signalOf(text, step string, batch, full bool) (*signalRequest, error) {
	number, err := signalNumber(text)
	if err != nil {
		return nil, says("Unknown job signal: %s", text)
	}
	r := &signalRequest{Number: number, Step: -1, Batch: batch || full, Steps: full || !batch}
	switch step {
	case "":
	case "batch":
		r.Batch, r.Steps = true, false
	default:
		if r.Step, err = strconv.Atoi(step); err != nil || r.Step < 0 {
			return nil, says("Invalid job id specified: step %q", step)
		}
		r.Batch, r.Steps = false, false
	}
	return r, nil
}

// squeueTable are the options of squeue that make sense here.
var squeueTable = getopt.Table{Program: "squeue", Options: []getopt.Option{
	{Long: "noheader", Short: 'h', Help: "no header line"},
	{Long: "jobs", Short: 'j', Arg: getopt.Optional, Value: "ids", Help: "these jobs"},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "format", Help: "what to print: %i %j %t %M %L %l %D %P %u %N"},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "states", Help: "jobs in these states"},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "users", Help: "jobs of these users"},
	{Long: "me", Help: "own jobs"},
	{Long: "version", Short: 'V', Help: "the version"},
	{Long: "help", Help: "this text"},
	{Long: "usage", Help: "the options in short"},
}}

// Squeue shows the own job.
func Squeue(ctx context.Context, args []string) int {
	p, err := squeueTable.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "squeue: %v\n", err)
		return 1
	}
	if informed(&squeueTable, p) {
		return 0
	}
	_, job, err := ownJob(ctx)
	if err != nil {
		return report("squeue", err)
	}
	ids, _ := p.Last("jobs")
	ids = strings.Join(append(p.Operands, ids), ",")
	for id := range strings.SplitSeq(ids, ",") {
		if id != "" && !job.called(id) {
			return report("squeue", foreign(id, job))
		}
	}
	if !job.shown(p) {
		job = nil
	}
	format, given := p.Last("format")
	if !given {
		format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
	}
	if !p.Has("noheader") {
		fmt.Fprintln(os.Stdout, rowOf(format, headings()))
	}
	if job != nil {
		fmt.Fprintln(os.Stdout, rowOf(format, job.fields(time.Now())))
	}
	return 0
}

// shown says whether the own job, which runs, is among those that squeue was asked for.
func (j *jobAnswer) shown(p getopt.Parsed) bool {
	for name, own := range map[string][]string{"user": {j.Spec.User}, "states": {"R", "RUNNING", "ALL"}} {
		list, given := p.Last(name)
		if given && !slices.ContainsFunc(strings.Split(list, ","), func(word string) bool {
			return slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, word) })
		}) {
			return false
		}
	}
	return true
}

// headings are those of squeue's columns.
func headings() map[byte]string {
	return map[byte]string{'i': "JOBID", 'A': "JOBID", 'P': "PARTITION", 'j': "NAME", 'u': "USER", 't': "ST", 'T': "STATE", 'M': "TIME", 'L': "TIME_LEFT", 'l': "TIME_LIMIT",
		'D': "NODES", 'R': "NODELIST(REASON)", 'N': "NODELIST", 'S': "START_TIME", 'e': "END_TIME", 'a': "ACCOUNT", 'q': "QOS", 'r': "REASON", 'C': "CPUS", 'Z': "WORK_DIR"}
}

// fields are the job's, by squeue's letters.
func (j *jobAnswer) fields(now time.Time) map[byte]string {
	limit, left, end := "UNLIMITED", "UNLIMITED", "N/A"
	used := now.Unix() - j.Start
	if s := j.Spec.TimeLimit; s > 0 {
		limit, left, end = clock(s, false), clock(max(0, s-used), false), time.Unix(j.Start+s, 0).Format(slurmTime)
	}
	id := j.Pod.ID()
	if j.Pod.ArrayIndex >= 0 {
		id = j.Pod.JobID + "_" + strconv.Itoa(j.Pod.ArrayIndex)
	}
	nodes := hostlist.Compress(j.Hosts)
	return map[byte]string{'i': id, 'A': j.Pod.ID(), 'P': j.Spec.Partition, 'j': j.Spec.JobName, 'u': j.Spec.User, 't': "R", 'T': "RUNNING", 'M': clock(used, false), 'L': left, 'l': limit,
		'D': strconv.Itoa(len(j.Hosts)), 'R': nodes, 'N': nodes, 'S': time.Unix(j.Start, 0).Format(slurmTime), 'e': end, 'a': j.Spec.Account, 'q': j.Spec.QOS, 'r': "None",
		'C': strconv.Itoa(len(j.Hosts) * j.Spec.CPUs), 'Z': j.Spec.WorkDir}
}

// rowOf fills %[.][width]letter.
func rowOf(format string, fields map[byte]string) string {
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
