package sacctmgr

import (
	"slices"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/usererror"
)

// Verb determines what a request does with the selected objects.
type Verb int

// Values of Verb.
const (
	Add Verb = iota + 1
	Modify
	Delete
	List
)

// Entity is the kind of objects of a request.
type Entity int

// Values of Entity.
const (
	Accounts Entity = iota + 1
	Users
	Associations
	Coordinators
	Clusters
	TRES
	QOS
)

// Request is a parsed command line.
type Request struct {
	Verb   Verb
	Entity Entity
	// Where selects the objects. For Add, it names the new objects.
	Where Selection
	// Set lists the values to set, in the order of the command line.
	Set []Setting
	// Columns is the requested format, or "".
	Columns string
	// WithAssociations adds the associations to a list of accounts or users. WithCoordinators adds the coordinators.
	WithAssociations, WithCoordinators bool
	// WithSubaccounts also selects the accounts below the selected ones.
	WithSubaccounts bool
	// Tree indents the names of accounts by their level.
	Tree bool
	// OnlyOwnLimits omits the limits that an association inherits from its ancestors.
	OnlyOwnLimits bool
	// OnlyDefaults selects only associations whose account is the default account of the user.
	OnlyDefaults bool
}

// Selection holds the conditions that objects must meet. An empty list selects all objects.
type Selection struct {
	Accounts, Users, Clusters, Parents, DefaultAccounts, Descriptions, Organizations, QOS []string
}

