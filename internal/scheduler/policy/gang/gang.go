// Package gang places gangs whole: a PodGroup gets its minimum, per task too, or
// nothing.
//
//	In:   minMember, minTaskMember, minSubGroups, the pods that exist
//	Out:  rules JobValid and JobOrder, and that minimums count
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
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	// keepArgument says how long the room of pods that a running gang lost is kept for new ones; 0s: not at all.
	keepArgument = "gang.keep-lost-room"
	// usualKeep is long enough for a controller to make a new pod, and short for who waits.
	usualKeep   = 30 * time.Second
	longestKeep = time.Hour
)

// Policy is the policy gang.
type Policy struct {
	conf config.Plugin
	keep time.Duration
	// release is after how long a broken gang gives back what it holds; 0: never.
	release time.Duration
	// window is after how long one that never was whole does; 0: never.
	window time.Duration
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{
		conf:    conf,
		keep:    duration(conf.Arguments, keepArgument, usualKeep, longestKeep, usualKeep.String()+" is used", warn),
		release: releaseFrom(conf.Arguments, warn),
		window:  duration(conf.Arguments, windowArgument, usualWindow, longestKeep, usualWindow.String()+" is used", warn),
	}
}

// Name is gang.
func (*Policy) Name() string { return "gang" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	s.Rules.KeepLost = p.keep
	s.Rules.Gang = s.Rules.Gang || p.conf.Enabled("enableJobReady")
	s.Rules.JobValid = append(s.Rules.JobValid, func(j *session.Job) explain.Verdict { return valid(s, j) })
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, neediestFirst)
	}
	s.Rules.Groups = s.Rules.Groups || p.conf.Enabled("enabledSubJobReady")
	if p.conf.Enabled("enabledSubJobOrder") {
		s.Rules.GroupOrder = append(s.Rules.GroupOrder, begunFirst)
	}
	if p.conf.Enabled("enableJobStarving") {
		s.Rules.Starve((*session.Job).Starving)
	}
	p.keepMinimums(&s.Rules)
	p.releaseBroken(s)
	p.releasePartial(s)
}

// neediestFirst lets gangs that lost some of their minimum go before those that
// have nothing yet, and these before those that only want more.
func neediestFirst(a, b *session.Job) int { return cmp.Compare(contentment(a), contentment(b)) }

// begunFirst makes sub-groups whole that lost pods before others start.
func begunFirst(a, b *session.Group) int {
	begun := func(g *session.Group) int { return min(g.Held, 1) }
	return cmp.Compare(begun(b), begun(a))
}

func contentment(j *session.Job) int {
	switch {
	case j.Need() == 0 && (len(j.SubGroups) == 0 || len(j.GroupNeeds()) == 0):
		return 2
	case j.Broken():
		return 0
	}
	return 1
}

// valid says whether enough pods exist, and enough of them without scheduling gates.
func valid(s *session.Session, j *session.Job) explain.Verdict {
	v := short(s, j, nil)
	if v.Code != reason.NotEnoughPods || j.Gated == 0 {
		return v
	}
	var gated []*model.Task
	for _, t := range j.Tasks {
		if t.Status == model.Pending && t.Gated {
			gated = append(gated, t)
		}
	}
	if short(s, j, gated).Code == "" {
		return explain.Verdict{Code: reason.SchedulingGated, Members: s.Members(j, 0)}
	}
	return v
}

// short says what of its minimum a gang lacks pods for, when some more could be
// placed than those that are pending.
func short(s *session.Session, j *session.Job, more []*model.Task) explain.Verdict {
	if role := shortRole(j, more); role != "" {
		return explain.Verdict{Code: reason.NotEnoughPods, Role: role, Members: s.Members(j, 0)}
	}
	if v := shortGroups(s, j, more); v.Code != "" {
		return v
	}
	if possible(j)+len(more) < j.MinMember {
		return explain.Verdict{Code: reason.NotEnoughPods, Members: s.Members(j, 0)}
	}
	return explain.Verdict{}
}

// shortGroups says which sub-groups have too few pods, or cannot be told.
func shortGroups(s *session.Session, j *session.Job, more []*model.Task) explain.Verdict {
	for i := range j.SubGroups {
		if p := &j.SubGroups[i]; p.Problem != "" {
			return explain.Verdict{Code: reason.SubGroupInvalid, SubGroup: p.Name, Topology: p.Name + ": " + p.Problem, Members: s.Members(j, 0)}
		}
	}
	policy, group, have, short := j.ShortGroups(more...)
	if !short {
		return explain.Verdict{}
	}
	text := fmt.Sprintf("%d of %d sub-groups of %s have their %d pods", have, policy.Min, policy.Name, policy.Size)
	if group != nil {
		text += fmt.Sprintf("; %s has %d", group.Name, j.Has(group))
	}
	return explain.Verdict{Code: reason.NotEnoughPods, SubGroup: text, Members: s.Members(j, 0)}
}

// possible counts the tasks that are placed, ended well, or could be placed.
func possible(j *session.Job) int { return j.ReadyTasks() + len(j.Pending) }

// shortRole names a role that has fewer pods than its minimum, the first by name.
func shortRole(j *session.Job, more []*model.Task) string {
	needs := j.RoleNeeds()
	if len(needs) == 0 {
		return ""
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
		return ""
	}
	return slices.Min(short)
}
