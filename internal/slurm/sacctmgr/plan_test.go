package sacctmgr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// world is a tree of accounts: science has the accounts physics and chem below it.
const world = `
- metadata: {name: science}
  spec: {description: Science, organization: uni, coordinators: [boss], limits: {maxResources: {cpu: "100", memory: 1Ti, nvidia.com/gpu: "8"}}, userLimits: {maxRunningJobs: 10, maxRunTime: 24h}}
- metadata: {name: physics}
  spec:
    parent: science
    description: Physics
    organization: uni
    shares: 3
    users:
    - {name: omar, shares: 2}
    - {name: mei, default: true, limits: {maxRunningJobs: 4, maxResourcesPerJob: {cpu: "16"}}}
- metadata: {name: chem}
  spec: {parent: science, users: [{name: mei}, {name: ann, default: true}]}
- metadata: {name: empty}
`

func newCluster(t testing.TB) *Cluster {
	t.Helper()
	var accounts []*accountv1alpha1.Account
	if err := yaml.UnmarshalStrict([]byte(world), &accounts); err != nil {
		t.Fatal(err)
	}
	return &Cluster{Name: "prod", Host: "server", Accounts: accountv1alpha1.NewTree(accounts), Site: &profile.Profile{}}
}

// apply carries out the writes of a plan, in order, and checks that the API server would accept each of them.
func apply(t testing.TB, cluster *Cluster, plan *Plan) {
	t.Helper()
	for _, w := range plan.Writes {
		name := w.Account.Name
		if errs := accountv1alpha1.Validate(w.Account, cluster.Accounts); w.Action != Remove && len(errs) > 0 {
			t.Errorf("account %s would be rejected: %v", name, errs)
		}
		if err := accountv1alpha1.ValidateDeletion(name, cluster.Accounts); w.Action == Remove && err != nil {
			t.Errorf("the deletion would be rejected: %v", err)
		}
		var all []*accountv1alpha1.Account
		for _, other := range cluster.Accounts.Names() {
			if other != name {
				all = append(all, cluster.Accounts.Account(other))
			}
		}
		if w.Action != Remove {
			all = append(all, w.Account)
		}
		cluster.Accounts = accountv1alpha1.NewTree(all)
	}
}

// compute returns the plan that the words request.
func compute(cluster *Cluster, words string) (*Plan, error) {
	request, err := Parse(strings.Fields(words))
	if err != nil {
		return nil, err
	}
	return request.Compute(cluster)
}

