package submit

import "github.com/vc-batch/vc/internal/slurm/request"

// jobInput is the input of a job to submit.
type jobInput struct {
	request  *request.Request
	title    string
	script   []byte
	file     string // path of the script; empty if the script does not come from a file
	args     []string
	warnings []string
	site     *site
	// submitter is the user to name in the job. If it is empty, admission writes the author of the request.
	submitter string
	// interactive is true for an allocation without a script.
	interactive bool
}
