package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// Exit codes. `vcctl help exit-codes` prints the same table.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitDiffers     = 1 // diff
	ExitCancelled   = 2
	ExitDiffError   = 2 // diff
	ExitUnreachable = 3
	ExitForbidden   = 4
	ExitPending     = 8
	ExitNever       = 9
	ExitInterrupted = 130
	ExitLost        = 255
)

// ErrorsExitWith is the annotation of commands whose exit code for errors is not ExitError, because ExitError has
// another meaning for them.
const (
	ErrorsExitWith    = "vc-batch.dev/errors-exit-with"
	ErrorsExitWithTwo = "2"
)

// ErrorCode returns the exit code of a command that failed with err. code is the exit code that ReportError returned
// for err.
func ErrorCode(cmd *cobra.Command, err error, code int) int {
	var status ExitStatus
	if code == ExitError && !errors.As(err, &status) && cmd.Annotations[ErrorsExitWith] == ErrorsExitWithTwo {
		return ExitDiffError
	}
	return code
}

// AddHints sets the hint of each *usererror.Error in err, including joined errors, to the result of hint, unless the
// error already has a hint.
func AddHints(err error, hint func(*usererror.Error) string) error {
	return usererror.Map(err, func(one error) error {
		var human *usererror.Error
		if !errors.As(one, &human) || human.Hint != "" {
			return one
		}
		with := *human
		with.Hint = hint(human)
		return &with
	})
}

// Cancelled is the error for a prompt that the user answered with no.
var Cancelled = &usererror.Error{What: "cancelled: nothing was changed", Code: ExitCancelled}

// Heeded is the exit status of a command that handled Ctrl-C itself, so that it does not exit with ExitInterrupted.
type Heeded int

func (h Heeded) Error() string { return ExitStatus(h).Error() }

// Unwrap makes a Heeded match ExitStatus.
func (h Heeded) Unwrap() error { return ExitStatus(h) }

// ExitStatus ends the command with an exit code but without an error message, because the command has already printed
// its messages.
type ExitStatus int

