package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/accounting/kubeletstats"
	"github.com/vc-batch/vc/internal/accounting/recorder"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/usagemetrics"
	"github.com/vc-batch/vc/internal/usererror"
)

// storeVariable is the environment variable that replaces --accounting-store, so that the password of a database need not
// be an argument, which other users of a machine can read.
const storeVariable = "VC_ACCOUNTING_STORE"

// accountingFlags holds the flags of the component that records jobs.
type accountingFlags struct {
	store string
	// defaultStore is the value of the environment variable. It is empty for commands without these flags.
	defaultStore            string
	spool, spoolSize        string
	keepMonths              int
	exportDir               string
	measureInterval         time.Duration
	kubeletCA               string
	insecureKubelets        bool
	prometheus              string
	cluster                 string
	address, service, owner string
}

func (f *accountingFlags) bindFlags(fs *pflag.FlagSet) {
	f.defaultStore = strings.TrimSpace(os.Getenv(storeVariable)) // files from which Secrets are made often end with a line break
	fs.StringVar(&f.store, "accounting-store", "", "database of the records of jobs: sqlite:DIRECTORY or postgres://USER:PASSWORD@HOST/DATABASE; by default, $"+storeVariable+"; required by vcd accounting, and without it, vcd all does not record jobs")
	fs.StringVar(&f.spool, "accounting-spool-dir", "", "directory on a disk for records that the database has not stored yet; by default, a directory in that of an SQLite database")
	fs.StringVar(&f.spoolSize, "accounting-spool-size", "1Gi", "maximum size of these records; if it is reached, deleted jobs stay until the database stores records again")
	fs.IntVar(&f.keepMonths, "accounting-keep-months", 0, "number of months before the current one whose records are kept; older months are removed; 0: all records are kept")
	fs.StringVar(&f.exportDir, "accounting-export-dir", "", "directory to which the records of an old month are exported as a Parquet file before they are removed; a month whose export fails is kept; by default, old months are not exported")
	fs.DurationVar(&f.measureInterval, "accounting-measure-interval", 30*time.Second, "time between two measurements of the pods of jobs on kubelets, for seff, sacct and sstat; 0: pods on kubelets are not measured. Kubelets receive only tokens of the ServiceAccount "+kubeletstats.AccountName+" in the namespace of the leases, even if vcd runs outside of the cluster")
	fs.StringVar(&f.kubeletCA, "accounting-kubelet-ca", "", "file with the certificates of the authority that issued the certificates of kubelets; by default, that of the API server")
	fs.BoolVar(&f.insecureKubelets, "accounting-kubelet-insecure-tls", false, "do not verify the certificates of kubelets; a program that intercepts the connection can then read the usage of all nodes for some minutes")
	fs.StringVar(&f.prometheus, "accounting-prometheus", "", "Prometheus server that scrapes NVIDIA's DCGM exporter, to record the usage of GPUs: a URL, or NAMESPACE/SERVICE:PORT for a service that is reached through the API server; by default, the usage of GPUs is not measured")
	fs.StringVar(&f.cluster, "cluster-name", "default", "name of the cluster in the records")
	fs.StringVar(&f.address, "accounting-address", "", "listen address for queries, for sacct; by default, queries are not served")
	fs.StringVar(&f.service, "accounting-service", "", "NAMESPACE/NAME of the service through which the API server reaches the queries; without this flag, the API server must run on this machine")
	fs.StringVar(&f.owner, "accounting-owner", "", "name of a ClusterRole; the registration of the queries with the API server is deleted together with it; by default, it stays if --accounting-service is specified")
}

