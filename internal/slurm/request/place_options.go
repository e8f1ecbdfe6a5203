package request

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

var placeOptions = setGroup("Placement",
	Option{Option: newRequired("nodelist", 'w', "NODES", "Use only these nodes: n[1-3],n7, or a file path that contains /"), Env: "NODELIST", set: setNodelist},
	Option{Option: newRequired("nodefile", 'F', "FILE", "Use only the nodes listed in this file"), Env: "NODEFILE", set: setNodefile},
	Option{Option: newRequired("exclude", 'x', "NODES", "Do not use these nodes"), Env: "EXCLUDE", set: storeHosts("exclude", func(r *Request) *[]string { return &r.Exclude })},
	Option{Option: newRequired("constraint", 'C', "FEATURES", "Required node features: a&b, a|b"), Env: "CONSTRAINT", set: storeFeatures("constraint", func(r *Request) *optionvalue.Features { return &r.Constraint })},
	Option{Option: newRequired("prefer", 0, "FEATURES", "Preferred node features"), Env: "PREFER", set: storeFeatures("prefer", func(r *Request) *optionvalue.Features { return &r.Prefer })},
	Option{Option: newOptional("exclusive", 0, "user", "Do not share nodes with other jobs (=user: with other users' jobs)"), Env: "EXCLUSIVE", set: setExclusive},
	Option{Option: newRequired("switches", 0, "N[@TIME]", "Maximum number of leaf switches"), Env: "REQ_SWITCH", set: setSwitches},
	Option{Option: newRequired("segment", 0, "N", "Place nodes in groups of N with a fast network within each group"), Env: "SEGMENT_SIZE", set: storeNumber("segment", func(r *Request) *int64 { return &r.Segment })},
	Option{Option: newFlag("spread-job", 0, "Spread the nodes over the network"), Env: "SPREAD_JOB", set: storeTrue(func(r *Request) *bool { return &r.SpreadJob })},
)

func storeHosts(option string, field func(*Request) *[]string) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		names, err := hostlist.ExpandList(text)
		if err != nil {
			return invalidValueError(option, err)
		}
		*field(r) = names
		return nil
	}
}

// setNodelist and setNodefile both set the nodes. If both options are specified, the later one takes precedence.
func setNodelist(r *Request, text string, _ bool) error {
	delete(r.Given, "nodefile")
	r.Nodelist, r.Nodefile = nil, ""
	if strings.Contains(text, "/") {
		r.Nodefile = text
		return nil
	}
	return storeHosts("nodelist", func(r *Request) *[]string { return &r.Nodelist })(r, text, true)
}

func setNodefile(r *Request, text string, _ bool) error {
	delete(r.Given, "nodelist")
	r.Nodelist, r.Nodefile = nil, text
	return nil
}

func storeFeatures(option string, field func(*Request) *optionvalue.Features) func(*Request, string, bool) error {
	return func(r *Request, text string, _ bool) error {
		f, err := optionvalue.ParseFeatures(text)
		if err != nil {
			return invalidValueError(option, err)
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
		return invalidValueError("exclusive", &optionvalue.Bad{Hint: "use --exclusive without a value or --exclusive=user; " + text + " is not supported here"})
	}
	return nil
}

func setSwitches(r *Request, text string, _ bool) error {
	s, err := optionvalue.ParseSwitches(text)
	if err != nil {
		return invalidValueError("switches", err)
	}
	r.Switches = &s
	return nil
}
