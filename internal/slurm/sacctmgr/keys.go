package sacctmgr

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// Key identifies a value that can be set.
type Key string

// The keys of settings, with Slurm's names. BudgetPeriod, Queues and Namespaces do not exist in
// Slurm.
const (
	Parent         Key = "Parent"
	Description    Key = "Description"
	Organization   Key = "Organization"
	Fairshare      Key = "Fairshare"
	DefaultAccount Key = "DefaultAccount"
	GrpJobs        Key = "GrpJobs"
	GrpSubmitJobs  Key = "GrpSubmitJobs"
	GrpTRES        Key = "GrpTRES"
	GrpTRESMins    Key = "GrpTRESMins"
	BudgetPeriod   Key = "BudgetPeriod"
	MaxJobs        Key = "MaxJobs"
	MaxSubmitJobs  Key = "MaxSubmitJobs"
	MaxTRESPerJob  Key = "MaxTRESPerJob"
	MaxTRESPerUser Key = "MaxTRESPerUser"
	MaxWall        Key = "MaxWallDurationPerJob"
	Queues         Key = "Queues"
	Namespaces     Key = "Namespaces"
	QOSList        Key = "QOS"
	DefaultQOS     Key = "DefaultQOS"
	Priority       Key = "Priority"

	// The keys of limits of a QOS for each account. For a QOS, MaxJobs, MaxSubmitJobs and MaxTRESPerUser limit each user.
	MaxJobsPerAccount       Key = "MaxJobsPA"
	MaxSubmitJobsPerAccount Key = "MaxSubmitPA"
	MaxTRESPerAccount       Key = "MaxTRESPA"
)

// Op determines how a setting changes a list.
type Op string

// Values of Op.
const (
	Replace Op = "="
	Include Op = "+="
	Exclude Op = "-="
)

// noLimit is the number that removes a limit.
const noLimit = -1

// Setting is a value to set. Only the field for the kind of its key is used.
type Setting struct {
	Key Key
	Op  Op
	// Text is the value of a text, or of the name of an account.
	Text string
	// Number is the value of a count. -1 removes the limit.
	Number int32
	// Wall is the value of a duration. -1 removes the limit.
	Wall time.Duration
	// Amounts is the value of a limit of resources. An empty list removes all limits of the key.
	Amounts []Amount
	// Names is the value of a list.
	Names []string
}

// Amount is an amount of a resource.
type Amount struct {
	// TRES is the name in Slurm: cpu, mem or gres/NAME. It may also be the name of a Kubernetes resource that contains a dot.
	TRES string
	// Value is in bytes for mem, and in units for other resources. -1 removes the limit.
	Value int64
}

// kind is the format of a value.
type kind int

const (
	noValue kind = iota
	textValue
	accountValue
	countValue
	sharesValue
	tresValue
	wallValue
	listValue
	periodValue
	nameValue
	classValue
)

// key describes a word before =.
type key struct {
	word[Key]
	// kind is the format of the value to set. setFor lists the entities for which the value can be set.
	kind   kind
	setFor []Entity
	// conditionOf lists the entities for which the key is a condition. list returns the list of values to compare with.
	conditionOf []Entity
	list        func(*Selection) *[]string
	// areAccounts is true if the list contains names of accounts, and areNames is true if it contains names of QOS.
	areAccounts, areNames bool
	// tres is the resource of a key that limits only one resource.
	tres string
}

var (
	ofAccounts = []Entity{Accounts}
	ofUsers    = []Entity{Users}
	ofBoth     = []Entity{Accounts, Users}
	ofQOS      = []Entity{QOS}
	// ofGroups lists the entities with limits for all their jobs, and ofAll the entities with limits for each user and
	// each job.
	ofGroups = []Entity{Accounts, QOS}
	ofAll    = []Entity{Accounts, Users, QOS}
)

