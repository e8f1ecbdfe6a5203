package sacctmgr

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

const services = `
- metadata: {name: high}
  spec: {description: Urgent work, priorityClassName: urgent, limits: {maxRunningJobs: 4, maxSubmittedJobs: 40, maxResources: {cpu: "64"}}, accountLimits: {maxRunningJobs: 2}}
- metadata: {name: normal}
- metadata: {name: short}
  spec: {userLimits: {maxRunningJobs: 1, maxSubmittedJobs: 9, maxResources: {nvidia.com/gpu: "2"}}, jobLimits: {maxRunTime: 30m, maxResources: {memory: 64Gi}}}
`

// newClusterWithQOS returns the cluster of newCluster with three QOS. Science permits normal and short, and Mei in physics high.
func newClusterWithQOS(t testing.TB) *Cluster {
	t.Helper()
	cluster := newCluster(t)
	var qos []*accountv1alpha1.QOS
	if err := yaml.UnmarshalStrict([]byte(services), &qos); err != nil {
		t.Fatal(err)
	}
	var accounts []*accountv1alpha1.Account
	for _, name := range cluster.Accounts.Names() {
		account := cluster.Accounts.Account(name)
		switch name {
		case "science":
			account.Spec.PermittedQOS = accountv1alpha1.PermittedQOS{QOS: []string{"normal", "short"}}
		case "physics":
			findUser(account, "mei").PermittedQOS = accountv1alpha1.PermittedQOS{QOS: []string{"high", "short"}, DefaultQOS: "high"}
		}
		accounts = append(accounts, account)
	}
	cluster.Accounts = accountv1alpha1.NewTree(accounts, qos...)
	cluster.Classes = map[string]int32{"urgent": 1000, "low": -5, "idle": -5}
	return cluster
}

// computeQOS returns the plan for a command line.
func computeQOS(t *testing.T, words string) (*Plan, error) {
	t.Helper()
	request, err := Parse(strings.Fields(words))
	if err != nil {
		t.Fatalf("%s: %v", words, err)
	}
	return request.Compute(newClusterWithQOS(t))
}

func TestQOSAreCreatedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"add qos long grpjobs=3 grpsubmit=30 grptres=cpu=8 priority=urgent":           `{"description":"long","limits":{"maxResources":{"cpu":"8"},"maxRunningJobs":3,"maxSubmittedJobs":30},"priorityClassName":"urgent"}`,
		"create qos Long description=Long maxjobspu=3 maxsubmitpu=4 maxtrespu=mem=1G": `{"description":"Long","userLimits":{"maxResources":{"memory":"1Gi"},"maxRunningJobs":3,"maxSubmittedJobs":4}}`,
		"add qos long maxjobsperuser=3 maxsubmitjobsperuser=4 maxtresperuser=cpu=2":   `{"description":"long","userLimits":{"maxResources":{"cpu":"2"},"maxRunningJobs":3,"maxSubmittedJobs":4}}`,
		"add qos long maxjobspa=3 maxsubmitpa=4 maxtrespa=cpu=1":                      `{"accountLimits":{"maxResources":{"cpu":"1"},"maxRunningJobs":3,"maxSubmittedJobs":4},"description":"long"}`,
		"add qos long maxwall=2-0 maxtres=cpu=16 maxjobs=5":                           `{"description":"long","jobLimits":{"maxResources":{"cpu":"16"},"maxRunTime":"48h0m0s"},"userLimits":{"maxRunningJobs":5}}`,
		"modify qos high set priority=-5":                                             `{"accountLimits":{"maxRunningJobs":2},"description":"Urgent work","limits":{"maxResources":{"cpu":"64"},"maxRunningJobs":4,"maxSubmittedJobs":40},"priorityClassName":"idle"}`,
		"modify qos high set priority=0 grpjobs=-1 grpsubmit=-1 grptres=-1":           `{"accountLimits":{"maxRunningJobs":2},"description":"Urgent work"}`,
		"modify qos where name=short set maxwall=-1 maxtres=mem=-1 maxjobs=2":         `{"userLimits":{"maxResources":{"nvidia.com/gpu":"2"},"maxRunningJobs":2,"maxSubmittedJobs":9}}`,
		"modify qos normal set description=Normal":                                    `{"description":"Normal"}`,
	} {
		plan, err := computeQOS(t, words)
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if len(plan.QOSWrites) != 1 || len(plan.Writes) != 0 {
			t.Errorf("%s: %d writes of QOS and %d of accounts", words, len(plan.QOSWrites), len(plan.Writes))
			continue
		}
		text, err := yaml.Marshal(plan.QOSWrites[0].QOS.Spec)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
}

