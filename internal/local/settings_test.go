package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchedulerConfIsCheckedAsTheEngineReadsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	text := "actions: allocate\ntiers: [{plugins: [{name: gang, enableMagic: true}, {name: proportion, arguments: {nonsense: 5}}]}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	warnings, err := CheckSchedulerConf(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"tiers[0].plugins[0].enableMagic: unknown switch; ignored",
		"proportion: nonsense has no effect: the policy does not use this argument",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}
