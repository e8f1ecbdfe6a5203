package app

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/admission"
)

// queueGate is the only feature gate of Volcano that has an effect. The features behind all other gates are always
// enabled.
const queueGate = "SchedulingGatesQueueAdmission"

// admissionFlags holds the flags of the webhooks.
type admissionFlags struct {
	address, url, service         string
	serviceNamespace, serviceName string
	enabled                       []string
	conf, clientCA, certificates  string
	owner                         string
	clientNames                   []string
	queueDepth                    int
	maxReplicas                   int64
	protectRoot, keepBusyQueues   bool
	requireClassUse, recordJobs   bool
	requireAccounts               bool
}

func (f *admissionFlags) bindFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.address, "webhook-listen-address", admission.DefaultListenAddress, "listen address of the webhooks")
	fs.StringVar(&f.url, "webhook-url", "", "https URL at which the API server reaches the webhooks, instead of a service; several replicas can share the URL")
	fs.StringVar(&f.service, "webhook-service", "", "NAMESPACE/NAME of the service through which the API server reaches the webhooks; without this flag and --webhook-url, the listen address is used")
	fs.StringSliceVar(&f.enabled, "enabled-admission", nil, "paths of the webhooks to install, for example /jobs/mutate,/jobs/validate; by default, all webhooks")
	fs.StringVar(&f.conf, "admission-conf", "", "path to a file that defines resource groups for pods; the file is reloaded when it changes")
	fs.StringVar(&f.clientCA, "webhook-client-ca-file", "", "path of the client certificate authorities; the API server must present a certificate from one of these authorities; by default, every client can send reviews")
	fs.StringVar(&f.owner, "webhook-owner", "", "name of a ClusterRole; webhook configurations that vcd creates are deleted together with it; by default, they stay when vc is removed")
	fs.StringVar(&f.certificates, "webhook-certificate-dir", "", "path of a directory with the webhooks' certificate (tls.crt, tls.key) and its authorities (ca.crt), for example a mounted Secret; the files are reloaded when they change; by default, vcd issues and renews the certificate")
	fs.StringSliceVar(&f.clientNames, "webhook-client-name", nil, "common names of the clients that can send reviews; by default, all clients with a certificate from --webhook-client-ca-file")
	fs.IntVar(&f.queueDepth, "max-queue-depth", schedulingv1beta1.MaxQueueDepth, "maximum depth of the queue hierarchy below root")
	fs.Int64Var(&f.maxReplicas, "max-job-replicas", batchv1alpha1.DefaultMaxReplicas, fmt.Sprintf("maximum total number of pods in a job, at most %d", batchv1alpha1.MaxReplicas))
	fs.BoolVar(&f.requireClassUse, "require-priority-class-use", false, "reject jobs, PodGroups and templates if the user is not allowed to use the priority class (RBAC verb use on priorityclasses.scheduling.k8s.io)")
	fs.BoolVar(&f.requireAccounts, "require-accounts", false, "reject jobs without an account in which their user is listed; without this flag, a job needs no account, but an account that it names must list its user")
	fs.BoolVar(&f.recordJobs, "record-jobs", false, "add a finalizer to new jobs, so that a job cannot disappear before vcd accounting has recorded it; requires that vcd accounting runs")
	fs.BoolVar(&f.protectRoot, "enable-root-queue-protection", true, "reject changes to the root queue's capability, deserved and guarantee")
	fs.BoolVar(&f.keepBusyQueues, "enable-queue-allocated-pods-check", false, "reject the deletion of a queue with running pods")
}

// bindObsolete adds flags of Volcano's webhook manager that have another name or no effect in vcd.
func (f *admissionFlags) bindObsolete(fs *pflag.FlagSet) {
	fs.StringVar(&f.serviceNamespace, "webhook-namespace", "", "namespace of the service in front of the webhooks")
	deprecateFlag(fs, "webhook-namespace", "use --webhook-service")
	fs.StringVar(&f.serviceName, "webhook-service-name", "", "name of the service in front of the webhooks")
	deprecateFlag(fs, "webhook-service-name", "use --webhook-service")
}

// toOptions converts the flags to the options of the webhooks.
func (f *admissionFlags) toOptions(gates featureGates) (admission.Options, error) {
	o := admission.Options{
		ListenAddress: f.address, URL: f.url, AdmissionConf: f.conf, QueueGate: gates[queueGate], MaxReplicas: f.maxReplicas,
		ClientCAFile: f.clientCA, CertificateDir: f.certificates, Owner: f.owner, ClientNames: f.clientNames, RequirePriorityClassUse: f.requireClassUse, RequireAccounts: f.requireAccounts, RecordJobs: f.recordJobs,
		Queues: schedulingv1beta1.QueueRules{MaxDepth: f.queueDepth, FreeRoot: !f.protectRoot, KeepBusy: f.keepBusyQueues},
	}
	for _, path := range f.enabled {
		if path != "" {
			o.Enabled = append(o.Enabled, path)
		}
	}
	if f.queueDepth < 0 {
		return o, fmt.Errorf("--max-queue-depth %d: must not be negative", f.queueDepth)
	}
	if f.maxReplicas < 0 || f.maxReplicas > batchv1alpha1.MaxReplicas {
		return o, fmt.Errorf("--max-job-replicas %d: must be from 1 to %d", f.maxReplicas, batchv1alpha1.MaxReplicas)
	}
	if f.service == "" && f.serviceNamespace != "" && f.serviceName != "" {
		f.service = f.serviceNamespace + "/" + f.serviceName
	}
	if f.service == "" {
		return o, nil
	}
	namespace, name, ok := strings.Cut(f.service, "/")
	if !ok || namespace == "" || name == "" {
		return o, fmt.Errorf("--webhook-service %q: must be NAMESPACE/NAME", f.service)
	}
	if f.url != "" {
		return o, errors.New("--webhook-service and --webhook-url cannot be combined: remove one of them")
	}
	o.ServiceNamespace, o.ServiceName = namespace, name
	return o, nil
}

// featureGates is the value of --feature-gates, for example Name=true,Other=false. Unknown names, including the
// feature gates of Kubernetes, are ignored with a warning.
type featureGates map[string]bool

// String implements pflag.Value; it returns "".
func (g featureGates) String() string { return "" }

// Type returns the description of the value in --help.
func (g featureGates) Type() string { return "Name=true|false,..." }

// Set parses the value of the flag.
func (g featureGates) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(one), "=")
		on, err := strconv.ParseBool(value)
		if !found || name == "" || err != nil {
			return fmt.Errorf("%q: want Name=true or Name=false", one)
		}
		g[name] = on
	}
	return nil
}
