package root_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/golden"
)

// heededInput is the standard input: yes to a prompt, and a line for programs that read.
const heededInput = "y\n"

// notTried lists the flags that the test skips: flags that kubectl's libraries implement, and help.
var notTried = []string{"template", "allow-missing-template-keys", "show-managed-fields", "help",
	// All situations give it.
	"queue operate --action",
	// These are flags of job logs and tested there.
	"jobflow logs --timestamps", "jobflow logs --max-log-requests", "jobflow logs --only-failed", "jobflow logs --prefix", "jobflow logs --tail", "jobflow logs --container",
	"jobflow logs --failed", "jobflow logs --follow", "jobflow logs --output", "jobflow logs --since", "jobflow logs --task", "jobflow logs --previous",
	// It shadows the root flag.
	"kubeconfig-file",
	// kubectl accepts it without effect on lists of cluster-scoped objects.
	"node list --all-namespaces", "queue list --all-namespaces", "queue get --all-namespaces", "queue tree --all-namespaces", "queue view --all-namespaces",
	"account list --all-namespaces", "account get --all-namespaces", "account view --all-namespaces"}

// needInstallation lists the commands that wait for the parts of an installation, which the server of this test does not
// have. Package test/install tries them on a real one.
var needInstallation = []string{"doctor", "crds apply", "crds list"}

// FRESH and THERE stand for directories of files with new and existing objects; NEW for one more new file, OTHER for
// one more existing, UNKNOWN for a file with an unknown field, NEWBUILT and OLDBUILT for kustomizations.

