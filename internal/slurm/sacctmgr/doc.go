// Package sacctmgr implements the language and the output of sacctmgr: it parses command lines, computes the
// changes of Account objects, and formats lists of accounts, users and limits.
//
//	In:   the words of a command line (Parse); the tree of accounts and the site's profile (Cluster)
//	Out:  a Plan with the objects to write and the text that describes them, or the text of a list
//
// # Invariants
//
//   - A word that has no effect is an error.
//   - A Plan shares no memory with the accounts from which it was computed.
//   - The writes of a plan are in an order in which the API server accepts each of them.
package sacctmgr
