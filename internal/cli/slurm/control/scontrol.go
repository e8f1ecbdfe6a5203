package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli/recorded"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/scontrol"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

var scontrolTable = getopt.Table{Program: "scontrol", Operands: "COMMAND", Options: []getopt.Option{
	{Long: "all", Short: 'a', Help: "Show all partitions (default)"},
	{Long: "details", Short: 'd', Help: "Also show the resources of running jobs on each node"},
	{Long: "hide", NoEffect: true, Help: "No effect: all partitions are visible"},
	{Long: "oneliner", Short: 'o', Help: "Print each object on one line"},
	{Long: "quiet", Short: 'Q', Help: "Print only errors"},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print jobs as JSON"},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print jobs as YAML"},
	{Long: "verbose", Short: 'v', Help: "Report options that have no effect"},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "NAME", Help: "Cluster to use: a context in the kubeconfig"},
	{Long: "cluster", Arg: getopt.Required, Value: "NAME", Hidden: true, Exact: true},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is used at a time"},
	{Long: "future", Short: 'F', NoEffect: true, Help: "No effect"},
	{Long: "uid", Short: 'u', Arg: getopt.Required, Value: "UID", Help: "Not supported: the kubeconfig determines the user"},
}}

// Scontrol shows and changes jobs, nodes and partitions.
var Scontrol = program.Program{Table: &scontrolTable, Run: runScontrol,
	Short: "Show and change jobs, nodes and partitions",
	Long: `
		Commands:
		  show job|node|partition|step [NAME]        show details
		  show hostnames|hostlist|hostlistsorted X   expand or shorten lists of hosts
		  show config                                show settings that programs read
		  hold|release JOB...                        hold pending jobs; release them
		  requeue|requeuehold JOB...                 restart jobs from the beginning
		  suspend|resume JOB...                      stop the pods of jobs; start them again
		  update JobId=42 TimeLimit=2:00:00          change a job: TimeLimit and Partition
		                                             of held jobs, a shorter TimeLimit of
		                                             running jobs, QOS of pending jobs,
		                                             JobName, Comment, Account, WCKey,
		                                             Dependency, StartTime,
		                                             ArrayTaskThrottle
		  update NodeName=n1 State=DRAIN Reason=...  drain a node (or RESUME)
		  update PartitionName=nlp State=INACTIVE    close a queue (or open it: UP)
		  notify JOB MESSAGE                         write a message to the job's stderr
		  wait_job JOB                               wait until the job runs
		  write batch_script JOB [FILE]              save a job script; - is stdout
		  ping                                       check the control plane

		A suspended job releases its nodes, and it starts from the beginning when it is
		resumed.`,
	Example: `
		# Details of a job
		vcctl slurm scontrol show job 42

		# The nodes of a job, one per line
		vcctl slurm scontrol show hostnames 'r05n[07-10]'

		# Keep a pending job from starting
		vcctl slurm scontrol hold 42`,
}

// verbs lists the commands of scontrol. least is the length of the shortest accepted abbreviation.
var verbs = []struct {
	name  string
	least int
	run   func(context.Context, *program.Call, []string) error
}{
	{"show", 2, showEntity}, {"hold", 2, holdJobs}, {"uhold", 2, holdForUsers}, {"release", 3, releaseJobs}, {"requeuehold", 8, requeueHold},
	{"requeue", 3, requeueJobs}, {"suspend", 2, suspendJobs}, {"resume", 3, resumeJobs}, {"update", 2, updateEntity}, {"write", 1, writeScript},
	{"ping", 1, pingServer}, {"version", 4, printVersion}, {"notify", 1, notifyJobs}, {"wait_job", 2, waitForRunning},
}

// unknownVerbs maps unsupported scontrol commands to hints.
var unknownVerbs = map[string]string{
	"top": "use --qos: priorities and shares determine the order of jobs", "reconfigure": "vcd reloads its configuration automatically", "create": "use vcctl queue create to create a queue",
	"delete": "use vcctl queue delete to delete a queue", "reboot": "ask an administrator", "shutdown": "ask an administrator",
	"takeover": "leader election replaces a failed controller", "token": "use kubectl create token", "setdebug": "see vcd --help", "checkpoint": "use scancel -s to signal the script to write a checkpoint",
	"listpids": "use vcctl job exec JOB -- ps", "cluster": "select the cluster with --context", "abort": "ask an administrator",
}

func runScontrol(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"uid": "the kubeconfig determines the user"}); err != nil {
		return err
	}
	words := c.Parsed.Operands
	if len(words) == 0 {
		return usererror.Errorf("scontrol --help lists the commands; there is no interactive mode", "no command")
	}
	for _, v := range verbs {
		if getopt.IsAbbreviation(words[0], v.name, v.least) {
			return c.InClusters(func(one *program.Call, _ bool) error { return v.run(ctx, one, words[1:]) })
		}
	}
	if hint, known := unknownVerbs[strings.ToLower(words[0])]; known {
		return usererror.Errorf(hint, "%s is not supported here", words[0])
	}
	return usererror.Errorf("scontrol --help lists the commands", "invalid keyword: %s", words[0])
}

