package doctor

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/cli/crdcompare"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// expectation is a finding that a check must return, and a part of its text.
type expectation struct {
	result Result
	text   string
}

// requireOnly fails unless the findings are exactly the expected ones, and each problem comes with advice.
func requireOnly(t *testing.T, name string, got []Finding, want ...expectation) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d findings, want %d: %+v", name, len(got), len(want), got)
		return
	}
	for i, f := range got {
		if f.Result != want[i].result || !strings.Contains(f.Found, want[i].text) {
			t.Errorf("%s: %s %q, want %s %q", name, f.Result, f.Found, want[i].result, want[i].text)
		}
		if f.isProblem() != (f.Remedy != "") {
			t.Errorf("%s: %s %q has the advice %q", name, f.Result, f.Found, f.Remedy)
		}
	}
}

func TestVersionsAreComparedWithTheSupportedOnes(t *testing.T) {
	t.Parallel()
	kubernetes := func(minor string) version.Info {
		return version.Info{Major: "1", Minor: minor, GitVersion: "v1." + minor + ".0"}
	}
	same := map[string]string{"scheduler": "v0.3.1"}
	for name, test := range map[string]struct {
		facts versionFacts
		want  []expectation
	}{
		"supported":      {versionFacts{own: "v0.3.0", kubernetes: kubernetes("37"), components: same}, []expectation{{OK, "Kubernetes v1.37.0, scheduler v0.3.1"}}},
		"a provider's":   {versionFacts{own: "v0.3.0", kubernetes: kubernetes("34+"), components: same}, []expectation{{OK, ""}}},
		"too old":        {versionFacts{own: "v0.3.0", kubernetes: kubernetes("33"), components: same}, []expectation{{Failed, "Kubernetes 1.33 is too old"}}},
		"too new":        {versionFacts{own: "v0.3.0", kubernetes: kubernetes("38"), components: same}, []expectation{{Warning, "1.38"}}},
		"unknown":        {versionFacts{own: "v0.3.0", kubernetes: kubernetes("x"), components: same}, []expectation{{Warning, "1.x"}}},
		"another minor":  {versionFacts{own: "v0.4.0", kubernetes: kubernetes("37"), components: same}, []expectation{{Warning, "scheduler runs version v0.3.1"}}},
		"no release":     {versionFacts{own: "devel", kubernetes: kubernetes("37"), components: same}, []expectation{{OK, "vcctl devel"}}},
		"nothing there":  {versionFacts{own: "v0.3.0", kubernetes: kubernetes("37"), namespace: "volcano-system"}, []expectation{{Failed, "no Deployments"}}},
		"nothing may be": {versionFacts{own: "v0.3.0", kubernetes: kubernetes("37"), unreadable: []Finding{skipped("no")}}, []expectation{{OK, "components unknown"}, {Skipped, "no"}}},
	} {
		requireOnly(t, name, decideVersions(&test.facts), test.want...)
	}
}

func TestCRDsOfEveryStateAreReported(t *testing.T) {
	t.Parallel()
	crd := func(state crdcompare.State) crdcompare.Comparison {
		return crdcompare.Comparison{Name: "queues", State: state, Version: 2, OwnVersion: 3, Established: true, MissingFields: []string{"spec.jobLimits"}}
	}
	unserved := crd(crdcompare.Current)
	unserved.Established, unserved.Problem = false, "name is taken"
	old := crd(crdcompare.Older)
	old.NotServed, old.LostVersions = []string{"v1beta1"}, []string{"v1alpha1"}
	for name, test := range map[string]struct {
		crds []crdcompare.Comparison
		want []expectation
	}{
		"current":    {[]crdcompare.Comparison{crd(crdcompare.Current)}, []expectation{{OK, "all 1 CRDs"}}},
		"missing":    {[]crdcompare.Comparison{crd(crdcompare.Missing), crd(crdcompare.Missing)}, []expectation{{Failed, "queues, queues do not exist"}}},
		"older":      {[]crdcompare.Comparison{crd(crdcompare.Older)}, []expectation{{Warning, "it lacks spec.jobLimits"}}},
		"newer":      {[]crdcompare.Comparison{crd(crdcompare.Newer)}, []expectation{{Warning, "newer"}}},
		"changed":    {[]crdcompare.Comparison{crd(crdcompare.Changed)}, []expectation{{Warning, "differs"}}},
		"foreign":    {[]crdcompare.Comparison{crd(crdcompare.Foreign)}, []expectation{{Failed, "Volcano's; it lacks"}}},
		"not served": {[]crdcompare.Comparison{unserved}, []expectation{{Failed, "name is taken"}}},
		"versions":   {[]crdcompare.Comparison{old}, []expectation{{Warning, "older"}, {Failed, "does not serve version v1beta1"}, {Warning, "stored in version v1alpha1"}}},
	} {
		requireOnly(t, name, decideCRDs(test.crds), test.want...)
	}
}

