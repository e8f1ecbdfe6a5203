package request

import (
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

var jobOptions = setGroup("Job",
	Option{Option: newRequired("job-name", 'J', "NAME", "Job name (default: name of the script)"), Env: "JOB_NAME", set: storeText(func(r *Request) *string { return &r.JobName })},
	Option{Option: newRequired("partition", 'p', "NAME", "Partition: a queue, or a partition from the profile"), Env: "PARTITION", set: setPartition},
	Option{Option: newRequired("account", 'A', "NAME", "Account"), Env: "ACCOUNT", set: storeText(func(r *Request) *string { return &r.Account })},
	Option{Option: newRequired("qos", 'q', "NAME", "Quality of service; without QOS in the cluster, a priority class or a name from the profile"), Env: "QOS", set: storeText(func(r *Request) *string { return &r.QOS })},
	Option{Option: newRequired("dependency", 'd', "TYPE:ID", "Other jobs to wait for: afterok:42:43, after:42+5, singleton"), Env: "DEPENDENCY", set: setDependency},
	Option{Option: newRequired("kill-on-invalid-dep", 0, "yes|no", "End the job if its dependency can never be met"), On: Sbatch | Srun, set: setKillOnInvalid},
	Option{Option: newRequired("array", 'a', "INDICES", "Task indices of a job array: 0-15, 0-99:4%10"), Env: "ARRAY_INX", On: Sbatch, set: setArray},
	Option{Option: newFlag("hold", 'H', "Submit the job in held state; use scontrol release to start it"), On: all, set: storeTrue(func(r *Request) *bool { return &r.Hold })},
	Option{Option: newFlag("requeue", 0, "Restart the job after an eviction (default)"), Env: "REQUEUE", On: Sbatch, set: storeRequeue(true)},
	Option{Option: newFlag("no-requeue", 0, "Do not restart the job after an eviction"), Env: "NO_REQUEUE", On: Sbatch, set: storeRequeue(false)},
	Option{Option: newOptional("no-kill", 'k', "off", "Continue the job if one of its nodes fails"), Env: "NO_KILL", set: setNoKill},
	Option{Option: newRequired("comment", 0, "TEXT", "Comment to store with the job"), Env: "COMMENT", set: storeText(func(r *Request) *string { return &r.Comment })},
	Option{Option: newRequired("wckey", 0, "KEY", "Workload characterization key for accounting"), Env: "WCKEY", set: storeText(func(r *Request) *string { return &r.WCKey })},
	Option{Option: newRequired("extra", 0, "TEXT", "Additional text to store with the job"), Env: "EXTRA", set: storeText(func(r *Request) *string { return &r.Extra })},
	Option{Option: newRequired("mail-type", 0, "EVENTS", "Events that trigger mail, stored with the job for a notifier"), Env: "MAIL_TYPE", set: setMailType},
	Option{Option: newRequired("mail-user", 0, "ADDRESS", "Recipient of mail, stored with the job for a notifier"), Env: "MAIL_USER", set: storeText(func(r *Request) *string { return &r.MailUser })},
)

var timeOptions = setGroup("Time",
	Option{Option: newRequired("time", 't', "TIME", "Time limit: minutes, H:MM:SS, D-HH:MM"), Env: "TIMELIMIT", set: setTime},
	Option{Option: newRequired("begin", 'b', "WHEN", "Earliest start: 16:00, 2026-11-21T22:00, now+2hours"), Env: "BEGIN", set: setBegin},
	Option{Option: newOptional("immediate", 'I', "SECONDS", "Fail if no resources are allocated within this time (without a value: 10 s)"), Env: "IMMEDIATE", On: Salloc | Srun, set: setImmediate},
	Option{Option: newRequired("signal", 0, "[B:]SIG[@S]", "Signal to send S seconds before the time limit"), Env: "SIGNAL", set: setSignal},
)

// storeText returns the setter for an option whose value is stored unchanged.
func storeText(field func(*Request) *string) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		*field(r) = text
		return nil
	}
}

