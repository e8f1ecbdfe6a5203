package sacctmgr

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/usererror"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]*Request{
		"add account Physics,chem Description=quantum parent=Science": {Verb: Add, Entity: Accounts, Where: Selection{Accounts: []string{"physics", "chem"}},
			Set: []Setting{{Key: Description, Op: Replace, Text: "quantum"}, {Key: Parent, Op: Replace, Text: "science"}}},
		"CREATE USER name=Mei,omar acc=physics FAIRSHARE=10 DefaultAcc=physics cluster=prod": {Verb: Add, Entity: Users,
			Where: Selection{Users: []string{"Mei", "omar"}, Accounts: []string{"physics"}, Clusters: []string{"prod"}},
			Set:   []Setting{{Key: Fairshare, Op: Replace, Number: 10}, {Key: DefaultAccount, Op: Replace, Text: "physics"}}},
		"modify account physics set maxwall=1-0 grptres=cpu=10,mem=2G,gres/gpu=-1 queues+=a,b": {Verb: Modify, Entity: Accounts, Where: Selection{Accounts: []string{"physics"}},
			Set: []Setting{{Key: MaxWall, Op: Replace, Wall: 24 * time.Hour}, {Key: GrpTRES, Op: Replace, Amounts: []Amount{{"cpu", 10}, {"mem", 2 << 30}, {"gres/gpu", -1}}},
				{Key: Queues, Op: Include, Names: []string{"a", "b"}}}},
		"update user set maxjobs=-1 maxcpus=8 where name=mei account=physics": {Verb: Modify, Entity: Users, Where: Selection{Users: []string{"mei"}, Accounts: []string{"physics"}},
			Set: []Setting{{Key: MaxJobs, Op: Replace, Number: -1}, {Key: MaxTRESPerJob, Op: Replace, Amounts: []Amount{{"cpu", 8}}}}},
		"remove user where defaultaccount=chem":          {Verb: Delete, Entity: Users, Where: Selection{DefaultAccounts: []string{"chem"}}},
		"add coord names=mei account=physics":            {Verb: Add, Entity: Coordinators, Where: Selection{Users: []string{"mei"}, Accounts: []string{"physics"}}},
		"list assoc tree format=Account,User%20 user=me": {Verb: List, Entity: Associations, Where: Selection{Users: []string{"me"}}, Tree: true, Columns: "Account,User%20"},
		"show acc withassoc withcoord wopl":              {Verb: List, Entity: Accounts, WithAssociations: true, WithCoordinators: true, OnlyOwnLimits: true},
		"show tres":                                      {Verb: List, Entity: TRES},
		"modify account where org=nlp set MaxTRESPerUser=nvidia.com/gpu=4": {Verb: Modify, Entity: Accounts, Where: Selection{Organizations: []string{"nlp"}},
			Set: []Setting{{Key: MaxTRESPerUser, Op: Replace, Amounts: []Amount{{"nvidia.com/gpu", 4}}}}},
		"modify account physics set description=": {Verb: Modify, Entity: Accounts, Where: Selection{Accounts: []string{"physics"}}, Set: []Setting{{Key: Description, Op: Replace}}},
	} {
		got, err := Parse(strings.Fields(words))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
}

