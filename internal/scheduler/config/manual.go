package config

import "strings"

// Option describes one setting.
type Option struct {
	// Key is the key in the file; <name> stands for a name chosen by the user.
	Key string
	// In is the section of the key, with dots between levels and [] after lists. It is "" for the top level.
	In string
	// Default is the default, as YAML or in words, or "" if none exists.
	Default string
	// Text describes the setting in a short phrase.
	Text string
	// Idle is true if the setting is accepted but has no effect.
	Idle bool
}

// Manual documents a policy or an action. The configuration reference is generated from it.
type Manual struct {
	// Text describes the purpose in one or two sentences.
	Text string
	// Switches are on unless Default is "false".
	Switches, Arguments []Option
}

// Reads returns the keys in m. more lists additional keys with names chosen by the user.
func (m *Manual) Reads(more ...string) Reads {
	return Reads{Switches: optionKeys(m.Switches), Arguments: append(optionKeys(m.Arguments), more...)}
}

func optionKeys(options []Option) (all []string) {
	for _, o := range options {
		if o.In == "" && !strings.Contains(o.Key, "<") {
			all = append(all, o.Key)
		}
	}
	return all
}
