package deploy

import (
	"slices"
	"testing"

	"github.com/vc-batch/vc/internal/admission"
)

// TestAdmissionMayWriteAllItsWebhookConfigurations compares the lists with the configurations that vcd installs. Without the
// permission to read one of them, vcd would install none of those after it.
func TestAdmissionMayWriteAllItsWebhookConfigurations(t *testing.T) {
	t.Parallel()
	mutating, validating := admission.DefaultConfigurations()
	for _, configuration := range mutating {
		if !slices.Contains(mutatingConfigurations, configuration.Name) {
			t.Errorf("mutatingConfigurations lacks %s", configuration.Name)
		}
	}
	for _, configuration := range validating {
		if !slices.Contains(validatingConfigurations, configuration.Name) {
			t.Errorf("validatingConfigurations lacks %s", configuration.Name)
		}
	}
}
