// Command kubernetes runs the components of a node and the scheduler of the Kubernetes version that vc is built with:
// kubernetes kubelet|kube-proxy|kube-scheduler FLAG… . The tests in test/real start it. One program holds all three,
// because linking each alone takes half a minute.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	proxyapp "k8s.io/kubernetes/cmd/kube-proxy/app"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
)

// commands are the components by name.
var commands = map[string]func() *cobra.Command{
	"kubelet":        func() *cobra.Command { return kubeletapp.NewKubeletCommand(context.Background()) },
	"kube-proxy":     proxyapp.NewProxyCommand,
	"kube-scheduler": func() *cobra.Command { return schedulerapp.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: kubernetes kubelet|kube-proxy|kube-scheduler [flags]")
		os.Exit(2)
	}
	component := os.Args[1]
	os.Args = append([]string{component}, os.Args[2:]...)
	os.Exit(cli.Run(commands[component]()))
}