func TestPlansOfQOSDescribeTheirChanges(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"add qos long,normal priority=urgent maxwall=1-0": " Adding QOS(s)\n  long\n Settings\n  Description    = QOS Name\n  Priority      = urgent\n  MaxWall       = 1-00:00:00\n",
		"add qos long maxjobspu=2 maxsubmitpu=4":          " Adding QOS(s)\n  long\n Settings\n  Description    = QOS Name\n  MaxJobsPU     = 2\n  MaxSubmitPU   = 4\n",
		"add qos normal":                                  " Nothing new added.\n",
		"modify qos set maxjobs=3":                        " Modified qos...\n  high\n  normal\n  short\n",
		"modify qos royal set maxjobs=3":                  " Nothing modified\n",
		"delete qos royal":                                " Nothing deleted\n",
		"modify account physics set qos+=high":            " Modified account associations...\n  C = prod       A = physics of science\n",
	} {
		if strings.HasPrefix(words, "modify qos set") {
			words = "modify qos high,normal,short set maxjobs=3"
		}
		plan, err := computeQOS(t, words)
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if diff := cmp.Diff(want, plan.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
}

// TestTheQOSOfAccountsAndUsersAreChanged checks that += and -= apply to the inherited list.
func TestTheQOSOfAccountsAndUsersAreChanged(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"modify account science set qos=high,short defaultqos=short":     `science {"defaultQOS":"short","qos":["high","short"]}`,
		"modify account science set qos=":                                `science {}`,
		"modify account physics set qos+=high":                           `physics {"qos":["normal","short","high"]}`,
		"modify account empty set qos-=high":                             `empty {"qos":["normal","short"]}`,
		"modify user mei account=physics set qos-=short":                 `physics mei {"defaultQOS":"high","qos":["high"]}`,
		"modify user mei account=physics set defaultqos=-1":              `physics mei {"qos":["high","short"]}`,
		"modify user omar account=physics set qos+=HIGH defaultqos=high": `physics omar {"defaultQOS":"high","qos":["normal","short","high"]}`,
		"add account laser parent=physics qos+=high":                     `laser {"qos":["normal","short","high"]}`,
	} {
		plan, err := computeQOS(t, words)
		if err != nil || len(plan.Writes) != 1 {
			t.Errorf("%s: %v, %+v", words, err, plan)
			continue
		}
		account := plan.Writes[0].Account
		permitted, name := account.Spec.PermittedQOS, account.Name
		if user := strings.Fields(want)[1]; !strings.HasPrefix(user, "{") {
			permitted, name = findUser(account, user).PermittedQOS, name+" "+user
		}
		text, err := yaml.Marshal(permitted)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, name+" "+string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
}

func TestAPlanOfQOSThatCannotBeCarriedOutIsRejected(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"modify account science set qos+=royal":                 "Invalid QOS: royal",
		"modify account science set defaultqos=royal":           "Invalid QOS: royal",
		"modify account empty set qos+=high":                    "qos+=: all QOS are permitted already",
		"modify account science set qos-=normal,short":          "qos-=: without any of its qos, the account would permit all",
		"modify user mei account=physics set defaultqos=normal": "account physics: spec.users[1].defaultQOS: Invalid value",
		"delete qos short":                                      "QOS short cannot be deleted, because account physics or one of its users names it",
		"modify qos high set priority=royal":                    "Invalid value: priority=royal",
		"modify qos high set priority=7":                        "Invalid value: priority=7",
		"modify qos high set grptres=gres/wood=1":               "Invalid TRES: gres/wood",
	} {
		_, err := computeQOS(t, words)
		if err == nil || !strings.Contains(err.Error(), want) || usererror.FromError(err).Hint == "" {
			t.Errorf("%s: error %v, want %s with a hint", words, err, want)
		}
	}
	plan, err := computeQOS(t, "modify account physics set qos=")
	if err != nil || !plan.IsEmpty && len(plan.Writes) > 0 {
		t.Errorf("an account without a list changes: %v", err)
	}
}

func TestQOSAreListed(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"show qos format=name,priority,priorityclass,grpjobs,grpsubmit,grptres,maxjobspu": "high|1000|urgent|4|40|cpu=64|\nnormal|0|||||\nshort|0|||||1\n",
		"list qos short format=name,maxsubmitpu,maxtrespu,maxtres,maxwall":                "short|9|gres/gpu=2|mem=64G|00:30:00\n",
		"show qos where names=high format=name,maxjobspa,preemptmode,usagefactor,descr":   "high|2|cluster|1.000000|Urgent work\n",
		"show assoc where account=physics format=account,user,qos,defaultqos":             "physics||normal,short|normal\nphysics|mei|high,short|high\nphysics|omar|normal,short|normal\n",
		"show assoc where account=empty format=account,qos,defaultqos":                    "empty|high,normal,short|normal\n",
		"show user mei format=user,qos,defaultqos":                                        "mei||\n",
	} {
		request, err := Parse(strings.Fields(words))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		columns, err := request.ParseColumns()
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		rows, err := request.Rows(newClusterWithQOS(t))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		got := columns.FormatTable(rows, tableformat.Form{Between: "|", Parsable: true})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
}
