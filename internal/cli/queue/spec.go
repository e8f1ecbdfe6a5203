package queue

import (
	"errors"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// spec is a queue as described by flags.
type spec struct {
	weight                          int32
	parent                          string
	priority                        int32
	reclaimable                     bool
	capability, guarantee, deserved string
	limits                          jobLimits
}

// addUpdateFlags adds the flags of an update. They have no defaults, because a flag that is not specified changes
// nothing.
func (s *spec) addUpdateFlags(f *cli.Factory, cmd *cobra.Command) {
	s.addFlags(f, cmd)
	cmd.Flags().Lookup("weight").DefValue = "0" // the help omits a default that is the zero value
	cmd.Flags().Lookup("reclaimable").DefValue = "false"
	cmd.Flags().Lookup("parent").Usage = "Parent queue"
}

func (s *spec) addFlags(f *cli.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int32VarP(&s.weight, "weight", "w", 1, "Weight of the queue, relative to its sibling queues")
	flags.StringVar(&s.parent, "parent", "", "Parent queue (default \"root\")")
	flags.Int32Var(&s.priority, "priority", 0, "Priority of the queue: queues with a higher priority are served first")
	flags.BoolVar(&s.reclaimable, "reclaimable", true, "Allow other queues to reclaim resources that this queue uses beyond its share")
	flags.StringVar(&s.capability, "capability", "", "Maximum resources of the queue, for example cpu=16,memory=64Gi")
	flags.StringVar(&s.guarantee, "guarantee", "", "Resources reserved for the queue, for example cpu=2,memory=8Gi")
	flags.StringVar(&s.deserved, "deserved", "", "Resources that the queue deserves, for example cpu=8,memory=32Gi; used by the capacity policy (the proportion policy uses --weight)")
	s.limits.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("parent", f.CompleteQueues())
}

// maxWeight is the maximum weight in the API.
const maxWeight = 65535

// applyFlags sets the fields whose flags were specified.
func (s *spec) applyFlags(cmd *cobra.Command, q *schedulingv1beta1.QueueSpec) (changed bool, err error) {
	given := func(name string) bool {
		isGiven := cmd.Flags().Lookup(name).Changed
		changed = changed || isGiven
		return isGiven
	}
	var problems []error
	if given("weight") {
		if q.Weight = s.weight; s.weight < 1 || s.weight > maxWeight {
			problems = append(problems, usererror.Errorf("a queue with weight 2 gets twice the share of a sibling with weight 1", "--weight: %d is not between 1 and %d", s.weight, maxWeight))
		}
	}
	if given("parent") {
		q.Parent = s.parent
	}
	if given("priority") {
		q.Priority = s.priority
	}
	if given("reclaimable") {
		q.Reclaimable = &s.reclaimable
	}
	for _, one := range []struct {
		name, text string
		list       *corev1.ResourceList
	}{
		{"capability", s.capability, &q.Capability}, {"guarantee", s.guarantee, &q.Guarantee.Resource}, {"deserved", s.deserved, &q.Deserved},
	} {
		if given(one.name) {
			list, err := parseResourceList("--"+one.name, one.text)
			problems = append(problems, err)
			*one.list = list
		}
	}
	problems = append(problems, s.limits.applyFlags(given, q))
	return changed, errors.Join(problems...)
}

// takesResources reports whether a change takes resources away from a queue: it lowers a limit or a share, or allows
// other queues to reclaim more.
func takesResources(old, fresh *schedulingv1beta1.Queue) bool {
	a, b := &old.Spec, &fresh.Spec
	switch {
	case b.Weight < a.Weight, b.Priority < a.Priority, old.ParentName() != fresh.ParentName():
		return true
	case isReclaimable(b) && !isReclaimable(a):
		return true
	}
	return lowersLimit(a.Capability, b.Capability) || lowersShare(a.Deserved, b.Deserved) || lowersShare(a.Guarantee.Resource, b.Guarantee.Resource)
}

func isReclaimable(q *schedulingv1beta1.QueueSpec) bool {
	return q.Reclaimable == nil || *q.Reclaimable
}

// lowersLimit reports whether any limit is new or lower. A missing limit means unlimited.
func lowersLimit(before, after corev1.ResourceList) bool {
	for name, limit := range after {
		if old, limited := before[name]; !limited || limit.Cmp(old) < 0 {
			return true
		}
	}
	return false
}

// lowersShare reports whether any amount is lower or has been removed.
func lowersShare(before, after corev1.ResourceList) bool {
	for name, old := range before {
		if now := after[name]; now.Cmp(old) < 0 {
			return true
		}
	}
	return false
}
