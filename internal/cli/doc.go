// Package cli holds the code that all vcctl commands share: the factory that creates clients on first use, output
// formats, lists, watches, errors with a hint and an exit code, confirmation prompts and shell completion. Each noun
// (job, queue, top, …) is a package of its own with one file per verb; internal/cli/root assembles them.
//
//	In:   arguments, environment, kubeconfig; objects from the API server
//	Out:  text on Streams.Out; errors as *Error, printed once, by Report
//
// # Invariants
//
//   - No code contacts a cluster before a command runs, so --help works without a cluster.
//   - A command that fails writes nothing to Streams.Out that could be mistaken for its result.
package cli