func TestClocksThatDifferAreReported(t *testing.T) {
	t.Parallel()
	at := func(skew, ahead time.Duration) clockFacts {
		return clockFacts{
			server: serverFacts{date: now, before: now.Add(skew), after: now.Add(skew + 100*time.Millisecond)}, read: now,
			renewed: map[string]time.Time{"vc-scheduler": now.Add(ahead)},
		}
	}
	for name, test := range map[string]struct {
		facts clockFacts
		want  []expectation
	}{
		"equal":               {at(0, -time.Second), []expectation{{OK, "leases compared: 1"}}},
		"within the rounding": {at(900*time.Millisecond, 0), []expectation{{OK, ""}}},
		"ahead":               {at(time.Minute, 0), []expectation{{Warning, "59s"}}},
		"behind":              {at(-time.Hour, 0), []expectation{{Failed, "1h0m0s"}}},
		"a holder ahead":      {at(0, time.Minute), []expectation{{Warning, "lease vc-scheduler has a clock that is at least 1m0s ahead"}}},
		"a holder behind":     {at(0, -time.Minute), []expectation{{OK, ""}}}, // an old renewal is a finding about leases
		"no time":             {clockFacts{}, []expectation{{Skipped, "no time"}}},
	} {
		requireOnly(t, name, decideClock(&test.facts), test.want...)
	}
}

func TestALeaseNeedsAHolderThatRenewsIt(t *testing.T) {
	t.Parallel()
	lease := func(holder string) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &metav1.MicroTime{Time: now}}}
	}
	good := leaseFacts{schedulerLease, lease("pod-a"), true}
	for name, test := range map[string]struct {
		deployments bool
		leases      []leaseFacts
		want        []expectation
	}{
		"both renewed":  {true, []leaseFacts{good, {controllersLease, lease("pod-b"), true}}, []expectation{{OK, "pod-a leads vc-scheduler, pod-b leads vc-controller-manager"}}},
		"one missing":   {true, []leaseFacts{good, {name: controllersLease}}, []expectation{{Failed, "lease vc-controller-manager does not exist"}}},
		"one released":  {true, []leaseFacts{good, {controllersLease, lease(""), false}}, []expectation{{Failed, "has no holder"}}},
		"one outdated":  {true, []leaseFacts{good, {controllersLease, lease("pod-b"), false}}, []expectation{{Failed, "pod-b holds lease vc-controller-manager in namespace n, but does not renew it; last renewal: 2026-03-01T12:00:00Z"}}},
		"accounting":    {true, []leaseFacts{good, {name: deploy.AccountingLease}}, []expectation{{Failed, "lease vc-accounting does not exist"}}},
		"a local one":   {false, []leaseFacts{{name: schedulerLease}, {name: controllersLease}}, []expectation{{Skipped, "no Deployments"}}},
		"none readable": {true, nil, nil},
	} {
		requireOnly(t, name, decideLeases("n", test.deployments, test.leases), test.want...)
	}
}

