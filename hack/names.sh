#!/bin/sh
# Gives vcctl and kubectl-vc, which are in directory $1, the other names that they answer to: Volcano's
# short programs, and what kubectl calls to complete the words of `kubectl vc`.
set -eu
for name in vsub vjobs vqueues vcancel vsuspend vresume; do
	ln -sf vcctl "$1/$name"
done
ln -sf kubectl-vc "$1/kubectl_complete-vc"