func (e ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// ReportError prints err as error and hint lines and returns the exit code. Joined errors are printed one by one; the
// exit code is the one for the first error.
func ReportError(out io.Writer, err error, where Connection) int {
	if err == nil {
		return ExitOK
	}
	code := 0
	for _, one := range usererror.Flatten(err) {
		var status ExitStatus
		if errors.As(one, &status) {
			code = firstNonzeroCode(code, int(status))
			continue
		}
		human := HumanizeError(one, where)
		fmt.Fprintf(out, "error: %s\n", indentLines(printable.EscapeText(SimplifyMessage(human.What)), "       "))
		if human.Hint != "" {
			fmt.Fprintf(out, "hint:  %s\n", indentLines(printable.EscapeText(render.ReplaceProgramName(human.Hint, where.Program)), "       "))
		}
		if human.At != "" {
			fmt.Fprintf(out, "at:    %s\n", printable.EscapeLine(human.At))
		}
		code = firstNonzeroCode(code, human.Code)
	}
	return firstNonzeroCode(code, ExitError)
}

func firstNonzeroCode(codes ...int) int {
	for _, code := range codes {
		if code != 0 {
			return code
		}
	}
	return 0
}

func indentLines(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

// IgnoreMissing removes errors about objects that do not exist.
func IgnoreMissing(err error) error {
	return usererror.Map(err, func(one error) error {
		if IsMissing(one) {
			return nil
		}
		return one
	})
}

// IgnoreForbidden returns nil if the user has no access, and any other error unchanged.
func IgnoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// IsMissing reports whether err means that an object does not exist on a cluster that serves its kind.
func IsMissing(err error) bool { return apierrors.IsNotFound(err) && !IsUnknownKind(err) }

// IsUnknownKind reports whether err means that the cluster does not serve the requested kind.
func IsUnknownKind(err error) bool {
	return apierrors.IsNotFound(err) && strings.Contains(err.Error(), "could not find the requested resource")
}

// Connection describes the cluster that a command used, for error messages.
type Connection struct {
	Server  string
	Context string
	User    string
	// Program is the program name that the user typed: "vcctl" or "kubectl vc".
	Program string
}

// HumanizeError converts any error to a *usererror.Error. If err already contains such an error, HumanizeError returns
// that error.
func HumanizeError(err error, where Connection) *usererror.Error {
	var human *usererror.Error
	if errors.As(err, &human) {
		if human.Code == 0 {
			return human.WithCode(exitCodeFor(err))
		}
		return human
	}
	if errors.Is(err, context.Canceled) {
		return &usererror.Error{What: "interrupted", Code: ExitInterrupted, Err: err}
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return humanizeStatus(err, where)
	}
	return humanizeTransport(err, where)
}

// exitCodeFor returns the exit code that corresponds to the cause of err.
func exitCodeFor(err error) int {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return ExitForbidden
	}
	return ExitError
}

func humanizeStatus(err error, where Connection) *usererror.Error {
	message := statusMessage(err)
	human := &usererror.Error{What: message, Code: ExitError, Err: err}
	switch {
	case apierrors.IsUnauthorized(err):
		human.Code = ExitForbidden
		human.What = fmt.Sprintf("not authenticated at %s%s (401)", where.Server, where.contextText())
		human.Hint = "the credentials are missing, wrong or expired; log in again, or choose another --context"
	case apierrors.IsForbidden(err):
		human.Code = ExitForbidden
		if denied := RejectingWebhook(err); denied != "" {
			human.What, human.Hint, human.Code = message, webhookHint(denied), ExitError
			break
		}
		human.What, human.Hint = explainForbidden(message)
	case IsUnknownKind(err):
		human.What = fmt.Sprintf("the cluster %s%s does not support this kind of object", where.Server, where.contextText())
		human.Hint = "install vc in the cluster with kubectl apply -f deploy/install.yaml, or start a local cluster with `vc-local up`"
	case apierrors.IsTooManyRequests(err):
		human.Hint = "the API server is busy; try again in a moment"
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		human.Hint = "the API server did not respond in time; try again, or raise --request-timeout"
	default:
		human.Hint = rejectedHint(err, message)
	}
	return human
}

// webhookHint returns the hint for an object that was rejected by an admission webhook.
func webhookHint(webhook string) string {
	return fmt.Sprintf("the admission webhook %q rejected the object: correct the fields named in the message and try again", webhook)
}

// rejectedHint returns the hint for a server error that has nothing to do with the user's permissions.
func rejectedHint(err error, message string) string {
	switch {
	case strings.Contains(message, "failed calling webhook"):
		return "an admission webhook is not responding; if the webhook belongs to vc, check that vcd is running: kubectl get pods -n volcano-system"
	case RejectingWebhook(err) != "":
		return webhookHint(RejectingWebhook(err))
	case apierrors.IsAlreadyExists(err):
		return "delete the existing object first, or choose another name"
	case apierrors.IsRequestEntityTooLargeError(err), strings.Contains(message, "Request entity too large"), strings.Contains(message, "request is too large"):
		return "make the object smaller: keep data and long scripts in a volume, an image or a ConfigMap"
	case apierrors.IsConflict(err):
		return "another client changed the object at the same time: read the object again and retry"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return "correct the fields named in the message; `kubectl explain KIND.FIELD` describes their values"
	case missingNamespace(err) != "":
		return "create the namespace (kubectl create namespace " + missingNamespace(err) + "), or choose another namespace with -n"
	case apierrors.IsNotFound(err):
		return "the object may have been deleted in the meantime"
	}
	return "the API server could not handle the request: try again; -v=6 shows requests and responses"
}

// missingNamespace returns the name of the namespace if err reports that it does not exist; "" for any other error.
func missingNamespace(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	if details := status.Status().Details; details.Kind == "namespaces" {
		return details.Name
	}
	return ""
}

// cannot matches the message with which the API server denies a request because of RBAC.
var cannot = regexp.MustCompile(`User "([^"]*)" cannot (\w+) resource "([^"]*)" in API group "([^"]*)" (?:at the cluster scope|in the namespace "([^"]*)")`)

// IsPermissionMissing reports whether the API server denied a request because of RBAC. Webhooks and policies also reject
// requests with the code 403.
func IsPermissionMissing(err error) bool {
	return apierrors.IsForbidden(err) && cannot.MatchString(err.Error())
}

// WebhookCallFailure returns why the API server could not call an admission webhook. isFailure is false for other errors.
func WebhookCallFailure(err error) (reason string, isFailure bool) {
	if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		return "", false
	}
	if _, reason, found := strings.Cut(err.Error(), "failed to call webhook: "); found {
		return reason, true
	}
	return err.Error(), true
}