func showEntity(ctx context.Context, c *program.Call, words []string) error {
	if len(words) == 0 {
		return usererror.Errorf("use show job, node, partition, hostnames or hostlist", "too few arguments for keyword:show")
	}
	if len(words) > 2 {
		return usererror.Errorf("separate list items with commas, for example 42,43", "too many arguments for keyword:show")
	}
	what, name := strings.ToLower(words[0]), ""
	if word, value, ok := strings.Cut(words[0], "="); ok {
		what, name = strings.ToLower(word), value
	} else if len(words) > 1 {
		name = words[1]
	}
	begins := func(whole string, least int) bool { return getopt.IsAbbreviation(what, whole, least) }
	isJob := begins("jobs", 3) || what == "jobid"
	for _, kind := range program.MachineFormats {
		if c.Parsed.Has(kind) && !isJob {
			return usererror.Errorf("use --"+kind+" with show job; for nodes and partitions use sinfo --"+kind, "--%s is not supported with show %s", kind, words[0])
		}
	}
	if text, isHosts, err := podcommands.FormatHosts(what, name, c.Factory.Streams.Env); isHosts {
		fmt.Fprint(c.Factory.Streams.Out, text)
		return err
	}
	switch {
	case isJob:
		return showJobs(ctx, c, name)
	case begins("steps", 4):
		return showSteps(ctx, c, name)
	case begins("nodes", 3), what == "nodename":
		return showNodes(ctx, c, name)
	case begins("partitions", 4), what == "partitionname":
		return showPartitions(ctx, c, name)
	case begins("config", 3):
		return showConfig(c)
	case begins("licenses", 3):
		_, err := fmt.Fprintln(c.Factory.Streams.Out, "No licenses configured in Slurm.")
		return err
	case begins("reservations", 3):
		_, err := fmt.Fprintln(c.Factory.Streams.Out, "No reservations in the system")
		return err
	}
	return usererror.Errorf("use show job, node, partition, step, config, hostnames, hostlist or hostlistsorted", "invalid entity: %s for keyword:show", words[0])
}

// schedulerTimeSlice is the value of SchedulerTimeSlice, and the minimum in Slurm. Jobs do not share nodes in turns here.
// Programs use the value only to choose a polling interval: Toil queries jobs every 1.2 time slices.
const schedulerTimeSlice = 5 * time.Second

// showConfig prints the Slurm configuration settings that programs read and that are meaningful here.
func showConfig(c *program.Call) error {
	host := c.Factory.DescribeConnection().Server
	if server, err := url.Parse(host); err == nil && server.Host != "" {
		host = server.Hostname()
	}
	storage, err := accountingStorage(c)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Factory.Streams.Out, `Configuration data as of %s
AccountingStorageType   = %s
AcctGatherNodeFreq      = 0 sec
AuthType                = auth/kubernetes
ClusterName             = %s
JobRequeue              = 1
KillWait                = 30 sec
MaxArraySize            = %d
MaxJobCount             = UNLIMITED
MinJobAge               = %d sec
PriorityType            = priority/vc
SchedulerTimeSlice      = %d sec
SchedulerType           = sched/vc
SLURM_VERSION           = %s
SlurmctldHost[0]        = %s
`, c.Factory.Now().Format(timeformat.Standard), storage, c.ClusterName(), optionvalue.MaxArraySize, int(program.MinJobAge/time.Second), int(schedulerTimeSlice/time.Second), program.SlurmVersion, host)
	return err
}

// accountingStorage returns the value of AccountingStorageType. Programs compare it with the names of Slurm's plugins, to
// find out whether sacct lists jobs that do not exist any more.
func accountingStorage(c *program.Call) (string, error) {
	config, err := c.Factory.RESTConfig()
	if err != nil {
		return "", err
	}
	switch exists, err := recorded.HasDatabase(config); {
	case err != nil:
		return "", err
	case exists:
		return "accounting_storage/slurmdbd", nil
	}
	return "accounting_storage/none", nil
}

