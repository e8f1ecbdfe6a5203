package app

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/daemon"
)

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

// parsed returns the options for a command line of `vcd NAME`.
func parsed(t *testing.T, p parts, arguments ...string) (daemon.Options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &flags{}
	cmd := newPart("test", "", p, daemon.ComponentNames()...)
	cmd.ResetFlags()
	f.bindFlags(cmd.Flags(), p)
	cmd.Flags().SetOutput(&bytes.Buffer{})
	if err := cmd.Flags().Parse(append([]string{"--kubeconfig", path}, arguments...)); err != nil {
		return daemon.Options{}, err
	}
	return f.toOptions(daemon.ComponentNames())
}

func TestFlags(t *testing.T) {
	all := scheduling | controlling | admitting
	cases := map[string]struct {
		arguments []string
		check     func(o daemon.Options) any
		want      any
	}{
		"by default metrics and health are served and one leads": {
			check: func(o daemon.Options) any { return []any{o.MetricsAddress, o.HealthAddress, o.LeaderElect, o.Pprof} },
			want:  []any{":8080", ":11251", true, false},
		},
		"what is not enabled has no address": {
			arguments: []string{"--enable-metrics=false", "--enable-healthz=false"},
			check:     func(o daemon.Options) any { return o.MetricsAddress + o.HealthAddress },
			want:      "",
		},
		"several scheduler names": {
			arguments: []string{"--scheduler-name", "volcano", "--scheduler-name=batch"},
			check:     func(o daemon.Options) any { return o.SchedulerNames },
			want:      []string{"volcano", "batch"},
		},
		"the period of a cycle": {
			arguments: []string{"--schedule-period=250ms"},
			check:     func(o daemon.Options) any { return o.SchedulePeriod },
			want:      250 * time.Millisecond,
		},
		"the service before the webhooks": {
			arguments: []string{"--webhook-service=volcano-system/admission"},
			check:     func(o daemon.Options) any { return []string{o.Admission.ServiceNamespace, o.Admission.ServiceName} },
			want:      []string{"volcano-system", "admission"},
		},
		"what the door is to do": {
			arguments: []string{"--enabled-admission=/jobs/mutate,,/jobs/validate", "--admission-conf=/x", "--max-queue-depth=7", "--enable-root-queue-protection=false",
				"--enable-queue-allocated-pods-check", "--feature-gates=SchedulingGatesQueueAdmission=true,Other=false"},
			check: func(o daemon.Options) any {
				return []any{o.Admission.Enabled, o.Admission.AdmissionConf, o.Admission.Queues, o.Admission.QueueGate}
			},
			want: []any{[]string{"/jobs/mutate", "/jobs/validate"}, "/x", schedulingv1beta1.QueueRules{MaxDepth: 7, FreeRoot: true, KeepBusy: true}, true},
		},
		"how many pods a job may have": {
			arguments: []string{"--max-job-replicas=200000"},
			check:     func(o daemon.Options) any { return o.Admission.MaxReplicas },
			want:      int64(200000),
		},
		"a right to priority classes": {
			arguments: []string{"--require-priority-class-use"},
			check:     func(o daemon.Options) any { return o.Admission.RequirePriorityClassUse },
			want:      true,
		},
		"an account for each job": {
			arguments: []string{"--require-accounts"},
			check:     func(o daemon.Options) any { return o.Admission.RequireAccounts },
			want:      true,
		},
		"all controllers but two": {
			arguments: []string{"--controllers=*,-sharding-controller,-gc-controller", "--controllers=-cronjob-controller"},
			check: func(o daemon.Options) any {
				on := o.Controllers.Selection.IsEnabled
				return []bool{on("job-controller"), on("gc-controller"), on("cronjob-controller")}
			},
			want: []bool{true, false, false},
		},
		"no limit to refusals": {
			arguments: []string{"--max-requeue-num=-1"},
			check:     func(o daemon.Options) any { return o.Controllers.MaxRequeue },
			want:      -1,
		},
		"CronJobs at once": {
			arguments: []string{"--worker-threads-for-cronjob=7"},
			check:     func(o daemon.Options) any { return o.Controllers.CronJobReconcilers },
			want:      7,
		},
		"by default PodGroups get the annotations of workloads": {
			check: func(o daemon.Options) any { return o.Controllers.OwnersKeepAnnotations },
			want:  false,
		},
		"workloads keep their annotations": {
			arguments: []string{"--inherit-owner-annotations=false"},
			check:     func(o daemon.Options) any { return o.Controllers.OwnersKeepAnnotations },
			want:      true,
		},
		"one refusal is enough": {
			arguments: []string{"--max-requeue-num=0"},
			check:     func(o daemon.Options) any { return o.Controllers.MaxRequeue },
			want:      1,
		},
		"the webhook manager's spelling of the service": {
			arguments: []string{"--webhook-namespace=volcano-system", "--webhook-service-name=volcano-admission-service", "--tls-cert-file=/c", "--port=8443", "--ca-cert-file=/x"},
			check:     func(o daemon.Options) any { return []string{o.Admission.ServiceNamespace, o.Admission.ServiceName} },
			want:      []string{"volcano-system", "volcano-admission-service"},
		},
		"a command line of Volcano's is understood": {
			arguments: []string{
				"--kube-api-qps=2000", "--kube-api-burst=2000", "--lock-object-namespace=vs", "--node-worker-threads=20",
				"--worker-threads=50", "--worker-threads-for-gc=1", "--worker-threads-for-cronjob=3", "--worker-threads-for-podgroup=5", "--inherit-owner-annotations=true",
				"--logtostderr", "--cache-dumper", "--leader-elect-resource-name=vc-scheduler", "--scheduler-configs=volcano:volcano:0.0:0.6:false:2:100", "--percentage-nodes-to-find=10", "--enable-healthz=true", "--enable-metrics=true", "-v=3",
			},
			check: func(o daemon.Options) any { return o.LeaseNamespace },
			want:  "vs",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := parsed(t, all, c.arguments...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.check(o)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheAddressOfTheDatabaseIsNotNecessarilyAnArgument(t *testing.T) {
	for name, c := range map[string]struct {
		variable  string
		parts     parts
		arguments []string
		want      string
		err       string
	}{
		"a flag":                  {"", recording, []string{"--accounting-store=sqlite:/data"}, "sqlite:/data", ""},
		"a variable":              {"postgres://vc:secret@db/vc\n", recording, []string{"--accounting-spool-dir=/spool"}, "postgres://vc:secret@db/vc", ""},
		"both":                    {"postgres://vc:secret@db/vc", recording, []string{"--accounting-store=sqlite:/data"}, "sqlite:/data", ""},
		"neither":                 {"", recording, nil, "", ""},
		"an invalid variable":     {"mysql://vc:secret@db/vc", recording, nil, "", "$VC_ACCOUNTING_STORE: database address"},
		"a command without flags": {"postgres://vc:secret@db/vc", scheduling, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("VC_ACCOUNTING_STORE", c.variable)
			o, err := parsed(t, c.parts, c.arguments...)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
					t.Errorf("got %v, want an error that contains %q and no password", err, c.err)
				}
			case err != nil || o.Accounting.Store != c.want || slices.Contains(o.Components, daemon.Accounting) != (c.want != ""):
				t.Errorf("database %q, components %v, %v; want database %q", o.Accounting.Store, o.Components, err, c.want)
			}
		})
	}
}

func TestAccountingIsServedThroughAService(t *testing.T) {
	o, err := parsed(t, recording, "--accounting-store=sqlite:/data", "--accounting-address=:8443", "--accounting-service=volcano-system/vc-accounting", "--accounting-owner=vc-accounting")
	want := aggregatedapi.Options{ListenAddress: ":8443", Namespace: "volcano-system", Service: "vc-accounting", Owner: "vc-accounting"}
	if diff := cmp.Diff(want, o.Accounting.API); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTheMeasurementOfPodsIsConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		want      daemon.MeasureOptions
		says      string
	}{
		"by default":          {nil, daemon.MeasureOptions{Interval: 30 * time.Second}, ""},
		"off":                 {[]string{"--accounting-measure-interval=0"}, daemon.MeasureOptions{}, ""},
		"with an authority":   {[]string{"--accounting-kubelet-ca=ca.crt"}, daemon.MeasureOptions{Interval: 30 * time.Second, KubeletCA: "ca.crt"}, ""},
		"with GPUs":           {[]string{"--accounting-prometheus=monitoring/prometheus:9090"}, daemon.MeasureOptions{Interval: 30 * time.Second, Prometheus: "monitoring/prometheus:9090"}, ""},
		"GPUs, and off":       {[]string{"--accounting-prometheus=http://p:9090", "--accounting-measure-interval=0"}, daemon.MeasureOptions{}, "has no effect"},
		"an unknown server":   {[]string{"--accounting-prometheus=prometheus:9090"}, daemon.MeasureOptions{}, `--accounting-prometheus: "prometheus:9090" is neither a URL nor a service`},
		"too often":           {[]string{"--accounting-measure-interval=10ms"}, daemon.MeasureOptions{}, "--accounting-measure-interval 10ms: must be 0, or at least 1s"},
		"verified, and not":   {[]string{"--accounting-kubelet-ca=ca.crt", "--accounting-kubelet-insecure-tls"}, daemon.MeasureOptions{}, "exclude each other"},
		"a negative interval": {[]string{"--accounting-measure-interval=-1s"}, daemon.MeasureOptions{}, "must be 0"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parsed(t, recording, append([]string{"--accounting-store=sqlite:/data"}, c.arguments...)...)
			switch {
			case c.says != "":
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want an error that contains %q", err, c.says)
				}
				if err != nil && errorHint(err) == "" {
					t.Errorf("the error %v has no hint", err)
				}
			case err != nil || o.Accounting.Measure != c.want:
				t.Errorf("got %+v, %v, want %+v", o.Accounting.Measure, err, c.want)
			}
		})
	}
}

