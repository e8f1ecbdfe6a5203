package fairtree_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/fairtree"
	"github.com/vc-batch/vc/test/fairtreetest"
)

// The recorded trees and outputs are from a real Slurm. Test TestFairTreeIsSlurms of test/parity writes them.
func TestRecordedOutputOfSlurm(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded trees", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var root fairtree.Account
			if err := json.Unmarshal(data, &root); err != nil {
				t.Fatal(err)
			}
			output, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".sshare")
			if err != nil {
				t.Fatal(err)
			}
			fairtreetest.Compare(t, &root, string(output))
		})
	}
}
