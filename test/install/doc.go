// Package install tests deploy/install.yaml and the admission of objects with a real API server: the file can be
// applied unchanged, vcd works with exactly the permissions in it, and invalid input is rejected with a message that
// names the problem and the field, with and without the webhooks.
package install