func TestTheAccountingDatabaseMustAnswerIfItIsInstalled(t *testing.T) {
	t.Parallel()
	unreachable := failed("try again", "cannot be read")
	for name, test := range map[string]struct {
		facts accountingFacts
		want  expectation
	}{
		"it answers":     {accountingFacts{code: http.StatusOK}, expectation{OK, "the accounting database answers"}},
		"a local one":    {accountingFacts{code: http.StatusOK, isInstalled: false}, expectation{OK, "the accounting database answers"}},
		"it is cut off":  {accountingFacts{code: http.StatusOK, isCutOff: true, message: "cut off"}, expectation{Failed, "does not answer: cut off"}},
		"not enabled":    {accountingFacts{code: http.StatusNotFound}, expectation{OK, "accounting is not enabled"}},
		"not registered": {accountingFacts{code: http.StatusNotFound, isInstalled: true}, expectation{Failed, "has not registered its API"}},
		"no rights":      {accountingFacts{code: http.StatusForbidden, isInstalled: true}, expectation{Skipped, "you may not"}},
		"no database":    {accountingFacts{code: http.StatusServiceUnavailable, message: "connection refused", isInstalled: true}, expectation{Failed, "does not answer: connection refused"}},
		"no API server":  {accountingFacts{err: &unreachable}, expectation{Failed, "cannot be read"}},
	} {
		requireOnly(t, name, decideAccounting(&test.facts), test.want)
	}
}

func TestADatabaseThatIsBehindIsReported(t *testing.T) {
	t.Parallel()
	behind := accountingFacts{code: http.StatusOK, warnings: []string{"the accounting database is behind"}}
	requireOnly(t, "behind", decideAccounting(&behind), expectation{Warning, "the accounting database is behind"})
}

