package sim

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	debug.SetGCPercent(1000) // worlds are small and short, so that a larger heap costs little and saves time
	os.Exit(m.Run())
}