// keys lists all words before =. An abbreviation belongs to the first key that it matches.
var keys = []key{
	{word: word[Key]{"accounts", 3, ""}, conditionOf: []Entity{Accounts, Users, Associations, Coordinators}, list: func(s *Selection) *[]string { return &s.Accounts }, areAccounts: true},
	{word: word[Key]{"accts", 4, ""}, conditionOf: []Entity{Accounts, Users, Associations, Coordinators}, list: func(s *Selection) *[]string { return &s.Accounts }, areAccounts: true},
	{word: word[Key]{"users", 1, ""}, conditionOf: []Entity{Accounts, Users, Associations, Coordinators}, list: func(s *Selection) *[]string { return &s.Users }},
	{word: word[Key]{"clusters", 1, ""}, conditionOf: []Entity{Accounts, Users, Associations, Coordinators, Clusters, QOS}, list: func(s *Selection) *[]string { return &s.Clusters }},
	{word: word[Key]{"qosnames", 4, ""}, conditionOf: ofQOS, list: func(s *Selection) *[]string { return &s.QOS }, areNames: true},
	{word: word[Key]{"qoslevel", 1, QOSList}, kind: listValue, setFor: ofBoth, areNames: true},
	{word: word[Key]{"defaultqos", 8, DefaultQOS}, kind: nameValue, setFor: ofBoth, areNames: true},
	{word: word[Key]{"priority", 3, Priority}, kind: classValue, setFor: ofQOS},
	{word: word[Key]{"maxjobsperuser", 8, MaxJobs}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxjobspu", 9, MaxJobs}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxjobsperaccount", 11, MaxJobsPerAccount}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxjobspa", 9, MaxJobsPerAccount}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxsubmitjobsperuser", 14, MaxSubmitJobs}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxsubmitpu", 11, MaxSubmitJobs}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxsubmitjobspu", 15, MaxSubmitJobs}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxsubmitjobsperaccount", 17, MaxSubmitJobsPerAccount}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxsubmitpa", 11, MaxSubmitJobsPerAccount}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxsubmitjobspa", 15, MaxSubmitJobsPerAccount}, kind: countValue, setFor: ofQOS},
	{word: word[Key]{"maxtresperaccount", 11, MaxTRESPerAccount}, kind: tresValue, setFor: ofQOS},
	{word: word[Key]{"maxtrespa", 9, MaxTRESPerAccount}, kind: tresValue, setFor: ofQOS},
	{word: word[Key]{"parents", 4, Parent}, kind: accountValue, setFor: ofAccounts, conditionOf: []Entity{Accounts, Associations}, list: func(s *Selection) *[]string { return &s.Parents }, areAccounts: true},
	{word: word[Key]{"descriptions", 3, Description}, kind: textValue, setFor: ofGroups, conditionOf: ofGroups, list: func(s *Selection) *[]string { return &s.Descriptions }},
	{word: word[Key]{"organizations", 1, Organization}, kind: textValue, setFor: ofAccounts, conditionOf: ofAccounts, list: func(s *Selection) *[]string { return &s.Organizations }},
	{word: word[Key]{"defaultaccounts", 8, DefaultAccount}, kind: accountValue, setFor: ofUsers, conditionOf: ofUsers, list: func(s *Selection) *[]string { return &s.DefaultAccounts }, areAccounts: true},
	{word: word[Key]{"fairshare", 1, Fairshare}, kind: sharesValue, setFor: ofBoth},
	{word: word[Key]{"shares", 1, Fairshare}, kind: sharesValue, setFor: ofBoth},
	{word: word[Key]{"grpjobs", 4, GrpJobs}, kind: countValue, setFor: ofGroups},
	{word: word[Key]{"grpsubmitjobs", 4, GrpSubmitJobs}, kind: countValue, setFor: ofGroups},
	{word: word[Key]{"grptres", 7, GrpTRES}, kind: tresValue, setFor: ofAll},
	{word: word[Key]{"grpcpus", 6, GrpTRES}, kind: tresValue, setFor: ofAll, tres: "cpu"},
	{word: word[Key]{"grpmemory", 4, GrpTRES}, kind: tresValue, setFor: ofAll, tres: "mem"},
	{word: word[Key]{"grptresmins", 8, GrpTRESMins}, kind: tresValue, setFor: ofAccounts},
	{word: word[Key]{"grpcpumins", 7, GrpTRESMins}, kind: tresValue, setFor: ofAccounts, tres: "cpu"},
	{word: word[Key]{"budgetperiod", 6, BudgetPeriod}, kind: periodValue, setFor: ofAccounts},
	{word: word[Key]{"maxjobs", 4, MaxJobs}, kind: countValue, setFor: ofAll},
	{word: word[Key]{"maxsubmitjobs", 4, MaxSubmitJobs}, kind: countValue, setFor: ofAll},
	{word: word[Key]{"maxtresperuser", 11, MaxTRESPerUser}, kind: tresValue, setFor: ofAll},
	{word: word[Key]{"maxtrespu", 9, MaxTRESPerUser}, kind: tresValue, setFor: ofAll},
	{word: word[Key]{"maxtresperjob", 7, MaxTRESPerJob}, kind: tresValue, setFor: ofAll},
	{word: word[Key]{"maxtrespj", 9, MaxTRESPerJob}, kind: tresValue, setFor: ofAll},
	{word: word[Key]{"maxcpusperjob", 7, MaxTRESPerJob}, kind: tresValue, setFor: ofAll, tres: "cpu"},
	{word: word[Key]{"maxwalldurationperjob", 4, MaxWall}, kind: wallValue, setFor: ofAll},
	{word: word[Key]{"queues", 2, Queues}, kind: listValue, setFor: ofAccounts},
	{word: word[Key]{"namespaces", 5, Namespaces}, kind: listValue, setFor: ofAccounts},
}