// storeTrue returns the setter for a switch.
func storeTrue(field func(*Request) *bool) func(*Request, string, bool) error {
	return func(r *Request, _ string, _ bool) error {
		*field(r) = true
		return nil
	}
}

// mailTypes are the events of --mail-type in Slurm 22.05.
var mailTypes = []string{
	"NONE", "BEGIN", "END", "FAIL", "REQUEUE", "ALL", "INVALID_DEPEND", "STAGE_OUT", "TIME_LIMIT", "TIME_LIMIT_90", "TIME_LIMIT_80", "TIME_LIMIT_50", "ARRAY_TASKS",
}

func setMailType(r *Request, text string, _ bool) error {
	for event := range strings.SplitSeq(text, ",") {
		if !slices.Contains(mailTypes, strings.ToUpper(event)) {
			return invalidValueError("mail-type", &optionvalue.Bad{Hint: "use one or more of " + strings.Join(mailTypes, ", ") + ", separated by commas"})
		}
	}
	r.MailType = text
	return nil
}

func setPartition(r *Request, text string, _ bool) error {
	names := strings.FieldsFunc(text, func(letter rune) bool { return letter == ',' || letter == ' ' })
	r.Partition = strings.Join(names, ",")
	return nil
}

func setDependency(r *Request, text string, _ bool) error {
	r.Dependency = text
	if strings.EqualFold(text, "none") {
		r.Dependency = ""
	}
	return nil
}

func setKillOnInvalid(r *Request, text string, _ bool) error {
	switch strings.ToLower(text) {
	case "yes":
		r.KillOnInvalidDependency = true
	case "no":
		r.KillOnInvalidDependency = false
	default:
		return invalidValueError("kill-on-invalid-dep", &optionvalue.Bad{Hint: "use yes or no"})
	}
	return nil
}

// storeRequeue returns the setter for --requeue or --no-requeue. If both are specified, the later one takes precedence.
func storeRequeue(again bool) func(*Request, string, bool) error {
	return func(r *Request, _ string, _ bool) error {
		delete(r.Given, map[bool]string{true: "no-requeue", false: "requeue"}[again])
		r.Requeue = &again
		return nil
	}
}

func setNoKill(r *Request, text string, given bool) error {
	r.NoKill = !given || (!strings.EqualFold(text, "off") && !strings.EqualFold(text, "no"))
	return nil
}

func setArray(r *Request, text string, _ bool) error {
	a, err := optionvalue.ParseArray(text)
	if err != nil {
		return usererror.Errorf(optionvalue.HintOf(err), "Batch job submission failed: Invalid job array specification")
	}
	r.Array = &a
	return nil
}

func setTime(r *Request, text string, _ bool) error {
	minutes, err := optionvalue.ParseTime(text)
	if err != nil {
		return invalidValueError("time", err)
	}
	r.Time = &minutes
	return nil
}

func setBegin(r *Request, text string, _ bool) error {
	at, err := optionvalue.ParseDate(text, r.Now, optionvalue.Coming)
	if err != nil {
		return invalidValueError("begin", err)
	}
	at = at.Truncate(time.Second)
	r.Begin = &at
	return nil
}

// immediately is the default time that --immediate waits. It is not zero, because a pod needs some seconds to start.
const immediately = 10 * time.Second

func setImmediate(r *Request, text string, given bool) error {
	r.Immediate = immediately
	if !given || text == "" {
		return nil
	}
	n, err := optionvalue.ParseNumber(text)
	if err != nil {
		return invalidValueError("immediate", err)
	}
	r.Immediate = time.Duration(n) * time.Second
	return nil
}

func setSignal(r *Request, text string, _ bool) error {
	s, err := optionvalue.ParseSignal(text)
	if err != nil {
		return invalidValueError("signal", err)
	}
	r.Signal = &s
	return nil
}
