package jobstatus

import "testing"

func TestJobOfPodGroup(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]string{
		"train-b87c9f5c-0d2e-4f9e-9d0a-3f6f1a2b4c5d":     "train",
		"llama-sft-b87c9f5c-0d2e-4f9e-9d0a-3f6f1a2b4c5d": "llama-sft",
		"train": "", "-b87c9f5c-0d2e-4f9e-9d0a-3f6f1a2b4c5d": "", "train-b87c9f5c-0d2e-4f9e-9d0a-3f6f1a2b4cXY": "", "": "",
	} {
		if job, ok := JobOfPodGroup(group); job != want || ok != (want != "") {
			t.Errorf("JobOfPodGroup(%q) = %q, %t, want %q", group, job, ok, want)
		}
	}
}