// Hints for keys of Slurm that are not supported.
const (
	noQOS     = "use names: QOS have no numbers"
	noFlags   = "QOS and accounts have no flags"
	noMinutes = "limit the minutes of all jobs of an account together with grptresmins=, and the time of each job with maxwall="
	noWCKey   = "jobs may have any wckey"
	noNodes   = "limit cpu, mem or gres/gpu: pods of several jobs share nodes"
)

// unsupportedKeys maps keys of Slurm that have no meaning here to hints.
var unsupportedKeys = map[string]string{
	"grptresrunmins": noMinutes, "grpcpurunmins": noMinutes,
	"maxtresmins": noMinutes, "maxtresminsperjob": noMinutes, "maxcpumins": noMinutes, "grpwall": noMinutes, "wckeys": noWCKey, "defaultwckey": noWCKey,
	"grpnodes": noNodes, "maxnodesperjob": noNodes, "maxtrespernode": noNodes, "maxtrespn": noNodes,
	"partitions": "an account permits queues, for all its users: use modify account NAME set queues=LIST", "grpjobsaccrue": "the age of a job does not raise its priority",
	"maxjobsaccrue": "the age of a job does not raise its priority", "minpriothresh": "use priority classes",
	"adminlevel": "Kubernetes' roles determine who may change accounts: use kubectl create clusterrolebinding", "newname": "create a new account, and change the jobs' account with scontrol update",
	"rawusage": "to make the whole budget of an account available again, set limits.budget.since of the Account to the current time", "flags": noFlags, "gracetime": "evicted pods have their terminationGracePeriodSeconds", "preempt": "jobs preempt jobs with a lower priority class: use priority=", "preemptmode": "the actions of the scheduler's configuration determine it",
	"preemptexempttime": "use the annotation volcano.sh/cooldown-time of jobs", "usagefactor": "the usage of all QOS counts alike", "usagethreshold": "policy fairtree orders jobs by usage", "limitfactor": "set the limits of the QOS",
	"mintresperjob": "jobs have no minimum size", "comment": "use description=", "origin": "clusters are not federated", "ids": "use names: associations have no numbers",
	"federation": "clusters are not federated",
}

// findKey returns the key for which text is an abbreviation.
func findKey(text string) (*key, bool) {
	for i := range keys {
		if getopt.IsAbbreviation(text, keys[i].name, keys[i].least) {
			return &keys[i], true
		}
	}
	return nil, false
}

// parser holds the state between the words of a command line.
type parser struct {
	request *Request
	// inSettings is true if the next words are values to set, and not conditions.
	inSettings bool
	// given holds the names of the values that were set.
	given map[string]bool
}

// listOptions are the words without a value that change what is listed.
var listOptions = []word[func(*Request)]{
	{"tree", 2, func(r *Request) { r.Tree = true }},
	{"withassociations", 5, func(r *Request) { r.WithAssociations = true }},
	{"withcoordinators", 5, func(r *Request) { r.WithCoordinators = true }},
	{"withsubaccounts", 5, func(r *Request) { r.WithSubaccounts = true }},
	{"woplimits", 4, func(r *Request) { r.OnlyOwnLimits = true }},
	{"onlydefaults", 4, func(r *Request) { r.OnlyDefaults = true }},
}