// specs returns the specs of the written accounts as YAML, one per line.
func specs(t *testing.T, plan *Plan) string {
	t.Helper()
	var b strings.Builder
	for _, w := range plan.Writes {
		text, err := yaml.Marshal(w.Account.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if w.Action == Remove {
			text = nil
		}
		fmt.Fprintf(&b, "%s %s\n%s", map[Action]string{Create: "create", Update: "update", Remove: "remove"}[w.Action], w.Account.Name, text)
	}
	return b.String()
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ words, text, writes string }{
		{"add account laser,root,physics parent=physics grptres=cpu=8 maxjobs=2", `
 Adding Account(s)
  laser
 Settings
  Description     = Account Name
  Organization    = Parent/Account Name
 Associations
  A = laser      C = prod      
 Settings
  Parent        = physics
  GrpTRES       = cpu=8
  MaxJobs       = 2
`, `
create laser
description: laser
limits:
  maxResources:
    cpu: "8"
organization: physics
parent: physics
userLimits:
  maxRunningJobs: 2
`},
		{"add user li account=chem,empty maxjobs=3", `
 Adding User(s)
  li
 Settings =
  Default Account = chem
 Associations =
  U = li        A = chem       C = prod      
  U = li        A = empty      C = prod      
 Non Default Settings
  MaxJobs       = 3
`, `
update chem
parent: science
users:
- name: mei
- default: true
  name: ann
- default: true
  limits:
    maxRunningJobs: 3
  name: li
update empty
users:
- limits:
    maxRunningJobs: 3
  name: li
`},
		{"add user ann account=empty", `
 Associations =
  U = ann       A = empty      C = prod      
`, `
update empty
users:
- name: ann
`},
		{"add coordinator mei,boss account=science", `
 Adding Coordinator User(s)
  mei
  boss
 To Account(s) and all sub-accounts
  science
`, `
update science
coordinators:
- boss
- mei
description: Science
limits:
  maxResources:
    cpu: "100"
    memory: 1Ti
    nvidia.com/gpu: "8"
organization: uni
userLimits:
  maxRunTime: 24h0m0s
  maxRunningJobs: 10
`},
		{"modify account chem,empty set parent=root description=x queues=a,b", `
 Modified accounts...
  chem
  empty
 Modified account associations...
  C = prod       A = chem of root
  C = prod       A = empty of root
`, `
update chem
description: x
queues:
- a
- b
users:
- name: mei
- default: true
  name: ann
update empty
description: x
queues:
- a
- b
`},
		{"modify account science set grptres=cpu=-1,mem=2T maxwall=-1 maxjobs=-1", `
 Modified account associations...
  C = prod       A = science of root
`, `
update science
coordinators:
- boss
description: Science
limits:
  maxResources:
    memory: 2Ti
    nvidia.com/gpu: "8"
organization: uni
`},
		{"modify account chem set grptresmins=cpu=60000,mem=1T budgetperiod=QUARTER", `
 Modified account associations...
  C = prod       A = chem of science
`, `
update chem
limits:
  budget:
    period: Quarter
    resourceMinutes:
      cpu: 60k
      memory: 1Ti
parent: science
users:
- name: mei
- default: true
  name: ann
`},
		{"modify user mei set maxjobs=-1 maxtres=-1 grptres=gres/gpu=2 where account=physics", `
 Modified user associations...
  C = prod       A = physics              U = mei      
`, `
update physics
description: Physics
organization: uni
parent: science
shares: 3
users:
- name: omar
  shares: 2
- default: true
  limits:
    maxResources:
      nvidia.com/gpu: "2"
  name: mei
`},
		// physics loses the default before chem gets it.
		{"modify user mei set defaultaccount=chem", `
 Modified users...
  mei
`, `
update physics
description: Physics
organization: uni
parent: science
shares: 3
users:
- name: omar
  shares: 2
- limits:
    maxResourcesPerJob:
      cpu: "16"
    maxRunningJobs: 4
  name: mei
update chem
parent: science
users:
- default: true
  name: mei
- default: true
  name: ann
`},
		{"delete user omar", " Deleting users...\n  omar\n", `
update physics
description: Physics
organization: uni
parent: science
shares: 3
users:
- default: true
  limits:
    maxResourcesPerJob:
      cpu: "16"
    maxRunningJobs: 4
  name: mei
`},
		{"delete user mei account=chem", " Deleting user associations...\n  C = prod       A = chem                 U = mei      \n", `
update chem
parent: science
users:
- default: true
  name: ann
`},
		// Children are removed before their parents.
		{"delete account science physics chem", " Deleting accounts...\n  chem\n  physics\n  science\n", "remove chem\nremove physics\nremove science\n"},
		{"delete coordinator boss", " Removed Coordinators (sub accounts not listed)...\n  boss of science\n", `
update science
description: Science
limits:
  maxResources:
    cpu: "100"
    memory: 1Ti
    nvidia.com/gpu: "8"
organization: uni
userLimits:
  maxRunTime: 24h0m0s
  maxRunningJobs: 10
`},
		// Changes without effect are not written.
		{"modify account physics set fairshare=3", " Modified account associations...\n  C = prod       A = physics of science\n", ""},
	} {
		cluster := newCluster(t)
		plan, err := compute(cluster, test.words)
		if err != nil {
			t.Errorf("%s: %v", test.words, err)
			continue
		}
		if diff := cmp.Diff(strings.TrimPrefix(test.text, "\n"), plan.Text); diff != "" || plan.IsEmpty {
			t.Errorf("%s: text (-want +got):\n%s", test.words, diff)
		}
		if diff := cmp.Diff(strings.TrimPrefix(test.writes, "\n"), specs(t, plan)); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", test.words, diff)
		}
		apply(t, cluster, plan)
	}
}