// setOptions sets the options of the component. Without a database, it changes nothing, unless the component was asked
// for.
func (f *accountingFlags) setOptions(o *daemon.Options) error {
	address := cmp.Or(f.store, f.defaultStore)
	if address == "" {
		if slices.Contains(o.Components, daemon.Accounting) {
			return usererror.Errorf("specify sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE", "--accounting-store or $%s is required", storeVariable)
		}
		return nil
	}
	if err := store.CheckAddress(address); err != nil {
		source := "--accounting-store"
		if f.store == "" {
			source = "$" + storeVariable
		}
		return fmt.Errorf("%s: %w", source, err)
	}
	size, err := resource.ParseQuantity(f.spoolSize)
	if err != nil || size.Sign() <= 0 {
		return usererror.Errorf("use a positive size such as 1Gi", "--accounting-spool-size %q is not a size", f.spoolSize)
	}
	if f.keepMonths < 0 {
		return usererror.Errorf("use 0 to keep all records", "--accounting-keep-months %d is negative", f.keepMonths)
	}
	if f.exportDir != "" && f.keepMonths == 0 {
		return usererror.Errorf("also specify --accounting-keep-months, or export months with vcd accounting export",
			"--accounting-export-dir %s has no effect: months are exported when they are removed, and all are kept", f.exportDir)
	}
	measure, err := f.measureOptions()
	if err != nil {
		return err
	}
	a := daemon.AccountingOptions{Store: address, SpoolDir: f.spool, MaxSpoolBytes: size.Value(), Measure: measure, Cluster: f.cluster}
	a.Retention = recorder.Retention{KeepMonths: f.keepMonths, ExportDirectory: f.exportDir}
	if directory, ok := strings.CutPrefix(address, "sqlite:"); ok && a.SpoolDir == "" {
		a.SpoolDir = filepath.Join(directory, "spool")
	}
	if a.SpoolDir == "" {
		return usererror.Errorf("specify a directory on a disk", "--accounting-spool-dir is required with PostgreSQL")
	}
	a.API.ListenAddress, a.API.Owner = f.address, f.owner
	if f.service != "" {
		namespace, name, ok := strings.Cut(f.service, "/")
		if !ok || namespace == "" || name == "" {
			return usererror.Errorf("use NAMESPACE/NAME", "--accounting-service %q has an unknown form", f.service)
		}
		a.API.Namespace, a.API.Service = namespace, name
	}
	o.Accounting = a
	if !slices.Contains(o.Components, daemon.Accounting) {
		o.Components = append(slices.Clone(o.Components), daemon.Accounting)
	}
	return nil
}

// minMeasureInterval is the shortest time between two measurements. Kubelets themselves measure about every ten seconds.
const minMeasureInterval = time.Second

// measureOptions returns the options of the measurement of pods.
func (f *accountingFlags) measureOptions() (daemon.MeasureOptions, error) {
	switch {
	case f.measureInterval != 0 && f.measureInterval < minMeasureInterval:
		return daemon.MeasureOptions{}, usererror.Errorf("use a time such as 30s, or 0 to measure nothing",
			"--accounting-measure-interval %s: must be 0, or at least %s", f.measureInterval, minMeasureInterval)
	case f.kubeletCA != "" && f.insecureKubelets:
		return daemon.MeasureOptions{}, usererror.Errorf("remove one of them", "--accounting-kubelet-ca and --accounting-kubelet-insecure-tls exclude each other")
	case f.prometheus != "" && f.measureInterval == 0:
		return daemon.MeasureOptions{}, usererror.Errorf("remove one of them", "--accounting-prometheus has no effect with --accounting-measure-interval=0")
	}
	if f.prometheus != "" {
		if _, _, err := usagemetrics.ParseAddress(f.prometheus, ""); err != nil {
			return daemon.MeasureOptions{}, usererror.Wrapf("for example http://prometheus.example.org:9090 or monitoring/prometheus:9090", "--accounting-prometheus: %v", err)
		}
	}
	return daemon.MeasureOptions{
		Interval: f.measureInterval, KubeletCA: f.kubeletCA, InsecureKubelets: f.insecureKubelets, Prometheus: f.prometheus,
	}, nil
}