// unsupportedOptions maps words of Slurm that have no meaning here to hints.
var unsupportedOptions = map[string]string{
	"withdeleted": "deleted accounts are not kept", "wopinfo": "select columns with format=", "withrawqoslevel": noQOS, "withclusters": "clusters are not federated",
}

func (p *parser) parseWord(text string) error {
	name, value, hasValue := strings.Cut(text, "=")
	if !hasValue {
		return p.parsePlainWord(text)
	}
	op := Replace
	if rest, isInclude := strings.CutSuffix(name, "+"); isInclude {
		name, op = rest, Include
	} else if rest, isExclude := strings.CutSuffix(name, "-"); isExclude {
		name, op = rest, Exclude
	}
	isList := p.request.Verb == List
	if isList && getopt.IsAbbreviation(name, "format", 3) {
		if op != Replace || strings.Trim(value, ", ") == "" {
			return usererror.Errorf("for example: format=Account,User%20", "Invalid format: %s", text)
		}
		p.request.Columns = value
		return nil
	}
	if getopt.IsAbbreviation(name, "names", 1) {
		name = p.request.nameKey()
	}
	k, ok := findKey(name)
	if !ok {
		if hint, isKnown := findUnsupported(unsupportedKeys, name); isKnown {
			return usererror.Errorf(hint, "%s is not supported here", name)
		}
		return usererror.Errorf("sacctmgr --help lists the names", "Unknown option: %s", text)
	}
	isSetting := p.inSettings && slices.Contains(k.setFor, p.request.Entity)
	if isSetting {
		return p.parseSetting(k, op, text, value)
	}
	return p.parseCondition(k, op, text, value)
}

// parsePlainWord parses a word without =.
func (p *parser) parsePlainWord(text string) error {
	r := p.request
	switch lower := strings.ToLower(text); {
	case lower == "where" && r.Verb != Add:
		p.inSettings = false
		return nil
	case lower == "set" && r.Verb == Modify:
		p.inSettings = true
		return nil
	}
	if r.Verb == List {
		if change, ok := findWord(listOptions, text); ok {
			change(r)
			return nil
		}
		if hint, ok := findUnsupported(unsupportedOptions, text); ok {
			return usererror.Errorf(hint, "%s is not supported here", text)
		}
	}
	isSetting := r.Verb == Modify && p.inSettings
	if isSetting || r.Entity == Associations || r.Entity == TRES {
		return usererror.Errorf("write NAME=value, for example account=physics", "Unknown option: %s", text)
	}
	k, _ := findKey(r.nameKey())
	return p.parseCondition(k, Replace, text, text)
}

// nameKey returns the key of the names of the entity.
func (r *Request) nameKey() string {
	switch r.Entity {
	case Accounts, Associations:
		return "accounts"
	case Clusters:
		return "clusters"
	case QOS:
		return "qosnames"
	}
	return "users"
}

