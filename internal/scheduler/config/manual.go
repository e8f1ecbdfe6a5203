package config

import "strings"

// Option is one thing that can be set.
type Option struct {
	// Key as it is written; <name> stands for a name that the owner of the file chooses.
	Key string
	// In is the section that it stands in, with a dot between levels and [] behind lists; "": none.
	In string
	// Default in YAML, or in words; "": nothing.
	Default string
	// Text is what it says, half a sentence.
	Text string
	// Idle: it is accepted and changes nothing.
	Idle bool
}

// Manual is what people are told of a policy or an action: the reference of the
// configuration is made of it.
type Manual struct {
	// Text is what it is for, a sentence or two.
	Text string
	// Switches are on unless Default says "false".
	Switches, Arguments []Option
}

// Reads are the keys of the entry itself; more are those whose names the file's
// owner chose.
func (m *Manual) Reads(more ...string) Reads {
	return Reads{Switches: keys(m.Switches), Arguments: append(keys(m.Arguments), more...)}
}

func keys(options []Option) (all []string) {
	for _, o := range options {
		if o.In == "" && !strings.Contains(o.Key, "<") {
			all = append(all, o.Key)
		}
	}
	return all
}