// given maps a flag, or a command and a flag, to the way to give it. Boolean flags that are missing here get the
// opposite of their default.
var given = map[string]flagWords{
	"shares": {give: []string{"--shares=5"}}, "coordinators": {give: []string{"--coordinators=ada"}}, "description": {give: []string{"--description=Science"}}, "organization": {give: []string{"--organization=uni-2"}},
	"namespaces": {give: []string{"--namespaces=nlp"}}, "queues": {give: []string{"--queues=research"}}, "max-resources": {give: []string{"--max-resources=cpu=5"}},
	"budget": {give: []string{"--budget=cpu=5"}}, "budget-period": {give: []string{"--budget-period=month"}, needs: []string{"--budget=cpu=5"}},
	"qos": {give: []string{"--qos=high"}}, "default-qos": {give: []string{"--default-qos=high"}},
	"max-running-jobs": {give: []string{"--max-running-jobs=5"}}, "max-submitted-jobs": {give: []string{"--max-submitted-jobs=5"}},
	"max-resources-per-job": {give: []string{"--max-resources-per-job=cpu=5"}}, "user-max-running-jobs": {give: []string{"--user-max-running-jobs=5"}},
	"user-max-submitted-jobs": {give: []string{"--user-max-submitted-jobs=5"}}, "user-max-resources": {give: []string{"--user-max-resources=cpu=5"}},
	"user-max-resources-per-job": {give: []string{"--user-max-resources-per-job=cpu=5"}}, "user-max-run-time": {give: []string{"--user-max-run-time=5h"}},
	"account create --parent": {give: []string{"--parent=physics"}}, "account set --parent": {give: []string{"--parent=root"}},
	"action": {give: []string{"--action=open"}}, "capability": {give: []string{"--capability=cpu=20"}}, "container": {give: []string{"--container=side"}},
	"cpu": {give: []string{"--cpu=3"}}, "deserved": {give: []string{"--deserved=cpu=3"}}, "dry-run": {give: []string{"--dry-run=server"}}, "env": {give: []string{"--env=A=b"}},
	"file": {give: []string{"--file=NEW"}}, "kustomize": {give: []string{"--kustomize=NEWBUILT"}}, "filename": {give: []string{"--filename=NEW"}}, "for": {give: []string{"--for=running"}},
	"format": {give: []string{"--format=json"}}, "gpu-resource": {give: []string{"--gpu-resource=amd.com/gpu"}, needs: []string{"--gpus=1"}}, "gpus": {give: []string{"--gpus=2"}},
	"default-run-time": {give: []string{"--default-run-time=1h"}}, "max-run-time": {give: []string{"--max-run-time=1h"}}, "max-nodes": {give: []string{"--max-nodes=2"}}, "max-pods": {give: []string{"--max-pods=2"}},
	"guarantee": {give: []string{"--guarantee=cpu=1"}, needs: []string{"--deserved=cpu=3"}}, "ignore-not-found": {give: []string{"--ignore-not-found"}, needs: []string{"nosuch"}},
	"image": {give: []string{"--image=other"}}, "index": {give: []string{"--index=1"}}, "job": {give: []string{"--job=train"}}, "job-name": {give: []string{"--job-name=called"}},
	"labels": {give: []string{"--labels=team=nlp"}}, "limits": {give: []string{"--limits=cpu=2,memory=2Gi"}}, "max-log-requests": {give: []string{"--max-log-requests=1"}, needs: []string{"--follow"}},
	"max-retry": {give: []string{"--max-retry=5"}}, "memory": {give: []string{"--memory=1Gi"}}, "min": {give: []string{"--min=2"}, needs: []string{"--replicas=4"}},
	"name": {give: []string{"--name=OTHER"}}, "node": {give: []string{"--node=192.168.23.24"}}, "node-selector": {give: []string{"--node-selector=a=b"}},
	"output": {give: []string{"--output=json"}}, "parent": {give: []string{"--parent=small"}}, "phase": {give: []string{"--phase=Running"}}, "plugin": {give: []string{"--plugin=svc"}},
	"priority": {give: []string{"--priority=5"}}, "priority-class": {give: []string{"--priority-class=high"}}, "queue": {give: []string{"--queue=infer"}},
	"queue-edit": {give: []string{"--queue-edit=small"}, needs: []string{"--set=priority=3"}}, "replicas": {give: []string{"--replicas=3"}}, "requests": {give: []string{"--requests=cpu=1,memory=1Gi"}},
	"restart": {give: []string{"--restart=OnFailure"}}, "scheduler": {give: []string{"--scheduler=volcano"}}, "scheduler-namespace": {give: []string{"--scheduler-namespace=elsewhere"}},
	"selector": {give: []string{"--selector=team!=other"}}, "set": {give: []string{"--set=priority=7"}, needs: []string{"--queue-edit=small"}}, "since": {give: []string{"--since=1h"}},
	"sort-by": {give: []string{"--sort-by={.metadata.labels.turn}"}}, "state": {give: []string{"--state=Closed"}}, "tail": {give: []string{"--tail=1"}}, "task": {give: []string{"--task=side"}},
	"theme": {give: []string{"--theme=light"}}, "time": {give: []string{"--time=1h"}}, "timeout": {give: []string{"--timeout=1ms"}, needs: []string{"--wait"}},
	"ttl": {give: []string{"--ttl=1h"}}, "types": {give: []string{"--types=Warning"}}, "user": {give: []string{"--user=mei"}},
	"label-columns": {give: []string{"--label-columns=turn"}}, "field-selector": {give: []string{"--field-selector=metadata.name!=match-0"}},
	"validate": {give: []string{"--validate=warn"}, needs: []string{"--filename=UNKNOWN"}}, "weight": {give: []string{"--weight=7"}}, "workdir": {give: []string{"--workdir=/elsewhere"}},

	"config check --filename": {give: []string{"--filename=CONF"}}, "events --for": {give: []string{"--for=job/train"}}, "job wait --timeout": {give: []string{"--timeout=1ms"}},
	"jobflow wait --timeout": {give: []string{"--timeout=1ms"}}, "jobflow retry --name": {give: []string{"--name=fell"}},
	"plan --timeout": {give: []string{"--timeout=1h"}}, "job run --task": {give: []string{"--task=other"}}, "job list --selector": {give: []string{"--selector=mat"}},
	"job run --filename": {give: []string{"--filename=NEW"}}, "job run --name": {give: []string{"--name=called"}},
	"job hold --name": {give: []string{"--name=plain"}}, "queue create --name": {give: []string{"--name=called"}}, "queue operate --filename": {give: []string{"--filename=OLD"}, needs: []string{"--action=close"}}, "queue operate --kustomize": {give: []string{"--kustomize=OLDBUILT"}, needs: []string{"--action=close"}}, "queue operate --selector": {give: []string{"--selector=team!=other"}, needs: []string{"--action=close"}},
	"queue update --selector": {give: []string{"--selector=team!=other"}, needs: []string{"--priority=3"}},
	"pod list --queue":        {give: []string{"--queue=research"}}, "podgroup list --queue": {give: []string{"--queue=research"}},
	"queue operate --name":       {give: []string{"--name=infer"}, needs: []string{"--action=close"}},
	"queue update --reclaimable": {give: []string{"--reclaimable=false"}},
	"queue update --name":        {give: []string{"--name=infer"}, needs: []string{"--priority=3"}}, "job logs --output": {give: []string{"--output=/dev/null"}},
	"pod list --task": {give: []string{"--task=worker"}}, "job run --scheduler": {give: []string{"--scheduler=other"}},
	"array": {give: []string{"--array=0-3"}}, "volume": {give: []string{"--volume=/scratch"}}, "toleration": {give: []string{"--toleration=a"}}, "service-account": {give: []string{"--service-account=runner"}},
	"after": {give: []string{"--after=train"}}, "begin": {give: []string{"--begin=2h"}}, "current-replicas": {give: []string{"--current-replicas=3"}},
	"min-available": {give: []string{"--min-available=2"}}, "job rerun --name": {give: []string{"--name=called"}}, "job rerun --labels": {give: []string{"--labels=a=b"}},
	"job list --queue": {give: []string{"--queue=research"}},
	"account":          {give: []string{"--account=vision"}}, "until": {give: []string{"--until=1h"}}, "limit": {give: []string{"--limit=1"}}, "by": {give: []string{"--by=user"}},
	"per": {give: []string{"--per=day"}}, "resource": {give: []string{"--resource=gpu"}}, "top": {give: []string{"--top=1"}}, "history --state": {give: []string{"--state=failed"}},
	"history --since": {give: []string{"--since=14d"}}, "report --since": {give: []string{"--since=14d"}},
	"grace-period": {give: []string{"--grace-period=7"}}, "node drain --timeout": {give: []string{"--timeout=1ns"}},
	"node drain --selector": {give: []string{"--selector=team=cv"}},
}

