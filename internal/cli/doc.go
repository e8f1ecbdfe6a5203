// Package cli contains the code that all vcctl commands share: the factory that creates clients on first use, output
// formats, lists, watches, errors with hints and exit codes, confirmation prompts and shell completion. Each noun
// (job, queue, top, …) is a separate package with one file per verb; internal/cli/root assembles them.
//
//	In:   arguments, environment, kubeconfig; objects from the API server
//	Out:  text on Streams.Out; errors of type *usererror.Error, which ReportError prints once
//
// # Invariants
//
//   - No code contacts a cluster before a command runs, so --help works without a cluster.
//   - If a command fails, it writes nothing to Streams.Out that could be mistaken for its result.
package cli
