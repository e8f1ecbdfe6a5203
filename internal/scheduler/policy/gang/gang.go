// Package gang places gangs as a whole: a PodGroup gets its minimum, including the minimums of its tasks, or nothing.
//
//	In:   minMember, minTaskMember, minSubGroups, the pods that exist
//	Out:  rules JobValid and JobOrder, and the rule that minimums apply
package gang

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	// keepArgument sets how long the resources of lost pods of a running gang are held for recovery; 0s disables the
	// hold.
	keepArgument = "gang.keep-lost-room"
	// usualKeep gives a controller enough time to create a new pod, without delaying waiting gangs for long.
	usualKeep   = 30 * time.Second
	longestKeep = time.Hour
)

// Policy implements the gang policy.
type Policy struct {
	conf config.Plugin
	keep time.Duration
	// release is how long a broken gang keeps its pods; 0 means forever. A gang is broken if it runs with fewer pods
	// than its minimum.
	release time.Duration
	// window is the time after which a gang that never reached its minimum releases its pods; 0 means never.
	window time.Duration
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{
		conf:    conf,
		keep:    parseDuration(conf.Arguments, keepArgument, usualKeep, longestKeep, usualKeep.String()+" is used", warn),
		release: parseReleaseTime(conf.Arguments, warn),
		window:  parseDuration(conf.Arguments, windowArgument, usualWindow, longestKeep, usualWindow.String()+" is used", warn),
	}
}

// Name returns "gang".
func (*Policy) Name() string { return "gang" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	s.Rules.KeepLost = p.keep
	s.Rules.Gang = s.Rules.Gang || p.conf.Enabled("enableJobReady")
	s.Rules.JobValid = append(s.Rules.JobValid, func(j *framework.Job) explain.Verdict { return checkMinimum(s, j) })
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, compareNeediestFirst)
	}
	s.Rules.Groups = s.Rules.Groups || p.conf.Enabled("enabledSubJobReady")
	if p.conf.Enabled("enabledSubJobOrder") {
		s.Rules.GroupOrder = append(s.Rules.GroupOrder, compareBegunFirst)
	}
	if p.conf.Enabled("enableJobStarving") {
		s.Rules.Starve((*framework.Job).IsStarving)
	}
	p.registerMinimumGuard(&s.Rules)
	p.releaseBroken(s)
	p.releasePartial(s)
}

// compareNeediestFirst orders gangs that lost part of their minimum first, then gangs that hold no pods yet, then gangs
// that need only pods beyond their minimum.
func compareNeediestFirst(a, b *framework.Job) int {
	return cmp.Compare(satisfactionRank(a), satisfactionRank(b))
}

// compareBegunFirst orders sub-groups that already hold pods before others, so that they are completed first.
func compareBegunFirst(a, b *framework.Group) int {
	begun := func(g *framework.Group) int { return min(g.Held, 1) }
	return cmp.Compare(begun(b), begun(a))
}

func satisfactionRank(j *framework.Job) int {
	switch {
	case j.Need() == 0 && (len(j.SubGroups) == 0 || len(j.GroupNeeds()) == 0):
		return 2
	case j.IsBroken():
		return 0
	}
	return 1
}

// checkMinimum returns a verdict if too few pods of the gang exist, or if too many of them have scheduling gates.
func checkMinimum(s *session.Session, j *framework.Job) explain.Verdict {
	v := findShortage(s, j, nil)
	if v.Code != reason.NotEnoughPods || j.Gated == 0 {
		return v
	}
	var gated []*model.Task
	for _, t := range j.Tasks {
		if t.Status == model.Pending && t.Gated {
			gated = append(gated, t)
		}
	}
	if findShortage(s, j, gated).Code == "" {
		return explain.Verdict{Code: reason.SchedulingGated, Members: s.Members(j, 0), Gated: len(gated), Gates: distinctGates(gated)}
	}
	return v
}

// distinctGates returns the distinct names of the tasks' scheduling gates.
func distinctGates(gated []*model.Task) []string {
	var names []string
	for _, t := range gated {
		for _, name := range t.Gates {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// findShortage returns a verdict about the part of a gang's minimum for which too few pods exist. It counts the tasks
// in more as if they were pending tasks that can be placed.
func findShortage(s *session.Session, j *framework.Job, more []*model.Task) explain.Verdict {
	if role, missing := findShortRole(j, more); role != "" {
		return explain.Verdict{Code: reason.NotEnoughPods, Role: role, RoleMin: j.MinTaskMember[role], RoleMissing: missing, Members: s.Members(j, 0)}
	}
	if v := findShortGroups(s, j, more); v.Code != "" {
		return v
	}
	if possibleTasks(j)+len(more) < j.MinMember {
		return explain.Verdict{Code: reason.NotEnoughPods, Members: s.Members(j, 0)}
	}
	return explain.Verdict{}
}

// findShortGroups returns a verdict about sub-groups that have too few pods or an invalid policy.
func findShortGroups(s *session.Session, j *framework.Job, more []*model.Task) explain.Verdict {
	for i := range j.SubGroups {
		if p := &j.SubGroups[i]; p.Problem != "" {
			return explain.Verdict{Code: reason.SubGroupInvalid, SubGroup: p.Name, Topology: p.Name + ": " + p.Problem, Members: s.Members(j, 0)}
		}
	}
	policy, group, have, short := j.ShortGroups(more...)
	if !short {
		return explain.Verdict{}
	}
	text := fmt.Sprintf("%d of %d required sub-groups of %s have all %d pods", have, policy.Min, policy.Name, policy.Size)
	if group != nil {
		text += fmt.Sprintf("; %s has %d", group.Name, j.CountGroupPods(group))
	}
	return explain.Verdict{Code: reason.NotEnoughPods, SubGroup: text, Members: s.Members(j, 0)}
}

// possibleTasks returns the number of tasks that are placed, succeeded, or could be placed.
func possibleTasks(j *framework.Job) int { return j.ReadyTasks() + len(j.Pending) }

// findShortRole returns the first role, by name, that has fewer pods than its minimum, and the number of missing pods.
func findShortRole(j *framework.Job, more []*model.Task) (role string, missing int) {
	needs := j.RoleNeeds()
	if len(needs) == 0 {
		return "", 0
	}
	for _, list := range [2][]*model.Task{j.Pending, more} {
		for _, t := range list {
			needs[t.Role]--
		}
	}
	var short []string
	for role, n := range needs {
		if n > 0 && j.MinTaskMember[role] > 0 {
			short = append(short, role)
		}
	}
	if len(short) == 0 {
		return "", 0
	}
	role = slices.Min(short)
	return role, needs[role]
}
