package v1alpha1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vc-batch/vc/api/keys"
)

// DependencyKind is the kind of condition that another job must meet. The names are those of Slurm.
type DependencyKind string

// The kinds of dependencies.
const (
	// After is met when the job has started, or has ended without starting, and a delay in minutes has passed.
	After DependencyKind = "after"
	// AfterAny is met when the job has ended, whether successfully or not.
	AfterAny DependencyKind = "afterany"
	// AfterOK is met when the job, including all elements of an array, has completed.
	AfterOK DependencyKind = "afterok"
	// AfterNotOK is met when the job has ended without completing.
	AfterNotOK DependencyKind = "afternotok"
	// AfterCorr is met for an element when the element with the same index has completed.
	AfterCorr DependencyKind = "aftercorr"
	// Singleton is met when no other job with the same user and title has started or is older.
	Singleton DependencyKind = "singleton"
)

var dependencyKinds = []DependencyKind{After, AfterAny, AfterOK, AfterNotOK, AfterCorr, Singleton}

// Dependency holds the conditions that a job waits for before it starts.
//
// +kubebuilder:object:generate=false
type Dependency struct {
	Terms []DependencyTerm
	// Any is true if it is sufficient that one of the terms is met. Otherwise, all of them must be met.
	Any bool
}

// DependencyTerm is a single condition.
//
// +kubebuilder:object:generate=false
type DependencyTerm struct {
	Kind DependencyKind
	// Job is the job to wait for; it is empty for Singleton.
	Job JobReference
	// Delay is the time to wait after the job's start. It is set only for After.
	Delay time.Duration
}

// JobReference refers to a job by number, or by name and namespace.
//
// +kubebuilder:object:generate=false
type JobReference struct {
	ID              int64 // 0 if the reference is by name
	Namespace, Name string
	// Element is the index of an array element; it is valid only if HasElement is true.
	Element    int32
	HasElement bool
}

// DependencyOf returns the dependency of a job. If the job does not depend on others, it returns the zero Dependency.
func DependencyOf(job *Job) (Dependency, error) {
	return ParseDependency(job.Annotations[keys.Dependency], job.Namespace)
}

// MayAwait reports whether a job may wait for jobs in a namespace. A job may wait for jobs in its own namespace, and
// in those where, according to the annotation that admission writes, its user may read jobs. A job created by a
// controller has no user, so it may only wait for jobs in its own namespace.
func MayAwait(job *Job, namespace string) bool {
	if namespace == job.Namespace {
		return true
	}
	noted := slices.Contains(strings.Split(job.Annotations[keys.DependencyNamespaces], ","), namespace)
	return noted && metav1.GetControllerOfNoCopy(job) == nil
}

// ParseDependency parses Slurm's notation, type:job[:job…]. Terms are separated by commas if all of them must be met,
// or by question marks if one is sufficient; singleton has no job. A job is a number, a name in the namespace, or
// namespace/name. The suffix _7 selects an element; the suffix +10 is a delay in minutes, which only the type after
// supports. The default type is afterany. An empty text means no dependency.
func ParseDependency(text, namespace string) (Dependency, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Dependency{}, nil
	}
	d := Dependency{Any: strings.Contains(text, "?")}
	separator := ","
	if d.Any {
		separator = "?"
		if strings.Contains(text, ",") {
			return Dependency{}, fmt.Errorf("%q mixes commas and question marks: use only commas if all dependencies must be met, or only question marks if one dependency is enough", text)
		}
	}
	for _, part := range strings.Split(text, separator) {
		terms, err := parseTerm(strings.TrimSpace(part), namespace)
		if err != nil {
			return Dependency{}, err
		}
		d.Terms = append(d.Terms, terms...)
	}
	return d, nil
}

func parseTerm(part, namespace string) ([]DependencyTerm, error) {
	words := strings.Split(part, ":")
	kind := DependencyKind(words[0])
	switch {
	case kind == Singleton && len(words) == 1:
		return []DependencyTerm{{Kind: Singleton}}, nil
	case kind == Singleton:
		return nil, fmt.Errorf("%q: singleton must be specified without a job", part)
	case slices.Contains(dependencyKinds, kind):
		if words = words[1:]; len(words) == 0 {
			return nil, fmt.Errorf("%q does not specify a job: use %s:42 or %s:NAME", part, kind, kind)
		}
	case len(words) > 1 && !isNumber(words[0]):
		return nil, fmt.Errorf("%q is not a dependency type; use after, afterany, afterok, afternotok, aftercorr or singleton", words[0])
	default:
		kind = AfterAny
	}
	var terms []DependencyTerm
	for _, word := range words {
		term, err := parseTarget(kind, word, namespace)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
	}
	return terms, nil
}

