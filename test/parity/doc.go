// Package parity runs the same shell scripts on a real Slurm and on vc, and compares what they print, field by field. It
// also compares package fairtree with what a real Slurm computes.
//
//	In:   testdata/scripts, Debian's slurm-wlm (with slurmdbd and MariaDB for sacct), the programs of this tree
//	Out:  a failure for each difference that testdata/differences.txt does not explain
//
// The real Slurm runs unprivileged on loopback, in a temporary directory and on free ports. Without its packages the
// test is skipped.
package parity
