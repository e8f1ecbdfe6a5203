package state

import "strings"

// Code is the short name of a state, which consists of one to three letters.
type Code string

// The states of jobs.
const (
	Pending     Code = "PD"
	Configuring Code = "CF"
	Running     Code = "R"
	Requeued    Code = "RQ"
	Completing  Code = "CG"
	Completed   Code = "CD"
	Suspended   Code = "S"
	Cancelled   Code = "CA"
	Timeout     Code = "TO"
	OutOfMemory Code = "OOM"
	NodeFail    Code = "NF"
	Preempted   Code = "PR"
	BootFail    Code = "BF"
	Failed      Code = "F"
)

// names lists the long names, in the order of squeue's help.
var names = []struct {
	code Code
	name string
}{
	{Pending, "PENDING"}, {Configuring, "CONFIGURING"}, {Running, "RUNNING"}, {Requeued, "REQUEUED"}, {Completing, "COMPLETING"},
	{Completed, "COMPLETED"}, {Suspended, "SUSPENDED"}, {Cancelled, "CANCELLED"}, {Timeout, "TIMEOUT"}, {OutOfMemory, "OUT_OF_MEMORY"},
	{NodeFail, "NODE_FAIL"}, {Preempted, "PREEMPTED"}, {BootFail, "BOOT_FAIL"}, {Failed, "FAILED"},
}

// foreign lists Slurm's states that jobs never have here, so selecting the states is valid but finds nothing.
var foreign = map[string]Code{
	"DEADLINE": "DL", "RESV_DEL_HOLD": "RD", "REQUEUE_FED": "RF", "REQUEUE_HOLD": "RH", "RESIZING": "RS", "REVOKED": "RV", "SIGNALING": "SI",
	"SPECIAL_EXIT": "SE", "STAGE_OUT": "SO", "STOPPED": "ST", "POWER_UP_NODE": "PU", "LAUNCH_FAILED": "LF", "RECONFIG_FAIL": "RC", "UPDATE_DB": "UD",
}

// LongName returns the long name, such as PENDING for PD.
func (c Code) LongName() string {
	for _, n := range names {
		if n.code == c {
			return n.name
		}
	}
	for name, code := range foreign {
		if code == c {
			return name
		}
	}
	return string(c)
}

// AllCodes returns all states that jobs can have.
func AllCodes() []Code {
	codes := make([]Code, len(names))
	for i, n := range names {
		codes[i] = n.code
	}
	return codes
}

// HasEnded reports whether a job in this state has ended. A suspended job has not ended, because it may continue.
func (c Code) HasEnded() bool {
	switch c {
	case Pending, Configuring, Running, Requeued, Completing, Suspended:
		return false
	}
	return true
}

// IsListedByDefault reports whether squeue lists jobs in this state by default.
func (c Code) IsListedByDefault() bool {
	switch c {
	case Pending, Configuring, Running, Requeued, Completing, Suspended:
		return true
	}
	return false
}

// IsIdle reports whether a job in this state is pending or suspended. Array elements in the same idle state are shown
// in one row.
func (c Code) IsIdle() bool { return c == Pending || c == Suspended }

// BaseCode returns the state without flags. For a requeued job, the state without flags is pending.
func (c Code) BaseCode() Code {
	if c == Requeued {
		return Pending
	}
	return c
}

// AccountingCode returns the state as sacct shows it, because programs that call sacct treat every other state as the
// end of the job. Configuring and completing jobs are shown as running, and requeued jobs are shown as pending.
func (c Code) AccountingCode() Code {
	switch c {
	case Configuring, Completing:
		return Running
	}
	return c.BaseCode()
}

// ParseCode returns the state with the given short or long name, ignoring case. It also accepts Slurm's states that
// jobs never have here.
func ParseCode(text string) (Code, bool) {
	for _, n := range names {
		if strings.EqualFold(text, n.name) || strings.EqualFold(text, string(n.code)) {
			return n.code, true
		}
	}
	for name, code := range foreign {
		if strings.EqualFold(text, name) || strings.EqualFold(text, string(code)) {
			return code, true
		}
	}
	return "", false
}
