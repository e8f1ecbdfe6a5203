package config

import "strings"

// Option describes one setting.
type Option struct {
	// Key is the key in the file; <name> stands for a name that the user chooses.
	Key string
	// In is the section of the key, with dots between levels and [] after lists; "" for the top level.
	In string
	// Default is the default in YAML or in words; "" if there is no default.
	Default string
	// Text describes the setting in half a sentence.
	Text string
	// Idle is true if the setting is accepted but has no effect.
	Idle bool
}

// Manual documents a policy or an action. The reference of the configuration is generated from it.
type Manual struct {
	// Text describes the purpose in a sentence or two.
	Text string
	// Switches are on unless Default is "false".
	Switches, Arguments []Option
}

// Reads returns the keys of the entry itself. more lists further keys with names that the user chose.
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
