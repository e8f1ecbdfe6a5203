#!/bin/sh
# Copies the command line out of directory $1 to where a shell finds it, below $DESTDIR$2: the programs and
# their other names, completion of bash, zsh and fish, and the man pages. UNINSTALL=1 removes all that again.
set -eu
cd "$(dirname "$0")/.."
from=$1
to=${DESTDIR:-}$2
programs="vcctl kubectl-vc vcd vc-local vc-step"
names="vsub vjobs vqueues vcancel vsuspend vresume kubectl_complete-vc"
bash=$to/share/bash-completion/completions
zsh=$to/share/zsh/site-functions
fish=$to/share/fish/vendor_completions.d
man=$to/share/man/man1

if [ -n "${UNINSTALL:-}" ]; then
	for name in $programs $names; do rm -f "$to/bin/$name"; done
	rm -f "$bash/vcctl" "$zsh/_vcctl" "$fish/vcctl.fish" "$man"/vcctl.1 "$man"/vcctl-*.1
	exit 0
fi
mkdir -p "$to/bin" "$bash" "$zsh" "$fish" "$man"
for program in $programs; do install -m 755 "$from/$program" "$to/bin/$program"; done
hack/names.sh "$to/bin"
"$from/vcctl" completion bash >"$bash/vcctl"
"$from/vcctl" completion zsh >"$zsh/_vcctl"
"$from/vcctl" completion fish >"$fish/vcctl.fish"
install -m 644 "$from"/man1/*.1 "$man/"