// situations returns the situations in which a command is tested.
func situations(command string) []situation {
	noun, verb, _ := strings.Cut(command, " ")
	with := func(more ...string) situation { return situation{words: append(strings.Fields(command), more...)} }
	names := theseAreThere[noun]
	labelled := []string{"-l", "team=nlp"}
	switch command {
	case "job run", "queue create":
		return []situation{with("called"), with("-f", "FRESH")}
	case "diff":
		return []situation{with("-f", "FRESH")}
	case "account create":
		return []situation{with("called")}
	case "account set":
		return []situation{
			{words: []string{"account", "set", "nlp-lab", "--description=other"}, without: []string{"description"}},
			{words: []string{"account", "set", "nlp-lab", "--organization=other"}, without: []string{"organization"}},
		}
	case "account delete":
		return []situation{with(names...)}
	case "account add-user":
		return []situation{with("nlp-lab", "omar")}
	case "account remove-user":
		return []situation{with("physics", "omar")}
	case "account tree":
		return []situation{with(), with("physics")}
	case "plan":
		return []situation{with("-f", "FRESH"), {words: []string{"plan", "--queue-edit=research", "--set=weight=4"}, without: []string{"filename", "kustomize", "recursive", "validate"}}}
	case "queue update":
		return []situation{
			{words: []string{"queue", "update", "research", "--weight=2", "--capability=cpu=1"}, without: []string{"capability", "guarantee", "deserved"}},
			{words: []string{"queue", "update", "-l", "team=nlp", "--weight=2"}, without: []string{"timeout"}},
			{words: []string{"queue", "update", "-f", "THERE", "--weight=2"}, without: []string{"timeout"}},
		}
	case "queue edit":
		return []situation{with("research")}
	case "queue operate":
		return []situation{with("research", "--action=close"),
			{words: []string{"queue", "operate", "research", "--action=update", "--weight=2"}, without: []string{"timeout", "wait"}}, with("archive", "--action=open"), with("-l", "team=nlp", "--action=close"), with("-f", "THERE", "--action=close")}
	case "job rerun", "job edit":
		return []situation{with("train")}
	case "job scale":
		return []situation{with("train", "--task=worker", "--replicas=5")}
	case "job exec":
		return []situation{{words: []string{"job", "exec", "train"}, after: []string{"--", "cat"}}}
	case "job logs":
		return []situation{{words: []string{"job", "logs", "train"}, without: []string{"output"}}, {words: []string{"job", "logs", "train", "--follow"}, without: []string{"output", "failed", "only-failed"}}, with("-l", "who=train")}
	case "node cordon":
		return []situation{with("n1"), with("-l", "team=nlp")}
	case "node uncordon":
		return []situation{with("cordoned"), with("-l", "team=cv")}
	case "node drain":
		return []situation{with("n1"), with("-l", "team=nlp")}
	case "cronjob trigger":
		return []situation{with("nightly"), with(labelled...)}
	case "job attach":
		return []situation{with("train")}
	case "jobflow retry":
		return []situation{with("fell")}
	case "jobflow logs":
		return nil
	case "jobflow wait":
		return []situation{{words: []string{"jobflow", "wait", "night"}, without: []string{"for"}}, {words: []string{"jobflow", "wait", "night", "--for=running"}, without: []string{"timeout"}}}
	case "job wait":
		return []situation{{words: []string{"job", "wait", "train"}, without: []string{"for"}}, {words: []string{"job", "wait", "train", "--for=running"}, without: []string{"timeout"}}}
	case "queue open":
		return []situation{with("archive"), with("-l", "team=cv"), with("-f", "SHUT")}
	case "queue get", "queue close":
		return []situation{with(names...), with(labelled...), with("-f", "THERE")}
	case "config check":
		return []situation{with(), with("-f", "CONF")}
	case "top":
		return []situation{with("--once"), {words: []string{"top"}, width: 100}}
	case "queue tree", "node hypernodes", "history", "report":
		return []situation{with()}
	case "job delete":
		return []situation{with(names...), with(labelled...), {words: []string{"job", "delete", "-f", "THERE", "--wait=false"}, without: []string{"wait", "timeout"}}}
	case "job list":
		return []situation{with(), with(filterableNames("match-%d")...)}
	case "pod list":
		return []situation{with(), with(append(filterableNames("match-%d-worker-0"), "train-worker-0", "train-worker-1")...)}
	case "podgroup list":
		return []situation{with(), with(filterableNames("match-%[1]d-uid-match-%[1]d-3600")...)}
	case "job hold":
		return []situation{with("eval"), with("-l", "team=nlp")}
	case "job release":
		return []situation{with("plain"), with("-l", "held=yes")}
	case "job resume":
		return []situation{with("paused"), with("-l", "team=cv")}
	case "cronjob resume":
		return []situation{with("held"), with("-l", "team=cv")}
	case "job view", "job explain", "queue view", "pod view", "podgroup view", "jobflow view", "jobtemplate view", "cronjob view",
		"account view":
		return []situation{with(names[0]), with(names...), with(labelled...)}
	}
	switch {
	case verb == "create":
		return []situation{with("-f", "FRESH")}
	case verb == "delete":
		return []situation{with(names...), with(labelled...), with("-f", "THERE")}
	case verb == "list":
		return []situation{with(), with(names...)}
	case verb == "" || names == nil:
		return []situation{with()}
	}
	return []situation{with(names...), with(labelled...)}
}