// parseCondition adds a list of names to the selection.
func (p *parser) parseCondition(k *key, op Op, text, value string) error {
	r := p.request
	if !slices.Contains(k.conditionOf, r.Entity) {
		switch {
		case slices.Contains(k.setFor, r.Entity) && r.Verb == Modify:
			return usererror.Errorf("use keyword set before values to set", "Unknown condition: %s", text)
		case p.inSettings:
			return usererror.Errorf("sacctmgr --help lists what can be set for which entity", "%s cannot be set for %s", k.name, r.Entity)
		}
		return usererror.Errorf("sacctmgr --help lists the conditions", "Unknown condition: %s", text)
	}
	isMisplaced := r.Verb == Modify && p.inSettings
	if isMisplaced {
		return usererror.Errorf("use keyword where before conditions", "%s cannot be set", k.name)
	}
	if op != Replace {
		return usererror.Errorf("write NAME=LIST", "%s: a condition has no %s", text, op)
	}
	names := splitList(value)
	if len(names) == 0 {
		return usererror.Errorf("specify a value; check whether a shell variable is unset", "%s is empty", text)
	}
	if k.areAccounts || k.areNames {
		for i := range names {
			name, err := k.parseName(names[i])
			if err != nil {
				return err
			}
			names[i] = name
		}
	}
	list := k.list(&r.Where)
	for _, name := range names {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	return nil
}

// parseSetting adds a value to set.
func (p *parser) parseSetting(k *key, op Op, text, value string) error {
	given := string(k.value) + k.tres + string(op)
	if p.given[given] {
		return usererror.Errorf("specify each value once", "%s is set twice", k.value)
	}
	p.given[given] = true
	if op != Replace && k.kind != listValue {
		return usererror.Errorf("use = to set the value; += and -= are for queues, namespaces and qos", "%s: %s has one value", text, k.value)
	}
	mayBeEmpty := k.kind == textValue || (k.kind == listValue && op == Replace)
	if value == "" && !mayBeEmpty {
		return usererror.Errorf("specify a value; check whether a shell variable is unset; -1 removes a limit", "%s is empty", text)
	}
	s := Setting{Key: k.value, Op: op}
	hint, err := s.parseValue(k, value)
	switch {
	case err != nil:
		return err
	case hint != "":
		return usererror.Errorf(hint, "Invalid value: %s", text)
	}
	p.request.Set = append(p.request.Set, s)
	return nil
}

// parseValue parses the value of a setting. If the value is invalid, it returns a hint, or an error that names the
// invalid part.
func (s *Setting) parseValue(k *key, value string) (hint string, err error) {
	switch k.kind {
	case textValue:
		s.Text = value
		if len(value) > maxTextLength {
			hint = "use at most 253 characters"
		}
	case accountValue:
		s.Text, err = parseAccountName(value)
	case nameValue:
		if s.Text = value; value != "-1" {
			s.Text, err = k.parseName(value)
		}
	case classValue:
		s.Text = value
	case countValue:
		s.Number, hint = parseNumber(value, math.MaxInt32, "use a number from 0 to 2147483647; -1 removes the limit")
	case sharesValue:
		s.Number, hint = parseNumber(value, maxShares, "use a number from 0 to 1000000; -1 restores the default, which is 1")
	case wallValue:
		s.Wall, hint = parseWall(value)
	case tresValue:
		if k.tres != "" {
			value = k.tres + "=" + value
		}
		s.Amounts, err = parseAmounts(value)
	case periodValue:
		s.Text, hint = parsePeriodValue(value)
	case listValue:
		if s.Names = splitList(value); k.areNames {
			for i := range s.Names {
				if s.Names[i], err = k.parseName(s.Names[i]); err != nil {
					return "", err
				}
			}
		}
		if len(s.Names) == 0 && s.Op != Replace {
			hint = "specify a list of names"
		}
	}
	return hint, err
}

const (
	// maxTextLength is the maximum length of a description and of the name of an organization. The CRD has the same limit.
	maxTextLength = 253
	// maxWallMinutes is the longest time limit. A longer duration does not fit the API.
	maxWallMinutes = 100 * 366 * 24 * 60
	// maxShares is the largest number of shares.
	maxShares = 1_000_000
)

// periods lists the periods of budgets.
var periods = []accountv1alpha1.BudgetPeriod{accountv1alpha1.BudgetPeriodNone, accountv1alpha1.BudgetPeriodMonth, accountv1alpha1.BudgetPeriodQuarter, accountv1alpha1.BudgetPeriodYear}

// PeriodHint lists the valid periods of budgets.
const PeriodHint = "use month, quarter, year or none"

// ParsePeriod parses the period of a budget; ok is false if it is invalid.
func ParsePeriod(text string) (period accountv1alpha1.BudgetPeriod, ok bool) {
	for _, known := range periods {
		if strings.EqualFold(text, string(known)) {
			return known, true
		}
	}
	return "", false
}

// parsePeriodValue parses the value of budgetperiod=, where -1 removes the period. It returns a hint if the value is
// invalid.
func parsePeriodValue(text string) (period, hint string) {
	if text == "-1" {
		return string(accountv1alpha1.BudgetPeriodNone), ""
	}
	if valid, ok := ParsePeriod(text); ok {
		return string(valid), ""
	}
	return "", PeriodHint
}

// parseNumber parses a number up to most, where -1 removes the value. It returns the given hint if the number is invalid.
func parseNumber(text string, most int64, hint string) (number int32, problem string) {
	n, err := strconv.ParseInt(text, 10, 32)
	isInvalid := err != nil || n < noLimit || n > most
	if isInvalid {
		return 0, hint
	}
	return int32(n), ""
}

// parseWall parses a time limit, where -1 removes the limit. problem is empty if the limit is valid.
func parseWall(text string) (limit time.Duration, problem string) {
	minutes, err := optionvalue.ParseTime(text)
	switch {
	case err != nil:
		return 0, optionvalue.HintOf(err)
	case minutes > maxWallMinutes:
		return 0, "use at most 100 years; -1 removes the limit"
	case minutes == optionvalue.Unlimited:
		return noLimit, ""
	}
	return minutes.ToDuration(), ""
}

// parseAmounts parses a list such as cpu=100,mem=1T,gres/gpu=8. The text -1 alone stands for an empty list, which removes
// all limits.
func parseAmounts(text string) ([]Amount, error) {
	if text == "-1" {
		return nil, nil
	}
	var amounts []Amount
	for part := range strings.SplitSeq(text, ",") {
		name, value, hasValue := strings.Cut(strings.TrimSpace(part), "=")
		if !hasValue {
			return nil, usererror.Errorf("use a list such as cpu=100,mem=1T,gres/gpu=8; an amount of -1 removes the limit", "Invalid TRES: %q", part)
		}
		amount, err := parseAmount(strings.TrimSpace(name), strings.TrimSpace(value))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(amounts, func(a Amount) bool { return a.TRES == amount.TRES }) {
			return nil, usererror.Errorf("specify each resource once", "TRES %s is set twice", amount.TRES)
		}
		amounts = append(amounts, amount)
	}
	return amounts, nil
}

func parseAmount(name, value string) (Amount, error) {
	lower := strings.ToLower(name)
	switch {
	case lower == "cpu", lower == "mem":
		name = lower
	case strings.HasPrefix(lower, "gres/") && strings.Contains(lower, ":"):
		return Amount{}, usererror.Errorf("limit all devices of the kind, for example gres/gpu=8", "TRES %s: types of devices cannot be limited", name)
	case strings.HasPrefix(lower, "gres/") && len(lower) > len("gres/"):
		name = lower
	case lower == "gpu":
		name = "gres/gpu"
	case lower == "node":
		return Amount{}, usererror.Errorf(noNodes, "TRES node cannot be limited")
	case isResourceName(name):
	default:
		return Amount{}, usererror.Errorf("use cpu, mem, gres/gpu, or the name of a resource of Kubernetes such as nvidia.com/gpu", "Invalid TRES: %s", name)
	}
	if value == "-1" {
		return Amount{name, noLimit}, nil
	}
	if name == "mem" {
		memory, err := optionvalue.ParseMemory(value)
		if err != nil {
			return Amount{}, usererror.Errorf(optionvalue.HintOf(err), "Invalid value: mem=%s", value)
		}
		return Amount{name, memory.ToBytes()}, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 || n > maxAmount {
		return Amount{}, usererror.Errorf("use a whole number; -1 removes the limit", "Invalid value: %s=%s", name, value)
	}
	return Amount{name, n}, nil
}

// maxAmount is the largest amount of a resource.
const maxAmount = 1e12

// isResourceName reports whether a name is a valid name of a Kubernetes resource with a domain, such as nvidia.com/gpu.
func isResourceName(name string) bool {
	domain, _, hasDomain := strings.Cut(name, "/")
	return hasDomain && strings.Contains(domain, ".") && len(validation.IsQualifiedName(name)) == 0
}

// maxNameLength is the maximum length of the name of an account, because a label of jobs holds it.
const maxNameLength = 63

// parseName returns the name of an account or a QOS.
func (k *key) parseName(text string) (string, error) {
	if k.areNames {
		return parseObjectName("QOS", text)
	}
	return parseAccountName(text)
}

// parseAccountName returns the name of an account.
func parseAccountName(text string) (string, error) { return parseObjectName("account", text) }

// parseObjectName returns the name of an account or a QOS. As in Slurm, its case does not matter.
func parseObjectName(kind, text string) (string, error) {
	name := strings.ToLower(text)
	if len(validation.IsDNS1123Subdomain(name)) == 0 && len(name) <= maxNameLength {
		return name, nil
	}
	hint := "use at most 63 letters, digits, - and .; the first and the last must be a letter or a digit"
	if other := strings.ReplaceAll(name, "_", "-"); other != name && len(validation.IsDNS1123Subdomain(other)) == 0 {
		hint = "names have no underscore; use " + other
	}
	return "", usererror.Errorf(hint, "Invalid %s name: %s", kind, text)
}

// splitList returns the non-empty words of a comma-separated list.
func splitList(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