// deniedByPolicy matches the message with which the API server denies a request because of an admission policy.
var deniedByPolicy = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']*)' with binding '[^']*' denied request: (.*)$`)

// explainPolicy reduces the message about an admission policy to what the policy says. The messages of vc's policies end with
// the remedy. isPolicy is false for other messages.
func explainPolicy(message string) (what, hint string, isPolicy bool) {
	parts := deniedByPolicy.FindStringSubmatch(message)
	if parts == nil {
		return "", "", false
	}
	policy, text := parts[1], parts[2]
	if at := strings.LastIndex(text, ": "); at > 0 && strings.HasPrefix(policy, "volcano-") {
		return "forbidden: " + text[:at] + " (403)", text[at+2:], true
	}
	return "forbidden: " + text + " (403)", fmt.Sprintf("the admission policy %q rejected the request: correct the object, or ask an administrator", policy), true
}

// explainForbidden reduces the API server's RBAC message to the user, the verb, the resource and the namespace.
func explainForbidden(message string) (what, hint string) {
	if what, hint, isPolicy := explainPolicy(message); isPolicy {
		return what, hint
	}
	parts := cannot.FindStringSubmatch(message)
	if parts == nil {
		return "forbidden: " + message + " (403)", "ask an administrator for a RoleBinding that allows this, or choose another namespace (-n) or --context"
	}
	user, action, resource, group, namespace := parts[1], parts[2], parts[3], parts[4], parts[5]
	if group != "" {
		resource += "." + group
	}
	if namespace == "" {
		return fmt.Sprintf("forbidden: user %q cannot %s %s at the cluster scope (403)", user, action, resource),
			"ask an administrator for a ClusterRoleBinding that allows this, or choose another --context"
	}
	return fmt.Sprintf("forbidden: user %q cannot %s %s in namespace %q (403)", user, action, resource, namespace),
		fmt.Sprintf("ask an administrator for a RoleBinding that allows this in namespace %q, or choose another namespace (-n) or --context", namespace)
}

// statusMessage returns the server's message without the prefixes that clients add.
func statusMessage(err error) string {
	message := err.Error()
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		message = status.Status().Message
	}
	if _, text, found := strings.Cut(message, " denied the request: "); found && strings.HasPrefix(message, "admission webhook ") {
		return text
	}
	return message
}

// RejectingWebhook returns the name of the admission webhook that rejected the request, or "".
func RejectingWebhook(err error) string {
	rest, found := strings.CutPrefix(err.Error(), "admission webhook \"")
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(rest, "\"")
	return name
}

func (c Connection) contextText() string {
	if c.Context == "" {
		return ""
	}
	return fmt.Sprintf(" (context %q)", c.Context)
}

func (c Connection) contextFlag() string {
	if c.Context == "" {
		return ""
	}
	return " --context " + c.Context
}

