// Package differential compares the in-memory API server of test/apiserver with the real API server. It sends the same
// random requests to both, and compares the errors, the objects and the watch events.
//
//	go test ./test/apiserver/differential -differential.requests=100000 -differential.seed=7
//
// Only what must differ is not compared:
//
//   - UIDs, resource versions and generated names: both servers choose their own. They are replaced by symbols, so that
//     references to them are compared. Whether a write creates a version is compared.
//   - Times that the servers set: the clocks differ. Times that clients send are compared.
//   - metadata.managedFields: the in-memory server does not return them. Their effects are compared.
//   - Messages of errors: clients do not depend on them. Code, reason and the types of causes are compared.
package differential