func TestRecordsMustNotWaitForLong(t *testing.T) {
	t.Parallel()
	forbidden := skipped("you may not")
	for name, test := range map[string]struct {
		metrics string
		facts   backlogFacts
		want    []expectation
	}{
		"none waits":          {metrics: "vc_accounting_spool_age_seconds 0\nvc_accounting_spool_bytes 0\n"},
		"a short time":        {metrics: "vc_accounting_spool_age_seconds 299.6\nvc_accounting_spool_bytes 5e+06\nvc_accounting_spool_max_bytes 1.073741824e+09\n"},
		"a long time":         {metrics: "# HELP vc_accounting_spool_age_seconds Age\nvc_accounting_spool_age_seconds 8100.2\nvc_accounting_spool_bytes 5.4e+06\nvc_accounting_spool_max_bytes 1.073741824e+09\n", want: []expectation{{Warning, "waiting for the database in pod vc-accounting-0 for 2h15m0s: 5Mi of at most 1Gi"}}},
		"almost no space":     {metrics: "vc_accounting_spool_age_seconds 10\nvc_accounting_spool_bytes 9e+08\nvc_accounting_spool_max_bytes 1.073741824e+09\n", want: []expectation{{Failed, "858Mi of at most 1Gi"}}},
		"no permission":       {facts: backlogFacts{unreadable: &forbidden}, want: []expectation{{Skipped, "you may not"}}},
		"without the maximum": {metrics: "vc_accounting_spool_age_seconds 400\nvc_accounting_spool_bytes 10\n", want: []expectation{{Warning, "10 of at most 0"}}},
	} {
		if test.metrics != "" {
			test.facts.pod = "vc-accounting-0"
			if err := test.facts.readMetrics(strings.NewReader(test.metrics)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		requireOnly(t, name, decideBacklogs("n", []backlogFacts{test.facts}), test.want...)
	}
	if err := new(backlogFacts).readMetrics(strings.NewReader("go_goroutines 7\n")); err == nil {
		t.Error("metrics of another program are read as those of accounting")
	}
}

func TestTheReasonOfAResponseIsFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"kind":"Status","message":"the disk is full"}`: "the disk is full",
		"error trying to reach service: refused\n":       "error trying to reach service: refused",
		"": "503 Service Unavailable",
	} {
		response := &http.Response{Status: "503 Service Unavailable", Body: io.NopCloser(strings.NewReader(body))}
		if got := readMessage(response); got != want {
			t.Errorf("%q: the reason is %q, want %q", body, got, want)
		}
	}
}

func TestMissingRightsAreNamed(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}}}
	if missing := missingRules(rules[:0], rules); len(missing) == 0 {
		t.Error("an empty role lacks nothing")
	}
	if missing := missingRules(rules, rules); len(missing) > 0 {
		t.Errorf("a role lacks its own rules: %v", missing)
	}
	for name, test := range map[string]struct {
		facts accessFacts
		want  []expectation
	}{
		"all":       {accessFacts{namespace: "n", hasDeployments: true, roles: []roleFacts{{"ClusterRole a", true, nil}}}, []expectation{{OK, "namespace n; vc's service accounts"}}},
		"local":     {accessFacts{namespace: "n"}, []expectation{{OK, ""}, {Skipped, "no Deployments"}}},
		"a person":  {accessFacts{namespace: "n", hasDeployments: true, denied: userRights()[:1]}, []expectation{{Warning, "you may not create jobs.batch.volcano.sh"}}},
		"no role":   {accessFacts{hasDeployments: true, roles: []roleFacts{{title: "ClusterRole a"}}}, []expectation{{Failed, "ClusterRole a does not exist"}}},
		"less role": {accessFacts{hasDeployments: true, roles: []roleFacts{{"ClusterRole a", true, rules}}}, []expectation{{Failed, "ClusterRole a does not permit list pods, watch pods"}}},
	} {
		requireOnly(t, name, decideAccess(&test.facts), test.want...)
	}
}

func TestWebhooksMustExistAndBeReached(t *testing.T) {
	t.Parallel()
	want := wantedConfigurations()
	healthy := func() *webhookFacts {
		facts := &webhookFacts{want: want, review: reviewFacts{wrong: errors.New(`admission webhook "validatejob.volcano.sh" denied the request: no such queue`), user: "mei"}}
		for _, one := range want {
			one.found = true
			facts.have = append(facts.have, one)
		}
		facts.policies = []policyFacts{{"ValidatingAdmissionPolicy a", true, true}}
		return facts
	}
	for name, test := range map[string]struct {
		change func(*webhookFacts)
		want   []expectation
	}{
		"healthy":      {func(*webhookFacts) {}, []expectation{{OK, "the API server reaches the webhooks"}}},
		"one is gone":  {func(f *webhookFacts) { f.have[0].found = false }, []expectation{{Failed, want[0].title + " does not exist"}}},
		"one is empty": {func(f *webhookFacts) { f.have[0].hooks = nil }, []expectation{{Failed, "no webhooks in " + want[0].title}}},
		"other rules":  {func(f *webhookFacts) { f.have[0].hooks = []hook{{name: want[0].hooks[0].name}} }, []expectation{{Warning, want[0].hooks[0].name}}},
		"changes of accounts are recorded": {func(f *webhookFacts) {
			i := slices.IndexFunc(f.have, func(c configuration) bool { return strings.HasSuffix(c.title, "-accounts-mutate") })
			if len(f.have[i].hooks) > 0 {
				t.Errorf("%s has webhooks by default", f.have[i].title)
			}
			f.have[i].hooks = []hook{{name: "mutateaccount.volcano.sh"}}
		}, []expectation{{OK, "the API server reaches the webhooks"}}},
		"a policy is gone": {func(f *webhookFacts) { f.policies[0].found = false }, []expectation{{Failed, "ValidatingAdmissionPolicy a does not exist"}}},
		"another policy":   {func(f *webhookFacts) { f.policies[0].same = false }, []expectation{{Warning, "differs"}}},
		"not asked":        {func(f *webhookFacts) { f.review.wrong = nil }, []expectation{{Failed, "no webhook checks jobs"}}},
		"not reached": {func(f *webhookFacts) {
			f.review.wrong = errors.New(`Internal error occurred: failed calling webhook "validatejob.volcano.sh": failed to call webhook: Post "https://x": connection refused`)
		}, []expectation{{Failed, `the API server cannot call the webhook for jobs: Post "https://x": connection refused`}}},
		"rejected otherwise": {func(f *webhookFacts) { f.review.wrong = errors.New("exceeded quota") }, []expectation{{Warning, "exceeded quota"}}},
		"no defaults":        {func(f *webhookFacts) { f.review.user = "" }, []expectation{{Warning, "writes the defaults"}}},
	} {
		facts := healthy()
		test.change(facts)
		requireOnly(t, name, decideWebhooks(facts), test.want...)
	}
}

func TestTheConfigurationIsParsedAsTheSchedulerWould(t *testing.T) {
	t.Parallel()
	installed := func(text string) map[string]string { return map[string]string{deploy.SchedulerConfigKey: text} }
	const good = "actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: gang}]}]\n"
	for name, test := range map[string]struct {
		facts configurationFacts
		want  []expectation
	}{
		"valid":          {configurationFacts{installed: installed(good)}, []expectation{{OK, "is valid"}}},
		"a wrong action": {configurationFacts{installed: installed("# ours\nactions: \"enqueue, alocate\"\ntiers: [{plugins: [{name: gang}]}]\n")}, []expectation{{Failed, "line 2: "}}},
		"no YAML":        {configurationFacts{installed: installed("actions: \"enqueue\"\ntiers: [\n")}, []expectation{{Failed, "line "}}},
		"another key":    {configurationFacts{installed: map[string]string{"x": good}}, []expectation{{Failed, "the key volcano-scheduler.conf is missing"}}},
		"rejected":       {configurationFacts{installed: installed(good), published: map[string]string{keys.ConfigurationRefused: "too old"}}, []expectation{{Failed, "too old"}}},
		"built in":       {configurationFacts{published: map[string]string{keys.ConfigurationSource: "the built-in configuration"}}, []expectation{{OK, "the built-in configuration"}}},
		"none":           {configurationFacts{namespace: "n"}, []expectation{{Warning, "namespace n contains neither"}}},
		"not readable":   {configurationFacts{unreadable: []Finding{skipped("no")}}, []expectation{{Skipped, "no"}}},
	} {
		requireOnly(t, name, decideConfiguration(&test.facts), test.want...)
	}
}

func TestTheQueuesRootAndDefaultMustBeOpen(t *testing.T) {
	t.Parallel()
	queue := func(state schedulingv1beta1.QueueState) *schedulingv1beta1.Queue {
		return &schedulingv1beta1.Queue{Status: schedulingv1beta1.QueueStatus{State: state}}
	}
	open := queue(schedulingv1beta1.QueueStateOpen)
	for name, test := range map[string]struct {
		queues map[string]*schedulingv1beta1.Queue
		want   []expectation
	}{
		"open":    {map[string]*schedulingv1beta1.Queue{"root": open, "default": open}, []expectation{{OK, ""}}},
		"missing": {map[string]*schedulingv1beta1.Queue{"root": open}, []expectation{{Failed, "queue default does not exist"}}},
		"closed":  {map[string]*schedulingv1beta1.Queue{"root": open, "default": queue("Closed")}, []expectation{{Failed, "queue default is in state Closed"}}},
		"new":     {map[string]*schedulingv1beta1.Queue{"root": queue(""), "default": open}, []expectation{{Warning, "queue root has no state"}}},
	} {
		requireOnly(t, name, decideQueues(test.queues), test.want...)
	}
}

func TestTheProbeExplainsWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "j"}}
	group := &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Explanation: &schedulingv1beta1.Explanation{Message: "no free cpu", Hint: "wait"}}}
	pod := func(state corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: state}}}}
	}
	for name, test := range map[string]struct {
		group *schedulingv1beta1.PodGroup
		pod   *corev1.Pod
		want  expectation
	}{
		"running":        {group, pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), expectation{OK, "node node-1"}},
		"ended":          {group, pod(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}), expectation{OK, "node node-1"}},
		"no image":       {group, pod(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}), expectation{Warning, "does not start: not found"}},
		"no program":     {group, pod(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "StartError"}}), expectation{Warning, "StartError"}},
		"still pulling":  {group, pod(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}), expectation{Warning, "did not start within 1s"}},
		"not placed":     {group, &corev1.Pod{}, expectation{Failed, "not placed on a node within 1s: no free cpu"}},
		"not admitted":   {group, nil, expectation{Failed, "not admitted to its queue within 1s: no free cpu"}},
		"no controllers": {nil, nil, expectation{Failed, "the controllers created no PodGroup"}},
	} {
		requireOnly(t, name, decideProbe(&probeFacts{job: job, group: test.group, pod: test.pod, waited: time.Second}), test.want)
	}
}
