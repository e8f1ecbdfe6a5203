// Package cli is what all commands of vcctl share: the factory that makes
// clients lazily, output formats and lists, watching, errors with a hint and
// an exit code, confirmation and completion. Each noun (job, queue, top, …) is
// a package of its own with one file a verb; internal/cli/root puts them
// together.
//
//	In:   arguments, environment, kubeconfig; objects from the API server
//	Out:  text on Streams.Out; errors as *Error, printed once, by Report
//
// # Invariants
//
//   - Nothing talks to a cluster before a command runs: --help needs none.
//   - A command that fails writes nothing to Streams.Out that could be taken for
//     its result.
package cli