// crossing lists the flags that change the effect of others. The remaining flags, which describe a job or filter a
// list, are combined only with these.
var crossing = []string{
	"output", "dry-run", "watch", "watch-only", "filename", "kustomize", "file", "recursive", "all-namespaces", "selector", "labels", "all", "name", "compat", "attach",
	"follow", "client", "once", "format", "for",
}

// mayBePassedOver lists the flags that may have no effect.
var mayBePassedOver = []passedOver{
	{"*", "yes", "", "it answers a question that need not be asked"},
	{"*", "validate", "", "it is about fields that nobody knows, of which there are none"},
	{"*", "ignore-not-found", "", "it is about what is not there"},
	{"*", "no-headers", "output", "as with kubectl: what is for programs has no titles"},
	{"*", "watch", "watch-only", "to print changes only is to watch"},
	{"* view", "events", "output", "objects are printed without events anyway"},
	{"* view", "events", "format", "the same"},
	{"job run", "wait", "attach", "who is attached waits"},
	{"job rerun", "wait", "attach", "--attach waits for the end, too"},
	{"job run", "recursive", "filename", "the file of the named job is no directory"},
	{"config check", "strict", "", "it is about what has no effect, of which there is none"},
	{"job run", "recursive", "validate", "the file with a field that nobody knows is no directory"},
	{"job scale", "current-replicas", "", "it is the number of pods that the task has"},
	{"node drain", "force", "", "the pods there have a controller"},
	{"node drain", "ignore-daemonsets", "", "none of them is of a DaemonSet"},
	{"node drain", "delete-emptydir-data", "", "none of them has such a volume"},
	{"plan", "timeout", "", "the answer is there at once"},
	{"top", "all-namespaces", "", "the dashboard shows all of them, unless -n says which"},
	{"top", "ascii", "", "the terminal here cannot show more"},
	{"pod list", "any", "", "a pod that is named is shown, of a job or not"},
	{"*", "compat", "name", "called Volcano's way the table is Volcano's"},
	{"job list", "compat", "scheduler", "the same"},
	{"job list", "compat", "selector", "the same"},
	{"*", "sort-by", "name", "it is one row"},
	{"podgroup list", "phase", "name", "the one that is named is in this phase"},
	{"pod list", "task", "name", "the one that is named is of this task"},
	{"*", "output", "timeout", "what is waited for is told of when it is done"},
	{"events", "sort-by", "types", "there is one warning here"},
	{"*", "output", "wait", "what is waited for is told of when it is done"},
}

