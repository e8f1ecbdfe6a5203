package root

import "flag"

// klogFlags is the flag set that klog wants to be configured through.
type klogFlags struct{ flags *flag.FlagSet }

func (k *klogFlags) set() *flag.FlagSet {
	k.flags = flag.NewFlagSet("klog", flag.ContinueOnError)
	return k.flags
}
