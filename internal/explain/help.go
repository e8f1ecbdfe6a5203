package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Help is a change with which a gang would start. The kinds are defined by the API.
type Help struct {
	Kind, Subject, From, To string
	// Tasks lists the tasks whose pods change; if empty, the pods of all tasks change.
	Tasks []string
	// WithMinResources is true if the author of the PodGroup must reduce minResources together with the minimum. For
	// the PodGroup of a job, the controller reduces both.
	WithMinResources bool
	// Gate is true if the change leads to admission to the queue. Whether the gang can then start is unknown until
	// its pods exist.
	Gate bool
}

// numberDifference returns the difference between two numbers in text form.
func numberDifference(from, to string) string {
	f, errFrom := strconv.Atoi(from)
	t, errTo := strconv.Atoi(to)
	if errFrom != nil || errTo != nil {
		return "as many"
	}
	return strconv.Itoa(f - t)
}

// API converts the help to its API type, including its text.
func (h Help) API() schedulingv1beta1.Help {
	return schedulingv1beta1.Help{Kind: h.Kind, Subject: h.Subject, From: h.From, To: h.To, Text: h.describeHelp()}
}

func (h Help) describeHelp() string {
	then := "the job would start now"
	if h.Gate {
		then = "the job would be admitted to its queue now"
	}
	switch h.Kind {
	case schedulingv1beta1.HelpFewerMembers:
		if h.Subject != "" {
			return fmt.Sprintf("with minAvailable %s instead of %s for task %s, and minAvailable of the job lowered by %s, %s", h.To, h.From, h.Subject, numberDifference(h.From, h.To), then)
		}
		if h.WithMinResources {
			return fmt.Sprintf("with minAvailable %s instead of %s, and matching minResources, %s", h.To, h.From, then)
		}
		return fmt.Sprintf("with minAvailable %s instead of %s, %s", h.To, h.From, then)
	case schedulingv1beta1.HelpSmallerPods:
		of := ""
		if len(h.Tasks) > 0 {
			of = " of task " + strings.Join(h.Tasks, " and ")
		}
		return fmt.Sprintf("with %s %s per pod%s instead of %s, %s", h.Subject, h.To, of, h.From, then)
	case schedulingv1beta1.HelpDropSelector:
		return fmt.Sprintf("without the node selector %s=%s, %s", h.Subject, h.From, then)
	case schedulingv1beta1.HelpAddToleration:
		return fmt.Sprintf("with a toleration for the taint %s, %s", h.Subject, then)
	case schedulingv1beta1.HelpRaiseCapability:
		return fmt.Sprintf("with capability %s of queue %s instead of %s, %s", h.To, h.Subject, h.From, then)
	case schedulingv1beta1.HelpOtherQueue:
		if h.Gate {
			then = "the job would be admitted now"
		}
		return fmt.Sprintf("in queue %s, %s", h.To, then)
	case schedulingv1beta1.HelpCreateQueue:
		return fmt.Sprintf("if queue %s existed, %s", h.Subject, then)
	case schedulingv1beta1.HelpOpenQueue:
		return fmt.Sprintf("if queue %s were open, %s", h.Subject, then)
	case schedulingv1beta1.HelpHigherPriority:
		return fmt.Sprintf("with priority %s instead of %s, %s", h.To, h.From, then)
	case schedulingv1beta1.HelpShorterRun:
		return fmt.Sprintf("with %s of at most %s, %s", h.Subject, h.To, then)
	case schedulingv1beta1.HelpCreateClaim:
		return fmt.Sprintf("if PersistentVolumeClaim %s existed, with a volume that the nodes can access, %s", h.Subject, then)
	case schedulingv1beta1.HelpWait:
		return "no change is needed: the job starts at " + h.To + " at the latest"
	}
	return h.Kind
}

// AdviseWaiting returns the advice to wait until the specified time.
func AdviseWaiting(until time.Time) Help {
	return Help{Kind: schedulingv1beta1.HelpWait, To: until.UTC().Format(time.RFC3339)}
}

// FormatRunTime formats a duration as the value of the field that limits or estimates the run time.
func FormatRunTime(field string, length time.Duration) string {
	if field == schedulingv1beta1.RunTimeLimit {
		return strconv.FormatInt(int64(length/time.Second), 10)
	}
	return textformat.FormatDuration(length)
}

// FormatAmount formats an amount in the model's unit.
func FormatAmount(resource string, value int64) string {
	return formatRoundedUp(resource, float64(value))
}

// RoundForUser rounds an amount down to a value that a user might write.
func RoundForUser(index int, value int64) int64 {
	step := int64(1)
	switch {
	case index == resource.CPU && value >= 1000:
		step = 100
	case index == resource.CPU && value >= 100:
		step = 10
	case (index == resource.Memory || index == resource.Storage) && value >= 1<<30:
		step = 64 << 20
	case (index == resource.Memory || index == resource.Storage) && value >= 1<<20:
		step = 1 << 20
	}
	return value / step * step
}
