package real

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scenarioTests is the compiled end-to-end tests.
const scenarioTests = "e2e.test"

// scenarios are the end-to-end tests of the scenarios, by the beginnings of their names. They run in processes of this
// machine too, without a kubelet.
var scenarios = []string{
	"TestScenario01", "TestScenario02", "TestScenario03", "TestScenario04", "TestScenario05", "TestScenario06", "TestScenario07",
	"TestScenario08", "TestScenario09", "TestScenario10", "TestScenario11", "TestScenario12", "TestScenario13", "TestScenario14", "TestScenario15", "TestScenario16", "TestScenario17", "TestScenario18",
}

// TestScenariosInContainers runs the end-to-end tests of the scenarios on this cluster.
func TestScenariosInContainers(t *testing.T) {
	installVC(t)
	bin := os.Getenv(binVariable)
	run := exec.CommandContext(t.Context(), filepath.Join(bin, scenarioTests), "-test.v", "-test.run", "^("+strings.Join(scenarios, "|")+")", "-test.timeout", "20m")
	run.Dir = filepath.Join("..", "e2e")
	run.Env = append(os.Environ(), "VC_E2E_BIN="+bin, "VC_E2E_KUBECONFIG="+shared.plane.KubeconfigPath(), "VC_E2E_NODES="+shared.resizeSocket())
	var output bytes.Buffer
	run.Stdout, run.Stderr = io.MultiWriter(os.Stdout, &output), os.Stderr
	if err := run.Run(); err != nil {
		t.Errorf("the end-to-end tests failed: %v", err)
	}
	for _, name := range scenarios {
		if !strings.Contains(output.String(), "--- PASS: "+name) {
			t.Errorf("%s did not pass", name)
		}
	}
}
