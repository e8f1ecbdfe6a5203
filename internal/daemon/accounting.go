package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/gpustats"
	"github.com/vc-batch/vc/internal/accounting/kubeletstats"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/accounting/recorder"
	"github.com/vc-batch/vc/internal/accounting/serve"
	"github.com/vc-batch/vc/internal/accounting/spool"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/accountwatch"
	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/usagemetrics"
)

// Accounting is the component that records jobs in a database. It is not one of ComponentNames, because it needs a
// database.
const Accounting = "accounting"

// accountingLease is the name of the lease of the recorder.
const accountingLease = "vc-accounting"

// DefaultMaxSpoolBytes is the default maximum size of the records that wait for the database.
const DefaultMaxSpoolBytes = 1 << 30

// AccountingOptions configures the component Accounting.
type AccountingOptions struct {
	// Store is the address of the database: sqlite:DIRECTORY or postgres://…
	Store string
	// SpoolDir is the directory of the records that wait for the database.
	SpoolDir string
	// MaxSpoolBytes is the maximum size of these records. Zero means DefaultMaxSpoolBytes.
	MaxSpoolBytes int64
	// Retention describes how long records are kept.
	Retention recorder.Retention
	// Measure configures how the use of pods on kubelets is measured.
	Measure MeasureOptions
	// Cluster is the name of the cluster in the records. Empty means default.
	Cluster string
	// API configures whether and where queries are served.
	API aggregatedapi.Options
}

// MeasureOptions configures how the use of pods on kubelets is measured.
type MeasureOptions struct {
	// Interval is the time between two measurements. Zero means that pods on kubelets are not measured.
	Interval time.Duration
	// KubeletCA is a file with the certificates of the authority of kubelets. Empty means that of the API server.
	KubeletCA string
	// InsecureKubelets permits kubelets whose certificate cannot be verified.
	InsecureKubelets bool
	// Prometheus is the address of a Prometheus server with the utilization of GPUs, as usagemetrics.ParseAddress accepts
	// it. Empty means that GPUs are not measured.
	Prometheus string
}

// withDefaults validates the options and fills in the defaults.
func (a AccountingOptions) withDefaults() (AccountingOptions, error) {
	if a.Store == "" {
		return a, fmt.Errorf("component %s needs the address of a database", Accounting)
	}
	if a.SpoolDir == "" {
		return a, fmt.Errorf("component %s needs a directory for records that wait for the database", Accounting)
	}
	setIfZero(&a.MaxSpoolBytes, DefaultMaxSpoolBytes)
	setIfZero(&a.Cluster, "default")
	setIfZero(&a.API.Namespace, Namespace)
	return a, nil
}

// runAccounting stores the records of the spool, serves queries, and records jobs while it is the leader.
func runAccounting(ctx context.Context, o *Options, log logr.Logger) error {
	recorder.Metrics.Register()
	kubeletstats.Metrics.Register()
	gpustats.Metrics.Register()
	records, err := spool.Open(o.Accounting.SpoolDir, o.Accounting.MaxSpoolBytes)
	if err != nil {
		return err
	}
	defer records.Close()
	storage := recorder.NewStorage(records, func(ctx context.Context) (accounting.Store, error) { return store.Open(ctx, o.Accounting.Store) }, o.Accounting.Retention, log)
	defer func() {
		if err := storage.Close(); err != nil {
			log.Error(err, "The accounting database was not closed properly")
		}
	}()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		storage.StoreUntilDone(ctx)
		return nil
	})
	accounts, err := accountwatch.New(o.Config)
	if err != nil {
		return err
	}
	group.Go(func() error {
		accounts.Run(ctx)
		return nil
	})
	if o.Accounting.API.ListenAddress != "" {
		coordinated := func(user string) []string { return accounts.Accounts().CoordinatedBy(user) }
		group.Go(func() error { return serve.Run(ctx, o.Config, o.Accounting.API, coordinated, storage.UpToDateStore) })
	}
	sources := recorderSources{records: records, storage: storage, accounts: accounts}
	group.Go(func() error {
		var once sync.Once
		return runTermsUntilDone(ctx, o, accountingLease, log, func(ctx context.Context, fence func() error) error {
			return runRecorderTerm(ctx, o, fence, log, sources, func() { once.Do(func() { o.Ready(Accounting) }) })
		})
	})
	return group.Wait()
}