// isEmpty reports whether the selection selects all objects of the cluster.
func (s *Selection) isEmpty() bool {
	for _, list := range [][]string{s.Accounts, s.Users, s.Parents, s.DefaultAccounts, s.Descriptions, s.Organizations, s.QOS} {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// word is a keyword. It may be abbreviated to its first letters, but not to fewer than least.
type word[T any] struct {
	name  string
	least int
	value T
}

var verbs = []word[Verb]{
	{"add", 2, Add}, {"create", 2, Add}, {"modify", 1, Modify}, {"update", 1, Modify}, {"delete", 3, Delete}, {"remove", 3, Delete},
	{"list", 2, List}, {"show", 1, List},
}

var entities = []word[Entity]{
	{"accounts", 3, Accounts}, {"accts", 4, Accounts}, {"users", 1, Users}, {"associations", 2, Associations}, {"coordinators", 4, Coordinators}, {"clusters", 2, Clusters}, {"tres", 2, TRES}, {"qos", 1, QOS},
}

// unsupportedVerbs and unsupportedEntities map words of Slurm that have no meaning here to hints.
var unsupportedVerbs = map[string]string{
	"archive": "vcd accounting removes and exports old records with --accounting-keep-months and --accounting-export-dir", "dump": "use kubectl get accounts,qoses -o yaml",
	"load": "use kubectl apply -f FILE", "clear": "there are no statistics to clear", "ping": "use scontrol ping", "reconfigure": "vcd reloads its configuration automatically",
	"shutdown": "scale StatefulSet vc-accounting to 0; deleted jobs then stay until it runs again", "version": "use sacctmgr --version", "exit": "there is no interactive mode", "quit": "there is no interactive mode",
	"verbose": "use sacctmgr -v", "associations": "use show associations",
}

var unsupportedEntities = map[string]string{
	"wckey": "jobs may have any wckey", "federation": "clusters are not federated", "resource": "licenses are not managed",
	"reservation": "there are no advance reservations", "runawayjobs": "the recorder corrects the records of lost jobs by itself",
	"problem": "the API server checks every change of an account", "job": "use sacct", "stats": "use sdiag", "configuration": "use scontrol show config", "host": "use sinfo",
}

// findWord returns the value of the word for which text is an abbreviation.
func findWord[T any](words []word[T], text string) (value T, ok bool) {
	for _, w := range words {
		if getopt.IsAbbreviation(text, w.name, w.least) {
			return w.value, true
		}
	}
	return value, false
}

// findUnsupported returns the hint for a word of Slurm that has no meaning here.
func findUnsupported(words map[string]string, text string) (hint string, ok bool) {
	const least = 3
	best := ""
	for name := range words {
		isBetter := best == "" || name < best
		if isBetter && getopt.IsAbbreviation(text, name, min(least, len(name))) {
			best = name
		}
	}
	return words[best], best != ""
}

// Parse parses the words of a command line after the options, for example: modify user mei set maxjobs=4 where
// account=physics. Keywords may be abbreviated, and their case does not matter.
func Parse(words []string) (*Request, error) {
	if len(words) == 0 {
		return nil, usererror.Errorf("sacctmgr --help lists the commands; there is no interactive mode", "no command")
	}
	verb, ok := findWord(verbs, words[0])
	if !ok {
		if hint, isKnown := findUnsupported(unsupportedVerbs, words[0]); isKnown {
			return nil, usererror.Errorf(hint, "%s is not supported here", words[0])
		}
		return nil, usererror.Errorf("use add, modify, delete or show", "invalid keyword: %s", words[0])
	}
	if len(words) == 1 {
		return nil, usererror.Errorf("for example: sacctmgr show account; sacctmgr add user mei account=physics", "too few arguments for keyword:%s", words[0])
	}
	entity, ok := findWord(entities, words[1])
	if !ok {
		if hint, isKnown := findUnsupported(unsupportedEntities, words[1]); isKnown {
			return nil, usererror.Errorf(hint, "entity %s is not supported here", words[1])
		}
		return nil, usererror.Errorf("use account, user, association, coordinator, qos, cluster, tres, transactions or event", "Invalid entity: %s", words[1])
	}
	r := &Request{Verb: verb, Entity: entity}
	if err := r.checkCombination(); err != nil {
		return nil, err
	}
	p := parser{request: r, inSettings: verb == Add, given: map[string]bool{}}
	for _, text := range words[2:] {
		if err := p.parseWord(text); err != nil {
			return nil, err
		}
	}
	return r, r.checkComplete()
}

// checkCombination returns an error if the verb cannot be applied to the entity.
func (r *Request) checkCombination() error {
	switch {
	case r.Entity == Associations && r.Verb != List:
		return usererror.Errorf("use add, modify or delete user NAME account=ACCOUNT, or an account", "associations can only be listed")
	case r.Entity == Clusters && r.Verb != List:
		return usererror.Errorf("the contexts of the kubeconfig are the clusters: use kubectl config", "clusters can only be listed")
	case r.Entity == TRES && r.Verb != List:
		return usererror.Errorf("the devices of the nodes define the resources", "tres can only be listed")
	case r.Entity == Coordinators && r.Verb == Modify:
		return usererror.Errorf("use add coordinator or delete coordinator", "coordinators cannot be modified")
	case r.Entity == Coordinators && r.Verb == List:
		return usererror.Errorf("use show account withcoord", "coordinators cannot be listed alone")
	}
	return nil
}

// checkComplete returns an error if a part of the request is missing.
func (r *Request) checkComplete() error {
	switch {
	case r.Verb == Modify && len(r.Set) == 0:
		return usererror.Errorf("add set and the new values, for example: set maxjobs=10", "nothing to set")
	case r.Verb != List && r.Where.isEmpty():
		return usererror.Errorf("name them, or add where and a condition", "specify which %s", r.Entity)
	case r.Verb == Add:
		return r.checkNewObjects()
	}
	return r.checkListOptions()
}

// checkNewObjects returns an error if a request to add objects does not name them.
func (r *Request) checkNewObjects() error {
	hasUsers, hasAccounts := len(r.Where.Users) > 0, len(r.Where.Accounts) > 0
	switch {
	case r.Entity == Coordinators && !(hasUsers && hasAccounts):
		return usererror.Errorf("for example: sacctmgr add coordinator names=mei account=physics", "specify the users and the accounts of which they become coordinators")
	case r.Entity == Accounts && hasUsers:
		return usererror.Errorf("use add user NAME account=ACCOUNT", "users cannot be added together with an account")
	case r.Entity == Users && !hasUsers:
		return usererror.Errorf("for example: sacctmgr add user mei account=physics", "specify the names of the users")
	}
	return nil
}

// checkListOptions returns an error if an option of a list has no effect on the list.
func (r *Request) checkListOptions() error {
	listsAssociations := r.Entity == Associations || r.WithAssociations
	for _, option := range []struct {
		name          string
		isGiven, fits bool
	}{
		{"withassoc", r.WithAssociations, !slices.Contains([]Entity{TRES, Clusters, QOS}, r.Entity)},
		{"withcoord", r.WithCoordinators, slices.Contains(ofBoth, r.Entity)},
		{"withsubaccounts", r.WithSubaccounts, r.Entity == Accounts || r.Entity == Associations},
		{"woplimits", r.OnlyOwnLimits, listsAssociations},
		{"tree", r.Tree, listsAssociations},
		{"onlydefaults", r.OnlyDefaults, r.Entity == Users || r.Entity == Associations},
	} {
		if option.isGiven && !option.fits {
			return usererror.Errorf("remove it, or use show associations", "%s has no effect on a list of %s", option.name, r.Entity)
		}
	}
	return nil
}

// String returns the entity as it appears in messages.
func (e Entity) String() string {
	return map[Entity]string{Accounts: "accounts", Users: "users", Associations: "associations", Coordinators: "coordinators", Clusters: "clusters", TRES: "tres", QOS: "qos"}[e]
}