func TestFlagsThatCannotBe(t *testing.T) {
	cases := map[string]struct {
		arguments []string
		says      string
	}{
		"a lease shorter than its renewal": {[]string{"--leader-elect-lease-duration=5s"}, "--leader-elect-lease-duration 5s"},
		"a negative period":                {[]string{"--schedule-period=-1s"}, "--schedule-period -1s"},
		"a service without a namespace":    {[]string{"--webhook-service=admission"}, "must be NAMESPACE/NAME"},
		"a service and a URL":              {[]string{"--webhook-service=a/b", "--webhook-url=https://x"}, "cannot be combined"},
		"a tree of less than nothing":      {[]string{"--max-queue-depth=-1"}, "--max-queue-depth -1"},
		"jobs of less than no pods":        {[]string{"--max-job-replicas=-1"}, "--max-job-replicas -1: must be from 1 to 1000000"},
		"jobs beyond all clusters":         {[]string{"--max-job-replicas=2000000"}, "--max-job-replicas 2000000"},
		"a feature gate without a value":   {[]string{"--feature-gates=X"}, `"X": want Name=true or Name=false`},
		"a controller that there is not":   {[]string{"--controllers=*,-jobs"}, `unknown controller "jobs"`},
		"less than no CronJob at once":     {[]string{"--worker-threads-for-cronjob=-1"}, "--worker-threads-for-cronjob -1"},
		"a flag that nobody knows":         {[]string{"--frobnicate"}, "frobnicate"},
		"a duration that is none":          {[]string{"--schedule-period=fast"}, "schedule-period"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parsed(t, scheduling|controlling|admitting, c.arguments...)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}

// volcanosFlags lists the flags in the specification that each component of Volcano accepts and that have little or no
// effect in vcd.
var volcanosFlags = map[parts]string{
	scheduling: "--ca-cert-file=x --tls-cert-file=x --tls-private-key-file=x --resync-period=0 --minimum-feasible-nodes=100 --minimum-percentage-nodes-to-find=5 " +
		"--priority-class=true --disable-default-scheduler-config=false --plugins-dir=/plugins --scheduler-sharding-mode=none --scheduler-sharding-name=a " +
		"--percentage-nodes-to-find=0 --cache-dumper=true --cache-dump-dir=/tmp --node-worker-threads=20 --gate-removal-worker-num=5 --ignored-provisioners=x --resource-sync-timeout=60s " +
		"--leader-elect-resource-lock=leases --leader-elect-resource-name=vc-scheduler --logtostderr --v=3",
	controlling: "--ca-cert-file=x --tls-cert-file=x --tls-private-key-file=x --kube-api-qps=50 --kube-api-burst=100 --worker-threads=3 --worker-threads-for-cronjob=3 " +
		"--worker-threads-for-podgroup=5 --worker-threads-for-queue=5 --worker-threads-for-gc=1 --scheduler-name=volcano --max-requeue-num=15 --healthz-address=:11251 --enable-healthz " +
		"--enable-metrics --listen-address=:8081 --inherit-owner-annotations=true --controllers=*,-sharding-controller --shard-sync-period=60s --enable-node-event-trigger " +
		"--sharding-configmap=x --sharding-configmap-namespace=y --scheduler-configs=x --leader-elect-resource-name=vc-controller-manager --logtostderr",
	admitting: "--tls-cert-file=x --tls-private-key-file=x --ca-cert-file=x --port=8443 --graceful-shutdown-time=1m --webhook-namespace=a --webhook-service-name=b --logtostderr",
}

func TestEachPartTakesTheFlagsOfVolcanos(t *testing.T) {
	for p, line := range volcanosFlags {
		if _, err := parsed(t, p, strings.Fields(line)...); err != nil {
			t.Errorf("part %d: %v", p, err)
		}
	}
}

func TestWhoGivesAFlagWithoutEffectIsTold(t *testing.T) {
	cmd := newPart("test", "", scheduling|controlling|admitting, daemon.ComponentNames()...)
	var out bytes.Buffer
	cmd.Flags().SetOutput(&out)
	if err := cmd.Flags().Parse([]string{"--worker-threads-for-gc=1", "--logtostderr"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--worker-threads-for-gc has been deprecated, it is ignored: the controllers delete finished jobs",
		"--logtostderr has been deprecated, it is ignored: logs go only to stderr",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not said: %s\n%s", want, out.String())
		}
	}
}

func TestFeatureGatesWithoutEffectAreReported(t *testing.T) {
	for gate, want := range map[string][]string{
		"SchedulingGatesQueueAdmission=true": nil,
		"WorkLoadSupport=true":               nil,
		"CronVolcanoJobSupport=false":        {"feature gate CronVolcanoJobSupport=false is ignored: --controllers=*,-cronjob-controller leaves CronJobs alone"},
		"CSIStorage=true":                    {"feature gate CSIStorage=true is ignored: use --csi-storage"},
		"Zone=true,DynamicResourceAllocation=true": {
			"feature gate DynamicResourceAllocation=true is ignored: Kubernetes feature gates have the defaults of the Kubernetes version that vcd is built with",
			"feature gate Zone=true is ignored: Kubernetes feature gates have the defaults of the Kubernetes version that vcd is built with",
		},
	} {
		gates := featureGates{}
		if err := gates.Set(gate); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, gates.ignoredGates()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", gate, diff)
		}
	}
}

func TestMistakesOnTheCommandLineHaveAHint(t *testing.T) {
	cases := map[string]struct {
		arguments  []string
		says, hint string
	}{
		"no command":         {nil, "no command given", "see vcd --help"},
		"an unknown command": {[]string{"schedule"}, `unknown command "schedule"`, "see vcd --help"},
		"an unknown flag":    {[]string{"scheduler", "--x"}, "unknown flag: --x", "see vcd scheduler --help"},
		"an argument":        {[]string{"all", "now"}, `unexpected argument "now"`, "see vcd all --help"},
		"a webhook flag of the scheduler": {
			[]string{"scheduler", "--webhook-url=https://x"}, "unknown flag: --webhook-url", "see vcd scheduler --help"},
		"a kubeconfig that is not there": {
			[]string{"all", "--kubeconfig=/nowhere/config"}, "/nowhere/config", "specify --kubeconfig FILE, or set KUBECONFIG"},
		"no database":              {[]string{"accounting", "--kubeconfig=KUBECONFIG"}, "--accounting-store or $VC_ACCOUNTING_STORE is required", "specify sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE"},
		"a database of other kind": {[]string{"accounting", "--kubeconfig=KUBECONFIG", "--accounting-store=mysql://x"}, "--accounting-store: database address", "use sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE"},
		"an export of no month":    {[]string{"accounting", "--kubeconfig=KUBECONFIG", "--accounting-store=sqlite:x", "--accounting-export-dir=/archive"}, "--accounting-export-dir /archive has no effect", "also specify --accounting-keep-months, or export months with vcd accounting export"},
		"an impossible component configuration": {
			[]string{"scheduler", "--kubeconfig=KUBECONFIG", "--enable-metrics=false", "--enable-healthz=false", "--healthz-address=x", "--enable-healthz", "--leader-elect=false"},
			"health on x", `choose another address with --healthz-address, or use "" to disable it`},
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := NewCommand()
			arguments := []string{}
			for _, a := range c.arguments {
				arguments = append(arguments, strings.Replace(a, "KUBECONFIG", path, 1))
			}
			cmd.SetArgs(arguments)
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			err := cmd.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want an error that says %q", err, c.says)
			}
			if hint := errorHint(err); hint != c.hint {
				t.Errorf("hint %q, want %q", hint, c.hint)
			}
			if out.Len() > 0 {
				t.Errorf("printed: %s", out.String())
			}
		})
	}
}