func TestRequestsThatMatchNothingChangeNothing(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"add account physics":                         " Nothing new added.\n",
		"add account root":                            " Nothing new added.\n",
		"add user mei account=physics":                " Nothing new added.\n",
		"add coordinator boss account=science":        " Nothing new added.\n",
		"modify user nobody set maxjobs=1":            " Nothing modified\n",
		"modify account where org=nasa set maxjobs=1": " Nothing modified\n",
		"delete account nowhere":                      " Nothing deleted\n",
		"delete user nobody":                          " Nothing deleted\n",
		"delete coordinator mei":                      " Nothing deleted\n",
	} {
		plan, err := compute(newCluster(t), words)
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if plan.Text != want || !plan.IsEmpty || len(plan.Writes) > 0 {
			t.Errorf("%s: %+v, want %q", words, plan, want)
		}
	}
}

func TestRequestsThatTheTreeDoesNotAllowGetAReason(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"add account a parent=nowhere":                "The account 'nowhere' doesn't exist.",
		"add user li account=nowhere":                 "The account 'nowhere' doesn't exist.",
		"add user li account=root":                    "account root cannot be changed",
		"add user li":                                 "specify the account to which the users are added",
		"add user li account=chem defaultacc=physics": "account physics cannot be the default account of user li, who is not in it",
		"add account a cluster=test":                  "The cluster 'test' doesn't exist.",
		"add coordinator mei account=nowhere":         "The account 'nowhere' doesn't exist.",
		"modify account root set maxjobs=1":           "account root cannot be changed",
		"modify account chem set queues=a queues-=a":  "queues-=: without any of its queues, the account would permit all",
		"modify account science set parent=physics":   "accounts would form a cycle",
		"modify account physics set grptres=gres/x=1": "Invalid TRES: gres/x",
		"modify user mei set defaultaccount=empty":    "account empty cannot be the default account of user mei, who is not in it",
		"delete account science":                      "account science cannot be deleted, because account chem is below it",
		"delete account physics":                      "You can not remove the default account of a user: physics is the default account of user mei",
		"delete user mei account=physics":             "You can not remove the default account of a user: physics is the default account of user mei",
		"delete account root":                         "account root cannot be changed",
	} {
		_, err := compute(newCluster(t), words)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", words, err, want)
			continue
		}
		for _, one := range usererror.Flatten(err) {
			var human *usererror.Error
			if !errors.As(one, &human) || human.Hint == "" {
				t.Errorf("%s: %v has no hint", words, one)
			}
		}
	}
}

// list returns the list that the words request.
func list(t *testing.T, words string) string {
	t.Helper()
	request, err := Parse(strings.Fields(words))
	if err != nil {
		t.Fatal(err)
	}
	columns, err := request.ParseColumns()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := request.Rows(newCluster(t))
	if err != nil {
		t.Fatal(err)
	}
	return columns.FormatTable(rows, tableformat.Form{Parsable: true, Between: "|"})
}