// An unknown word causes an error with a hint. It is never ignored.
func TestBadWordsGetAReason(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"":                                          "no command",
		"frobnicate account":                        "invalid keyword: frobnicate",
		"dump cluster":                              "dump is not supported here",
		"add":                                       "too few arguments for keyword:add",
		"add planet":                                "Invalid entity: planet",
		"show qos withassoc":                        "withassoc has no effect on a list of qos",
		"add qos":                                   "specify which qos",
		"add qos grpjobs=1":                         "specify which qos",
		"modify qos short":                          "nothing to set",
		"add qos high_prio":                         "Invalid QOS name: high_prio",
		"modify qos a set preempt=b":                "preempt is not supported here",
		"modify qos a set usagefactor=2":            "usagefactor is not supported here",
		"modify qos a set flags=DenyOnLimit":        "flags is not supported here",
		"modify qos a set maxjobspu=1 maxjobs=2":    "MaxJobs is set twice",
		"modify qos a set fairshare=2":              "fairshare cannot be set for qos",
		"modify qos a set priority=":                "priority= is empty",
		"modify account a set maxjobspa=2":          "maxjobspa cannot be set for accounts",
		"modify account a set priority=2":           "priority cannot be set for accounts",
		"add association":                           "associations can only be listed",
		"delete cluster prod":                       "clusters can only be listed",
		"show cluster withassoc":                    "withassoc has no effect on a list of clusters",
		"add tres":                                  "tres can only be listed",
		"modify coordinator mei":                    "coordinators cannot be modified",
		"show coordinator":                          "coordinators cannot be listed alone",
		"add account":                               "specify which accounts",
		"add account description=x":                 "specify which accounts",
		"add account physics users=mei":             "users cannot be added together with an account",
		"add user account=physics":                  "specify the names of the users",
		"add coordinator mei":                       "specify the users and the accounts of which they become coordinators",
		"delete user":                               "specify which users",
		"modify account set fairshare=2":            "specify which accounts",
		"modify account physics":                    "nothing to set",
		"modify account physics fairshare=2":        "Unknown condition: fairshare=2",
		"modify account set account=physics":        "accounts cannot be set",
		"modify account physics set maxjobs":        "Unknown option: maxjobs",
		"modify account a set maxjobs=1 maxjobs=2":  "MaxJobs is set twice",
		"modify account a set maxjobs+=1":           "maxjobs+=1: MaxJobs has one value",
		"modify account a set maxjobs=":             "maxjobs= is empty",
		"modify account a set maxjobs=-2":           "Invalid value: maxjobs=-2",
		"modify account a set maxjobs=many":         "Invalid value: maxjobs=many",
		"modify account a set fairshare=parent":     "Invalid value: fairshare=parent",
		"modify account a set fairshare=1000001":    "Invalid value: fairshare=1000001",
		"modify account a set maxwall=2h":           "Invalid value: maxwall=2h",
		"modify account a set maxwall=99999999999":  "Invalid value: maxwall=99999999999",
		"modify account a set grptres=cpu":          `Invalid TRES: "cpu"`,
		"modify account a set grptres=cpu=1,cpu=2":  "TRES cpu is set twice",
		"modify account a set grptres=cpu=x":        "Invalid value: cpu=x",
		"modify account a set grptres=mem=1Gi":      "Invalid value: mem=1Gi",
		"modify account a set grptres=node=4":       "TRES node cannot be limited",
		"modify account a set grptres=wood=4":       "Invalid TRES: wood",
		"modify account a set grptres=gres/gpu:a=4": "TRES gres/gpu:a: types of devices cannot be limited",
		"modify account a set qos+=":                "qos+= is empty",
		"modify account a set qos=a_b":              "Invalid QOS name: a_b",
		"modify account a set grptresrunmins=cpu=1": "grptresrunmins is not supported here",
		"modify account a set budgetperiod=week":    "Invalid value: budgetperiod=week",
		"modify user a set grptresmins=cpu=1":       "grptresmins cannot be set for users",
		"modify account a set defaultqos=":          "defaultqos= is empty",
		"modify user mei set adminlevel=admin":      "adminlevel is not supported here",
		"modify user mei set grpjobs=4":             "grpjobs cannot be set for users",
		"modify user mei set queues=a":              "queues cannot be set for users",
		"add user mei account=physics partition=a":  "partition is not supported here",
		"add user mei account=":                     "account= is empty",
		"add user mei account+=physics":             "account+=physics: a condition has no +=",
		"add account high_energy":                   "Invalid account name: high_energy",
		"add account a/b":                           "Invalid account name: a/b",
		"add account physics wckey=x":               "wckey is not supported here",
		"add account physics colour=red":            "Unknown option: colour=red",
		"show account withdeleted":                  "withdeleted is not supported here",
		"show account tree":                         "tree has no effect on a list of accounts",
		"show user woplimits":                       "woplimits has no effect on a list of users",
		"show association physics":                  "Unknown option: physics",
		"show association format=,":                 "Invalid format: format=,",
		"show association description=x":            "Unknown condition: description=x",
	} {
		_, err := Parse(strings.Fields(words))
		var human *usererror.Error
		if !errors.As(err, &human) {
			t.Errorf("%q: error %v, want %q", words, err, want)
			continue
		}
		if human.What != want || human.Hint == "" {
			t.Errorf("%q: error %q with hint %q, want %q", words, human.What, human.Hint, want)
		}
	}
}

func TestAnUnderscoreInAnAccountNameGetsASuggestion(t *testing.T) {
	t.Parallel()
	_, err := Parse([]string{"add", "account", "High_Energy"})
	if got := usererror.FromError(err).Hint; !strings.Contains(got, "use high-energy") {
		t.Errorf("hint %q", got)
	}
}
