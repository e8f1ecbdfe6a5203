// Package install tries deploy/install.yaml, and the door of the cluster, against a real API server: that the file
// can be applied as it stands, that vcd works with exactly the rights in it, and that bad input is refused with a text
// that says what and where, with the webhooks and without them.
package install
