// Command kubernetes runs the components of a node and the scheduler of the Kubernetes version that vc is built with,
// and the DNS server of a cluster: kubernetes kubelet|kube-proxy|kube-scheduler|coredns FLAG… . The tests in test/real
// start it. One program holds all of them, because linking each alone takes half a minute.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
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

const coreDNS = "coredns"

func isComponent(name string) bool { return commands[name] != nil || name == coreDNS }

func main() {
	if len(os.Args) < 2 || !isComponent(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "usage: kubernetes kubelet|kube-proxy|kube-scheduler|coredns [flags]")
		os.Exit(2)
	}
	component := os.Args[1]
	os.Args = append([]string{component}, os.Args[2:]...)
	if component == coreDNS {
		coremain.Run()
		return
	}
	os.Exit(cli.Run(commands[component]()))
}