func humanizeTransport(err error, where Connection) *usererror.Error {
	human := &usererror.Error{What: err.Error(), Code: ExitError, Err: err}
	var dial *net.OpError
	var request *url.Error
	switch {
	case clientcmd.IsEmptyConfig(err), strings.Contains(err.Error(), "invalid configuration: no configuration has been provided"):
		human.What = "no cluster is configured"
		human.Hint = "set KUBECONFIG or --kubeconfig, or start a cluster on this machine with `vc-local up`"
	case strings.HasPrefix(err.Error(), "error loading config file "):
		human.What = "kubeconfig" + strings.TrimPrefix(err.Error(), "error loading config file")
		human.Hint = "the file is not a valid kubeconfig; set KUBECONFIG or --kubeconfig to a kubeconfig file"
	case clientcmd.IsContextNotFound(err), strings.Contains(err.Error(), "does not exist") && strings.Contains(err.Error(), "context"):
		human.Hint = "kubectl config get-contexts lists the available contexts"
	case errors.As(err, &dial), errors.As(err, &request), os.IsTimeout(err), errors.Is(err, context.DeadlineExceeded):
		human.What = fmt.Sprintf("cannot reach the API server %s%s: %s", where.Server, where.contextText(), rootCause(err))
		human.Hint = "check that the server is running and that this is the right cluster: kubectl cluster-info" + where.contextFlag()
		if strings.Contains(err.Error(), "x509:") {
			human.Hint = "the server's certificate is not signed by the CA in this kubeconfig; check that the kubeconfig belongs to this cluster"
		}
	case errors.Is(err, os.ErrNotExist) && strings.Contains(err.Error(), "stat "):
		human.What = "kubeconfig: " + err.Error()
		human.Hint = "set KUBECONFIG or --kubeconfig to a file that exists, or start a cluster on this machine with `vc-local up`"
	case meta.IsNoMatchError(err):
		human.Hint = unknownKindHint(err)
	case strings.HasPrefix(err.Error(), "invalid resource name "):
		human.Hint = "in KIND/NAME, use a KIND that this command supports"
	}
	return human
}

// unknownKindHint returns the hint for a kind that the cluster does not serve. The hint suggests correcting apiVersion,
// installing vc or, for a kind that vc does not define, installing the definition of the kind.
func unknownKindHint(err error) string {
	var none *meta.NoKindMatchError
	if !errors.As(err, &none) {
		return "the cluster does not support this kind; check apiVersion"
	}
	for kind := range Scheme().AllKnownTypes() {
		switch {
		case kind.Kind != none.GroupKind.Kind || !isRegisteredGroup(kind.Group):
		case kind.Group == none.GroupKind.Group && !slices.Contains(none.SearchedVersions, kind.Version) && len(none.SearchedVersions) > 0:
			return fmt.Sprintf("did you mean apiVersion: %s?", kind.GroupVersion())
		case kind.Group == none.GroupKind.Group:
			return "install vc in the cluster: kubectl apply -f deploy/install.yaml"
		default:
			return fmt.Sprintf("did you mean apiVersion: %s?", kind.GroupVersion())
		}
	}
	if near := FindNearest(none.GroupKind.Kind, registeredKinds(none.GroupKind.Group)); near != "" {
		return fmt.Sprintf("did you mean kind: %s?", near)
	}
	return "the cluster does not support this kind; install its CRD, or correct apiVersion"
}

// isRegisteredGroup reports whether vc defines the kinds of an API group.
func isRegisteredGroup(group string) bool {
	return strings.HasSuffix(group, "volcano.sh") || strings.HasSuffix(group, "vc-batch.dev")
}

// registeredKinds returns the registered kinds of an API group; nil if vc does not define the group.
func registeredKinds(group string) []string {
	var kinds []string
	for kind := range Scheme().AllKnownTypes() {
		if kind.Group == group && isRegisteredGroup(group) && !slices.Contains(kinds, kind.Kind) {
			kinds = append(kinds, kind.Kind)
		}
	}
	return kinds
}

// isUndefinedKind reports whether vc defines the API group but not this version or kind. It does not contact the
// server.
func isUndefinedKind(kind schema.GroupVersionKind) bool {
	return isRegisteredGroup(kind.Group) && Scheme().IsGroupRegistered(kind.Group) && !Scheme().Recognizes(kind)
}

func rootCause(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Err != nil {
		err = dial.Err
	}
	if os.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded) {
		return "i/o timeout"
	}
	return err.Error()
}

// FindNearest returns the candidate that is most similar to word. The candidate must be at most two edits away, and
// more than half of the letters of word must be unchanged. FindNearest returns "" if there is no such candidate.
func FindNearest(word string, candidates []string) string {
	best, bestDistance, letters := "", 3, len([]rune(word))
	sorted := slices.Sorted(slices.Values(candidates))
	for _, candidate := range sorted {
		d := editDistance(word, candidate)
		isOneSlip := d == 1 && letters > 1
		isClose := isOneSlip || 2*d < letters
		if isClose && d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions, substitutions and swaps of adjacent letters between a and
// b.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && slices.Equal(x[i-2:i], []rune{y[j-1], y[j-2]}) { // swapped letters
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
