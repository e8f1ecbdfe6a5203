package screenapi

// Vocabulary is the choice of the words for states and reasons.
type Vocabulary int

// The vocabularies.
const (
	// KubernetesWords are the phases, states and reasons that vcctl's lists show, for example Pending.
	KubernetesWords Vocabulary = iota
	// SlurmWords are the codes and reasons that squeue and sinfo show, for example PD.
	SlurmWords
)
