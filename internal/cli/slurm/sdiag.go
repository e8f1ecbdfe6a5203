package slurm

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
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
	{Long: "reset", Short: 'r', Help: "Not supported: only existing jobs are counted, and cycles since the scheduler started"},
	{Long: "sort-by-id", Short: 'i', NoEffect: true, Help: "No effect: RPCs are not counted"},
	{Long: "sort-by-time", Short: 't', NoEffect: true, Help: "No effect: RPCs are not counted"},
	{Long: "sort-by-time2", Short: 'T', NoEffect: true, Help: "No effect: RPCs are not counted"},
	{Long: "verbose", Short: 'v', Help: "Report options without effect, and why cycles are unknown"},
}}

func newSdiag(f *cli.Factory) *cobra.Command {
	return newProgramCommand(f, program{table: &sdiagTable, run: runSdiag,
		short: "Show statistics of jobs and of the scheduler",
		long: `
			Show how many of the existing jobs were submitted, started and ended, and how long
			the scheduler's cycles take. Cycles are read from the metrics of its pods, which
			requires permission to get pods/proxy in namespace volcano-system. Unknown values
			are shown as N/A.`,
		example: `
			# All statistics
			vcctl slurm sdiag

			# As JSON for programs
			vcctl slurm sdiag --json`,
	})
}

func runSdiag(ctx context.Context, c *call) error {
	if err := c.rejectUnsupported(map[string]string{"reset": "only existing jobs are counted, and cycles since the scheduler started"}); err != nil {
		return err
	}
	if len(c.parsed.Operands) > 0 {
		return usererror.Errorf("sdiag takes options only", "Unrecognized option: %s", c.parsed.Operands[0])
	}
	return c.inClustersParallel("\n", func(one *call, _ bool) error {
		v, err := one.readView(ctx, wants{pods: true, ended: true, facts: true})
		if err != nil {
			return err
		}
		jobs, now := sdiag.CountJobs(one.jobRows(v, false)), one.f.Now()
		cycles := one.readCycles(ctx)
		for _, kind := range machineFormats {
			if one.parsed.Has(kind) {
				return printDocument(one.f.Streams.Out, kind, sdiag.NewDocument(jobs, cycles, now))
			}
		}
		_, err = io.WriteString(one.f.Streams.Out, sdiag.PageText(jobs, cycles, now))
		return err
	})
}

// The label of the scheduler's pods and the port of their metrics.
const (
	schedulerLabel = "app.kubernetes.io/name"
	schedulerName  = "vc-scheduler"
	metricsPort    = ":8080"
)

// readCycles reads the metrics of the scheduler's pods. It returns nil if they are not available.
func (c *call) readCycles(ctx context.Context) *sdiag.Cycles {
	cl, err := c.f.Client()
	if err != nil {
		return nil
	}
	clientset, err := c.f.Clientset()
	if err != nil {
		return nil
	}
	sum, found := &sdiag.Cycles{}, false
	pods := &corev1.PodList{}
	err = cli.ListPages(ctx, cl, pods, func() error {
		for i := range pods.Items {
			path := "/api/v1/namespaces/" + systemNamespace + "/pods/" + pods.Items[i].Name + metricsPort + "/proxy/metrics"
			text, err := clientset.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
			if err != nil {
				return err
			}
			found = sum.AddMetrics(string(text)) || found
		}
		return nil
	}, client.InNamespace(systemNamespace), client.MatchingLabels{schedulerLabel: schedulerName})
	if err == nil && found {
		return sum
	}
	switch {
	case !c.parsed.Has("verbose"):
	case err != nil:
		c.printNoteOnce("the scheduler's cycles cannot be read: %v", err)
	default:
		c.printNoteOnce("the scheduler's cycles are unknown: no pod in namespace %s reports them", systemNamespace)
	}
	return nil
}
