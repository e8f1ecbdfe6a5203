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

// DependencyKind says what must have become of a job that another waits for. The names are Slurm's.
type DependencyKind string

// The kinds of dependencies.
const (
	// After: it has started, or ended without, so many minutes ago.
	After DependencyKind = "after"
	// AfterAny: it has ended, however.
	AfterAny DependencyKind = "afterany"
	// AfterOK: it has completed; of an array all elements have.
	AfterOK DependencyKind = "afterok"
	// AfterNotOK: it has ended otherwise.
	AfterNotOK DependencyKind = "afternotok"
	// AfterCorr: the element of the same index has completed.
	AfterCorr DependencyKind = "aftercorr"
	// Singleton: no other job of the same user and title is under way, nor waits longer.
	Singleton DependencyKind = "singleton"
)

var dependencyKinds = []DependencyKind{After, AfterAny, AfterOK, AfterNotOK, AfterCorr, Singleton}

// Dependency is what a job waits for.
//
// +kubebuilder:object:generate=false
type Dependency struct {
	Terms []DependencyTerm
	// Any: one of the terms is enough. Else all have to be met.
	Any bool
}

// DependencyTerm is one condition.
//
// +kubebuilder:object:generate=false
type DependencyTerm struct {
	Kind DependencyKind
	// Job is the one to wait for; nothing with Singleton.
	Job JobReference
	// Delay after its start; only with After.
	Delay time.Duration
}

// JobReference names a job by its number, or by its name in a namespace.
//
// +kubebuilder:object:generate=false
type JobReference struct {
	ID              int64 // 0: by name
	Namespace, Name string
	// Element of an array, when HasElement.
	Element    int32
	HasElement bool
}

// DependencyOf reads what a job waits for; the zero Dependency when it waits for nothing.
func DependencyOf(job *Job) (Dependency, error) {
	return ParseDependency(job.Annotations[keys.Dependency], job.Namespace)
}

// MayAwait reports whether a job may wait for jobs of a namespace: its own, and those in which its user may read jobs, as admission has noted. What a
// controller made has no user, and waits in its own namespace only.
func MayAwait(job *Job, namespace string) bool {
	if namespace == job.Namespace {
		return true
	}
	noted := slices.Contains(strings.Split(job.Annotations[keys.DependencyNamespaces], ","), namespace)
	return noted && metav1.GetControllerOfNoCopy(job) == nil
}

// ParseDependency reads Slurm's notation: type:job[:job…], joined all by commas (all must be met) or all by question marks (one is enough); singleton
// stands alone. A job is a number, a name in the namespace or namespace/name; _7 after it is an element, +10 after it (only of after) are
// minutes. Without a type, afterany is meant. The empty text is no dependency.
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
			return Dependency{}, fmt.Errorf("%q joins terms by , and by ?: all must be joined by the same, commas for all of them, question marks for any of them", text)
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
		return nil, fmt.Errorf("%q: singleton names no job", part)
	case slices.Contains(dependencyKinds, kind):
		if words = words[1:]; len(words) == 0 {
			return nil, fmt.Errorf("%q names no job: write %s:42 or %s:NAME", part, kind, kind)
		}
	case len(words) > 1 && !isNumber(words[0]):
		return nil, fmt.Errorf("%q is no type of dependency; there are after, afterany, afterok, afternotok, aftercorr and singleton", words[0])
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

// maxDelayMinutes is a hundred years.
const maxDelayMinutes = 100 * 366 * 24 * 60

func parseTarget(kind DependencyKind, word, namespace string) (DependencyTerm, error) {
	term := DependencyTerm{Kind: kind}
	target, minutes, delayed := strings.Cut(word, "+")
	if delayed {
		n, err := strconv.Atoi(minutes)
		if err != nil || n < 0 || n > maxDelayMinutes || kind != After {
			return term, fmt.Errorf("%q: only after:JOB+MINUTES has a delay, in whole minutes", word)
		}
		term.Delay = time.Duration(n) * time.Minute
	}
	name, element, ofArray := strings.Cut(target, "_")
	if ofArray {
		n, err := parseIndex(element)
		if err != nil {
			return term, fmt.Errorf("%q: the element after _ must be a number", word)
		}
		term.Job.Element, term.Job.HasElement = n, true
	}
	if isNumber(name) {
		id, ok := ParseJobID(name)
		if !ok {
			return term, fmt.Errorf("%q is not the number of a job: these begin with 1", name)
		}
		term.Job.ID = id
		return term, nil
	}
	term.Job.Namespace, term.Job.Name = namespace, name
	if space, rest, ok := strings.Cut(name, "/"); ok {
		term.Job.Namespace, term.Job.Name = space, rest
		if problems := validation.IsDNS1123Label(space); len(problems) > 0 {
			return term, fmt.Errorf("%q is not the name of a namespace: %s", space, problems[0])
		}
	}
	if problems := validation.IsDNS1123Subdomain(term.Job.Name); len(problems) > 0 {
		return term, fmt.Errorf("%q is neither the number nor the name of a job: %s", term.Job.Name, problems[0])
	}
	return term, nil
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// String writes a term as ParseDependency reads it.
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

// String writes all terms.
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

// String is the number, or namespace/name, with the element if there is one.
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

// Names says whether the reference is to this job.
func (r JobReference) Names(job *Job) bool {
	if r.ID > 0 {
		id, ok := JobID(job)
		return ok && id == r.ID
	}
	return r.Namespace == job.Namespace && r.Name == job.Name
}

// Title is the name that a job has for its user: the annotation, else the prefix that its name was made from, else its name.
func Title(job *Job) string {
	switch {
	case job.Annotations[keys.JobTitle] != "":
		return job.Annotations[keys.JobTitle]
	case job.GenerateName != "":
		return strings.TrimSuffix(job.GenerateName, "-")
	}
	return job.Name
}

// UserOf is who submitted a job; empty when nobody says.
func UserOf(job *Job) string {
	if user := job.Annotations[keys.User]; user != "" {
		return user
	}
	return job.Labels[keys.User]
}

// SameSingleton says whether only one of two jobs may run if one of them asks for that: one namespace, user and title.
func SameSingleton(a, b *Job) bool {
	return a.UID != b.UID && a.Namespace == b.Namespace && UserOf(a) == UserOf(b) && Title(a) == Title(b)
}
