package state

import "strings"

// Code is the short form of a state: two letters, or three.
type Code string

// The states that a job of ours can be in.
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

// names are the long forms, in the order in which squeue's help lists them.
var names = []struct {
	code Code
	name string
}{
	{Pending, "PENDING"}, {Configuring, "CONFIGURING"}, {Running, "RUNNING"}, {Requeued, "REQUEUED"}, {Completing, "COMPLETING"},
	{Completed, "COMPLETED"}, {Suspended, "SUSPENDED"}, {Cancelled, "CANCELLED"}, {Timeout, "TIMEOUT"}, {OutOfMemory, "OUT_OF_MEMORY"},
	{NodeFail, "NODE_FAIL"}, {Preempted, "PREEMPTED"}, {BootFail, "BOOT_FAIL"}, {Failed, "FAILED"},
}

// foreign are states of Slurm's in which no job of ours is ever: to ask for them is no error and finds nothing.
var foreign = map[string]Code{
	"DEADLINE": "DL", "RESV_DEL_HOLD": "RD", "REQUEUE_FED": "RF", "REQUEUE_HOLD": "RH", "RESIZING": "RS", "REVOKED": "RV", "SIGNALING": "SI",
	"SPECIAL_EXIT": "SE", "STAGE_OUT": "SO", "STOPPED": "ST", "POWER_UP_NODE": "PU", "LAUNCH_FAILED": "LF", "RECONFIG_FAIL": "RC", "UPDATE_DB": "UD",
}

// Name is the long form: PENDING for PD.
func (c Code) Name() string {
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

// Codes are all states that a job of ours can be in.
func Codes() []Code {
	codes := make([]Code, len(names))
	for i, n := range names {
		codes[i] = n.code
	}
	return codes
}

// Ended says whether a job in this state is over. A suspended one may go on.
func (c Code) Ended() bool {
	switch c {
	case Pending, Configuring, Running, Requeued, Completing, Suspended:
		return false
	}
	return true
}

// Default says whether squeue lists a job in this state when it is not told which.
func (c Code) Default() bool {
	switch c {
	case Pending, Configuring, Running, Requeued, Completing, Suspended:
		return true
	}
	return false
}

// Idle says whether a job in this state waits to be started, or to be resumed: elements of an array that do so are told in one row.
func (c Code) Idle() bool { return c == Pending || c == Suspended }

// Base is the state without what is only a flag on it: a requeued job is pending, a completing one has not ended.
func (c Code) Base() Code {
	if c == Requeued {
		return Pending
	}
	return c
}

// Accounted is the state as sacct keeps it: being configured and completing are only flags on a running job there, and a requeued job is pending.
// Programs that ask sacct take every other word for the end of the job.
func (c Code) Accounted() Code {
	switch c {
	case Configuring, Completing:
		return Running
	}
	return c.Base()
}

// Parse reads a state by its short or its long name, in any case. A state of Slurm's in which no job of ours is ever is read, too.
func Parse(text string) (Code, bool) {
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