func TestLists(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"show account format=acc,des,o,shares":                                       "root|default root account|root|1\nempty|||1\nscience|Science|uni|1\nchem|||1\nphysics|Physics|uni|3\n",
		"show account where parent=science format=name":                              "chem\nphysics\n",
		"show account where name=science withsubaccounts format=account,grptres":     "science|cpu=100,mem=1T,gres/gpu=8\nchem|\nphysics|\n",
		"show account physics withassoc format=account,user,parentn,share":           "physics||science|3\nphysics|mei||1\nphysics|omar||2\n",
		"show account science format=coord,grpcpus,grpmem":                           "boss|100|1T\n",
		"show user format=user,defaulta,ad":                                          "ann|chem|None\nboss||None\nmei|physics|None\nomar||None\n",
		"show user mei withassoc format=user,account,maxjobs,maxcpus,maxwall":        "mei|chem|10||1-00:00:00\nmei|physics|4|16|1-00:00:00\n",
		"show user where account=chem onlydefaults format=user":                      "ann\n",
		"show assoc tree format=account,user":                                        "root|\n empty|\n science|\n  chem|\n   chem|ann\n   chem|mei\n  physics|\n   physics|mei\n   physics|omar\n",
		"show assoc where user=mei format=cluster,account,user,share":                "prod|chem|mei|1\nprod|physics|mei|1\n",
		"show assoc woplimits where account=physics format=user,maxjobs,maxtres":     "||\nmei|4|cpu=16\nomar||\n",
		"show assoc where account=physics format=user,maxjobs,maxwalldurationperjob": "|10|1-00:00:00\nmei|4|1-00:00:00\nomar|10|1-00:00:00\n",
		"show cluster prod format=cluster,controlh":                                  "prod|server\n",
		"list user mei withassoc format=account%256":                                 "chem\nphysics\n",               // Snakemake
		"show users withassoc format=account,cluster,partition,qos where user=mei":   "chem|prod||\nphysics|prod||\n", // Open OnDemand
		"show tres": "cpu||1\nmem||2\ngres|gpu|1001\ngres|npu|1002\ngres|shard|1003\n",
	} {
		if diff := cmp.Diff(want, list(t, words)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
}

func TestUnknownColumnsAreListedInTheHint(t *testing.T) {
	t.Parallel()
	request, err := Parse(strings.Fields("show user format=colour"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = request.ParseColumns(); err == nil || !strings.Contains(usererror.FromError(err).Hint, "DefaultAccount") {
		t.Errorf("error %v", err)
	}
}

// Every command line that is parsed has a plan that the API server accepts, or an error. A second run of the same
// command changes nothing.
func FuzzPlan(f *testing.F) {
	for _, words := range []string{
		"add account a parent=science grptres=cpu=1,mem=1G maxwall=1-0", "add user li account=chem defaultaccount=chem fairshare=2", "modify account science set parent=root queues-=a namespaces+=b",
		"modify user where account=physics set defaultaccount=chem", "delete account science,chem,physics", "delete user mei account=chem", "add coord mei account=empty", "show assoc tree format=account%-30,user",
		"delete user where defaultaccount=chem", "modify user mei,ann set defaultaccount=chem grptres=gres/gpu=4", "update acct org=uni set maxtrespu=nvidia.com/gpu=1 grpsubmit=0",
	} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		request, err := Parse(strings.Split(words, " "))
		if err != nil {
			return
		}
		cluster := newCluster(t)
		if request.Verb == List {
			if columns, err := request.ParseColumns(); err == nil {
				rows, _ := request.Rows(cluster)
				columns.FormatTable(rows, tableformat.Form{Heading: true})
			}
			return
		}
		plan, err := request.Compute(cluster)
		if err != nil {
			return
		}
		apply(t, cluster, plan)
		if again, err := request.Compute(cluster); err == nil && len(again.Writes) > 0 {
			t.Errorf("%q changes something twice: %s", words, again.Text)
		}
	})
}

// TestABudgetIsListedWithItsPeriod checks the columns of an account with a budget, and of an account without one.
func TestABudgetIsListedWithItsPeriod(t *testing.T) {
	t.Parallel()
	row := Row{site: &profile.Profile{}, account: &accountv1alpha1.Account{Spec: accountv1alpha1.AccountSpec{Limits: &accountv1alpha1.AccountLimits{Budget: &accountv1alpha1.Budget{
		ResourceMinutes: corev1.ResourceList{"cpu": resource.MustParse("60k"), "memory": resource.MustParse("1Ti")}, Period: accountv1alpha1.BudgetPeriodMonth,
	}}}}}
	if got, want := FormatResources(row.budget().ResourceMinutes, row.site), "cpu=60000,mem=1T"; got != want {
		t.Errorf("the budget is %q, want %q", got, want)
	}
	if got := row.budget().Period; got != accountv1alpha1.BudgetPeriodMonth {
		t.Errorf("the period is %q", got)
	}
	if got := (&Row{account: &accountv1alpha1.Account{}}).budget(); len(got.ResourceMinutes) > 0 {
		t.Errorf("an account without a budget has %v", got)
	}
}
