package listing

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/sdiag"
	"github.com/vc-batch/vc/internal/usererror"
)

var sdiagTable = getopt.Table{Program: "sdiag", Options: []getopt.Option{
	{Long: "all", Short: 'a', Help: "Show all statistics (default)"},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig"},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "json", Help: "Print JSON"},
	{Long: "yaml", Help: "Print YAML"},
	{Long: "reset", Short: 'r', Help: "Not supported: statistics cannot be reset; they cover the existing jobs and the cycles since the scheduler started"},
	{Long: "sort-by-id", Short: 'i', NoEffect: true, Help: "No effect: RPCs are not counted"},
	{Long: "sort-by-time", Short: 't', NoEffect: true, Help: "No effect: RPCs are not counted"},
	{Long: "sort-by-time2", Short: 'T', NoEffect: true, Help: "No effect: RPCs are not counted"},
	{Long: "verbose", Short: 'v', Help: "Report options without effect, and the reason for unknown cycle statistics"},
}}

// Sdiag shows statistics of jobs and of the scheduler.
var Sdiag = program.Program{Table: &sdiagTable, Run: runSdiag,
	Short: "Show statistics of jobs and of the scheduler",
	Long: `
		Show how many of the existing jobs were submitted, started and ended, and how long
		the scheduler's cycles take. Cycle times come from the metrics of the scheduler's
		pods. To read these metrics, you need permission to get pods/proxy in namespace
		volcano-system. Unknown values are shown as N/A.`,
	Example: `
		# All statistics
		vcctl slurm sdiag

		# As JSON for programs
		vcctl slurm sdiag --json`,
}

func runSdiag(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"reset": "statistics cannot be reset; they cover the existing jobs and the cycles since the scheduler started"}); err != nil {
		return err
	}
	if len(c.Parsed.Operands) > 0 {
		return usererror.Errorf("sdiag accepts only options", "Unrecognized option: %s", c.Parsed.Operands[0])
	}
	return c.InClustersParallel("\n", func(one *program.Call, _ bool) error {
		v, err := clusterdata.ReadView(ctx, one, clusterdata.Wants{Pods: true, Ended: true, Facts: true})
		if err != nil {
			return err
		}
		jobs, now := sdiag.CountJobs(clusterdata.JobRows(one, v, false)), one.Factory.Now()
		cycles := readCycles(ctx, one)
		for _, kind := range program.MachineFormats {
			if one.Parsed.Has(kind) {
				return program.PrintDocument(one.Factory.Streams.Out, kind, sdiag.NewDocument(jobs, cycles, now))
			}
		}
		_, err = io.WriteString(one.Factory.Streams.Out, sdiag.PageText(jobs, cycles, now))
		return err
	})
}

// The label of the scheduler's pods and the port on which they serve metrics.
const (
	schedulerLabel = "app.kubernetes.io/name"
	schedulerName  = "vc-scheduler"
	metricsPort    = ":8080"
)

// readCycles reads the metrics of the scheduler's pods. It returns nil if they are not available.
func readCycles(ctx context.Context, c *program.Call) *sdiag.Cycles {
	cl, err := c.Factory.Client()
	if err != nil {
		return nil
	}
	clientset, err := c.Factory.Clientset()
	if err != nil {
		return nil
	}
	sum, found := &sdiag.Cycles{}, false
	pods := &corev1.PodList{}
	err = cli.ListPages(ctx, cl, pods, func() error {
		for i := range pods.Items {
			path := "/api/v1/namespaces/" + clusterdata.SystemNamespace + "/pods/" + pods.Items[i].Name + metricsPort + "/proxy/metrics"
			text, err := clientset.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
			if err != nil {
				return err
			}
			found = sum.AddMetrics(string(text)) || found
		}
		return nil
	}, client.InNamespace(clusterdata.SystemNamespace), client.MatchingLabels{schedulerLabel: schedulerName})
	if err == nil && found {
		return sum
	}
	switch {
	case !c.Parsed.Has("verbose"):
	case err != nil:
		c.PrintNoteOnce("the scheduler's cycle statistics cannot be read: %v", err)
	default:
		c.PrintNoteOnce("the scheduler's cycle statistics are unknown: no pod in namespace %s reports these statistics", clusterdata.SystemNamespace)
	}
	return nil
}