// recorderSources holds what all terms of a recorder use.
type recorderSources struct {
	records  *spool.Spool
	storage  *recorder.Storage
	accounts *accountwatch.Watch
}

// runRecorderTerm records jobs, nodes and changes of accounts for one term of leadership.
func runRecorderTerm(ctx context.Context, o *Options, fence func() error, log logr.Logger, from recorderSources, ready func()) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	mgr, err := newControlManager(fencedConfig(o.Config, fence, end), true, log)
	if err != nil {
		return err
	}
	for _, i := range index.All() {
		if i.Name != index.PodController {
			continue
		}
		if err := mgr.GetFieldIndexer().IndexField(ctx, i.Object, i.Name, i.Values); err != nil {
			return fmt.Errorf("index %s: %w", i.Name, err)
		}
	}
	api, err := newRecorderClient(mgr)
	if err != nil {
		return err
	}
	tracker := podmeasure.New(2 * o.Accounting.Measure.Interval)
	recording := recorder.Controller(recorder.Options{Cache: mgr.GetCache(), API: api, Cluster: o.Accounting.Cluster, Spool: from.records, Tracker: tracker})
	if err := recording.AddTo(mgr); err != nil {
		return err
	}
	nodes := &recorder.NodeRecorder{Cache: mgr.GetCache(), Cluster: o.Accounting.Cluster, Spool: from.records, Storage: from.storage, Log: log}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		nodes.RecordUntilDone(ctx)
		return nil
	}))
	if err != nil {
		return fmt.Errorf("recorder of nodes: %w", err)
	}
	changes := &recorder.ChangeRecorder{
		Accounts: from.accounts.Accounts, API: api, Namespace: o.LeaseNamespace, Cluster: o.Accounting.Cluster, Spool: from.records, Log: log,
	}
	if err := mgr.Add(manager.RunnableFunc(changes.Run)); err != nil {
		return fmt.Errorf("recorder of changes of accounts: %w", err)
	}
	if err := addSamplers(mgr, o, api, tracker, log); err != nil {
		return err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if mgr.GetCache().WaitForCacheSync(ctx) {
			ready()
		}
		return nil
	}))
	if err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	if err := mgr.Start(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("recorder: %w", err)
	}
	return nil
}

// addSamplers adds the measurement of pods on kubelets and of GPUs, unless they are off.
func addSamplers(mgr manager.Manager, o *Options, api client.Client, tracker *podmeasure.Tracker, log logr.Logger) error {
	measure := o.Accounting.Measure
	if measure.Interval == 0 {
		return nil
	}
	kubelets, err := kubeletstats.NewKubelets(o.Config, measure.KubeletCA, measure.InsecureKubelets)
	if err != nil {
		return err
	}
	err = mgr.Add(kubeletstats.New(kubeletstats.Options{
		Interval: measure.Interval, Kubelets: kubelets, Tokens: kubeletstats.NewTokens(api, o.LeaseNamespace),
		Nodes: mgr.GetCache(), API: api, Tracker: tracker, Log: log,
	}))
	if err != nil || measure.Prometheus == "" {
		return err
	}
	history, err := usagemetrics.NewGPUHistory(measure.Prometheus, o.Config)
	if err != nil {
		return err
	}
	return mgr.Add(&gpustats.Sampler{Interval: measure.Interval, Prometheus: history, Tracker: tracker, Log: log})
}

// newRecorderClient returns the client of the recorder's writes.
func newRecorderClient(mgr manager.Manager) (client.Client, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.QPS, config.RateLimiter = -1, nil
	c, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("client of the recorder: %w", err)
	}
	return c, nil
}