// filterableNames returns the names of the filterable objects whose names have the same form.
func filterableNames(form string) []string {
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf(form, i))
	}
	return names
}

// filterable returns jobs for testing filters: for each filter one job that only this filter excludes, and two jobs
// that all filters keep.
func filterable() []client.Object {
	var all []client.Object
	for i, miss := range []string{"", "", "queue", "phase", "label", "task", "user", "node", "scheduler", "name"} {
		name, queue, phase, user, node, scheduler, label := fmt.Sprintf("match-%d", i), "research", batchv1alpha1.Running, "mei", "192.168.23.24", "volcano", "nlp"
		switch miss {
		case "queue":
			queue = "small"
		case "phase":
			phase = batchv1alpha1.Failed
		case "user":
			user = "li"
		case "node":
			node = "192.168.51.67"
		case "scheduler":
			scheduler = "other"
		case "name":
			name = "another"
		case "label":
			label = "other"
		}
		job := golden.NewJob(name, queue, phase, time.Hour)
		job.Annotations, job.Labels = map[string]string{keys.User: user}, map[string]string{"team": label, "turn": fmt.Sprintf("%03d", 100-i)}
		job.Spec.SchedulerName = scheduler
		pod := golden.NewPod(job, 0, node)
		if miss == "task" {
			pod.Labels[keys.TaskSpec] = "other"
		}
		pod.Labels[keys.QueueName], pod.Labels["team"], pod.Labels["turn"] = queue, label, job.Labels["turn"]
		group := golden.NewGroup(job, schedulingv1beta1.PodGroupRunning, nil)
		group.Spec.Queue, group.Labels = queue, job.Labels
		if miss == "phase" {
			group.Status.Phase, pod.Status.Phase = schedulingv1beta1.PodGroupUnknown, corev1.PodFailed
		}
		all = append(all, job, group, pod)
	}
	return all
}

// theseAreThere lists existing objects for each noun, in list order; the files called THERE hold them.
var theseAreThere = map[string][]string{
	"job": {"eval", "train", "plain"}, "queue": {"infer", "research", "small"}, "podgroup": {"other", "train"}, "pod": {"train-worker-0", "train-worker-1", "train-worker-2"},
	"jobflow": {"night", "other"}, "jobtemplate": {"other", "serve"}, "cronjob": {"nightly", "other"}, "node": {"n1", "n2"},
	"account": {"nlp-lab", "physics"},
}

// otherwise changes the objects so that every list prints a different row for each of them.
func otherwise(world []client.Object) []client.Object {
	var all []client.Object
	for _, object := range world {
		switch now := object.DeepCopyObject().(type) {
		case *batchv1alpha1.Job:
			now.Spec.Queue, now.Status.State.Phase = "small", batchv1alpha1.Completed
			all = append(all, now)
		case *schedulingv1beta1.PodGroup:
			now.Spec.Queue = "small"
			all = append(all, now)
		case *schedulingv1beta1.Queue:
			now.Spec.Weight += 10
			all = append(all, now)
		case *flowv1alpha1.JobFlow:
			now.Status.State.Phase = flowv1alpha1.Succeed
			all = append(all, now)
		case *flowv1alpha1.JobTemplate:
			now.Spec.Tasks[0].Replicas += 10
			all = append(all, now)
		case *batchv1alpha1.CronJob:
			now.Spec.Schedule = "0 4 * * *"
			all = append(all, now)
		case *corev1.Pod:
			now.Status.Phase, now.Status.Reason = corev1.PodFailed, "Evicted"
			all = append(all, now)
		case *corev1.Node:
			now.Spec.Unschedulable = true
			all = append(all, now)
		case *accountv1alpha1.Account:
			now.Spec.Description = "other words"
			all = append(all, now)
		case *corev1.Event:
			now.Count, now.Message = now.Count+10, "other words"
			all = append(all, now)
		}
	}
	return all
}
