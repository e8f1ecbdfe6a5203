package request

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

var placeOptions = grouped("Placement",
	Option{Option: need("nodelist", 'w', "NODES", "Use only these nodes: n[1-3],n7, or a file (contains /)"), Env: "NODELIST", set: setNodelist},
	Option{Option: need("nodefile", 'F', "FILE", "Use only the nodes listed in this file"), Env: "NODEFILE", set: setNodefile},
	Option{Option: need("exclude", 'x', "NODES", "Do not use these nodes"), Env: "EXCLUDE", set: hosts("exclude", func(r *Request) *[]string { return &r.Exclude })},
	Option{Option: need("constraint", 'C', "FEATURES", "Required features of nodes: a&b, a|b"), Env: "CONSTRAINT", set: features("constraint", func(r *Request) *optionvalue.Features { return &r.Constraint })},
	Option{Option: need("prefer", 0, "FEATURES", "Preferred node features"), Env: "PREFER", set: features("prefer", func(r *Request) *optionvalue.Features { return &r.Prefer })},
	Option{Option: may("exclusive", 0, "user", "Do not share nodes with other jobs; =user: with jobs of other users"), Env: "EXCLUSIVE", set: setExclusive},
	Option{Option: need("switches", 0, "N[@TIME]", "Maximum number of leaf switches"), Env: "REQ_SWITCH", set: setSwitches},
	Option{Option: need("segment", 0, "N", "Place nodes in groups of N with a fast network within each group"), Env: "SEGMENT_SIZE", set: number("segment", func(r *Request) *int64 { return &r.Segment })},
	Option{Option: flag("spread-job", 0, "Spread the nodes over the network"), Env: "SPREAD_JOB", set: on(func(r *Request) *bool { return &r.SpreadJob })},
)

func hosts(option string, field func(*Request) *[]string) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		names, err := hostlist.Expand(text)
		if err != nil {
			return invalid(option, err)
		}
		*field(r) = names
		return nil
	}
}

// setNodelist and setNodefile set the nodes in two ways; the later option takes precedence.
func setNodelist(r *Request, text string, _ bool) error {
	delete(r.Given, "nodefile")
	r.Nodelist, r.Nodefile = nil, ""
	if strings.Contains(text, "/") {
		r.Nodefile = text
		return nil
	}
	return hosts("nodelist", func(r *Request) *[]string { return &r.Nodelist })(r, text, true)
}

func setNodefile(r *Request, text string, _ bool) error {
	delete(r.Given, "nodelist")
	r.Nodelist, r.Nodefile = nil, text
	return nil
}

func features(option string, field func(*Request) *optionvalue.Features) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		f, err := optionvalue.ParseFeatures(text)
		if err != nil {
			return invalid(option, err)
		}
		*field(r) = f
		return nil
	}
}

func setExclusive(r *Request, text string, given bool) error {
	switch {
	case !given || text == "" || text == "exclusive":
		r.Exclusive = "exclusive"
	case text == "user":
		r.Exclusive = "user"
	default:
		return invalid("exclusive", &optionvalue.Bad{Hint: "use --exclusive without a value or --exclusive=user; " + text + " is not supported here"})
	}
	return nil
}

func setSwitches(r *Request, text string, _ bool) error {
	s, err := optionvalue.ParseSwitches(text)
	if err != nil {
		return invalid("switches", err)
	}
	r.Switches = &s
	return nil
}
