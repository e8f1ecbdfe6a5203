package network

import (
	"os"

	"github.com/vishvananda/netns"
)

func openNamespaceHandle(file *os.File) netns.NsHandle { return netns.NsHandle(int(file.Fd())) }