func showJobs(ctx context.Context, c *program.Call, name string) error {
	refs, err := program.ParseJobWords(program.SplitList(name))
	if err != nil {
		return err
	}
	v, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Named: refs, Pods: true, Ended: true, Groups: true})
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(clusterdata.JobRows(c, v, false), func(r *listrow.Row) bool { return len(refs) > 0 && !matchesAny(r, refs) })
	if len(rows) == 0 {
		if len(refs) > 0 {
			return program.MissingJobError("squeue and sacct list jobs", "Invalid job id specified")
		}
		_, err := fmt.Fprintln(c.Factory.Streams.Out, "No jobs in the system")
		return err
	}
	slices.SortStableFunc(rows, listrow.CompareByNumber)
	for _, kind := range program.MachineFormats {
		if c.Parsed.Has(kind) {
			return program.PrintDocument(c.Factory.Streams.Out, kind, squeue.NewDocument(rows, append([]string{c.Table.Program}, c.Words...), program.SlurmVersion, c.Factory.Now()))
		}
	}
	style := timeformat.NewStyle(c.Factory.Streams.Env("SLURM_TIME_FORMAT"))
	var b strings.Builder
	for _, r := range rows {
		r.NarrowElements(refs)
		b.WriteString(scontrol.JobText(r, scontrol.Form{Style: style, OneLine: c.Parsed.Has("oneliner"), Details: c.Parsed.Has("details")}))
	}
	_, err = io.WriteString(c.Factory.Streams.Out, b.String())
	return err
}

func showNodes(ctx context.Context, c *program.Call, name string) error {
	wanted, err := hostlist.ExpandList(name)
	if err != nil {
		return program.InvalidNodesError(name)
	}
	partitions, nodes, err := clusterdata.ReadPartitions(ctx, c)
	if err != nil {
		return err
	}
	style := timeformat.NewStyle(c.Factory.Streams.Env("SLURM_TIME_FORMAT"))
	var b strings.Builder
	var problems []error
	for _, one := range wanted {
		if !slices.ContainsFunc(nodes, func(n *sinfo.Node) bool { return n.Name == one }) {
			problems = append(problems, usererror.Errorf("sinfo -N lists the nodes", "Node %s not found", one))
		}
	}
	for _, n := range nodes {
		if len(wanted) > 0 && !slices.Contains(wanted, n.Name) {
			continue
		}
		var in []string
		for _, p := range partitions {
			if slices.Contains(p.Nodes, n) {
				in = append(in, p.Name)
			}
		}
		b.WriteString(scontrol.NodeText(n, in, c.Factory.Now(), style, c.Parsed.Has("oneliner")))
	}
	_, err = io.WriteString(c.Factory.Streams.Out, b.String())
	return errors.Join(append(problems, err)...)
}

func showPartitions(ctx context.Context, c *program.Call, name string) error {
	partitions, _, err := clusterdata.ReadPartitions(ctx, c)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, p := range partitions {
		if name != "" && !slices.Contains(program.SplitList(name), p.Name) {
			continue
		}
		names := make([]string, len(p.Nodes))
		for i, n := range p.Nodes {
			names[i] = n.Name
		}
		hostlist.SortNames(names)
		b.WriteString(scontrol.PartitionText(p, hostlist.CompressNames(names), c.Parsed.Has("oneliner")))
	}
	if b.Len() == 0 {
		return usererror.Errorf("sinfo lists the partitions", "Partition %s not found", name)
	}
	_, err = io.WriteString(c.Factory.Streams.Out, b.String())
	return err
}

// pingServer reports whether the API server, which has the role of slurmctld, responds.
func pingServer(ctx context.Context, c *program.Call, _ []string) error {
	typed, err := c.Factory.Clientset()
	if err != nil {
		return err
	}
	server := c.Factory.DescribeConnection().Server
	if _, err := typed.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		fmt.Fprintf(c.Factory.Streams.Out, "Slurmctld(primary) at %s is DOWN\n", server)
		return err
	}
	_, err = fmt.Fprintf(c.Factory.Streams.Out, "Slurmctld(primary) at %s is UP\n", server)
	return err
}

func printVersion(_ context.Context, c *program.Call, _ []string) error {
	_, err := fmt.Fprintf(c.Factory.Streams.Out, "slurm %s\n", program.SlurmVersion)
	return err
}

// writeScript writes the batch script of a job to a file.
func writeScript(ctx context.Context, c *program.Call, words []string) error {
	if len(words) < 2 || !getopt.IsAbbreviation(words[0], "batch_script", 0) {
		return usererror.Errorf("use scontrol write batch_script JOB [FILE]", "too few arguments for keyword:write")
	}
	jobs, err := clusterdata.ReadNamedJobs(ctx, c, words[1:2], false)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return program.MissingJobError("squeue and sacct list jobs", "Invalid job id specified")
	}
	job := jobs[0]
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	kept := &corev1.ConfigMap{}
	if err := cl.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Name + translate.ObjectSuffix}, kept); err != nil {
		return usererror.Errorf("only jobs submitted with sbatch have a script", "job script retrieval failed: %v", err)
	}
	script := kept.Data[launchconfig.ScriptKey]
	file := "slurm-" + words[1] + ".sh"
	if len(words) > 2 {
		file = words[2]
	}
	if file == "-" {
		_, err = io.WriteString(c.Factory.Streams.Out, script)
		return err
	}
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Factory.Streams.Out, "batch script for job id %s written to %s\n", words[1], file)
	return err
}