// maxDelayMinutes corresponds to one hundred years.
const maxDelayMinutes = 100 * 366 * 24 * 60

func parseTarget(kind DependencyKind, word, namespace string) (DependencyTerm, error) {
	term := DependencyTerm{Kind: kind}
	target, minutes, delayed := strings.Cut(word, "+")
	if delayed {
		n, err := strconv.Atoi(minutes)
		isValidDelay := err == nil && n >= 0 && n <= maxDelayMinutes
		if kind != After || !isValidDelay {
			return term, fmt.Errorf("%q: only the dependency type after supports a delay: use after:JOB+MINUTES with a whole number of minutes", word)
		}
		term.Delay = time.Duration(n) * time.Minute
	}
	name, element, ofArray := strings.Cut(target, "_")
	if ofArray {
		n, err := parseIndex(element)
		if err != nil {
			return term, fmt.Errorf("%q: the array index after _ must be a number", word)
		}
		term.Job.Element, term.Job.HasElement = n, true
	}
	if isNumber(name) {
		id, ok := ParseJobID(name)
		if !ok {
			return term, fmt.Errorf("%q is not a valid job number: job numbers start at 1", name)
		}
		term.Job.ID = id
		return term, nil
	}
	term.Job.Namespace, term.Job.Name = namespace, name
	if space, rest, ok := strings.Cut(name, "/"); ok {
		term.Job.Namespace, term.Job.Name = space, rest
		if problems := validation.IsDNS1123Label(space); len(problems) > 0 {
			return term, fmt.Errorf("%q is not a valid namespace name: %s", space, problems[0])
		}
	}
	if problems := validation.IsDNS1123Subdomain(term.Job.Name); len(problems) > 0 {
		return term, fmt.Errorf("%q is neither a valid job number nor a valid job name: %s", term.Job.Name, problems[0])
	}
	return term, nil
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// String formats a term in the notation of ParseDependency.
func (t DependencyTerm) String() string {
	if t.Kind == Singleton {
		return string(Singleton)
	}
	text := string(t.Kind) + ":" + t.Job.String()
	if t.Delay > 0 {
		text += "+" + strconv.Itoa(int(t.Delay/time.Minute))
	}
	return text
}

// String formats all terms in the notation of ParseDependency.
func (d Dependency) String() string {
	words := make([]string, len(d.Terms))
	for i, t := range d.Terms {
		words[i] = t.String()
	}
	if d.Any {
		return strings.Join(words, "?")
	}
	return strings.Join(words, ",")
}

// String returns the number of the job or namespace/name, followed by the element, if any.
func (r JobReference) String() string {
	text := r.Namespace + "/" + r.Name
	if r.ID > 0 {
		text = FormatJobID(r.ID)
	}
	if r.HasElement {
		text += "_" + strconv.Itoa(int(r.Element))
	}
	return text
}

// Names reports whether the reference refers to this job.
func (r JobReference) Names(job *Job) bool {
	if r.ID > 0 {
		id, ok := JobID(job)
		return ok && id == r.ID
	}
	return r.Namespace == job.Namespace && r.Name == job.Name
}

// Title returns the name that the user gave a job: the annotation, the prefix of a generated name, or the name of the
// job.
func Title(job *Job) string {
	switch {
	case job.Annotations[keys.JobTitle] != "":
		return job.Annotations[keys.JobTitle]
	case job.GenerateName != "":
		return strings.TrimSuffix(job.GenerateName, "-")
	}
	return job.Name
}

// SameSingleton reports whether two jobs have the same namespace, user and title. If one of them has a singleton
// dependency, they must not run at the same time.
func SameSingleton(a, b *Job) bool {
	if a.UID == b.UID || a.Namespace != b.Namespace {
		return false
	}
	return UserOf(a) == UserOf(b) && Title(a) == Title(b)
}
