package podlogs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The first and the longest pause before a stream that ended is reopened.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 5 * time.Second
)

// firstLines is the number of past lines to request.
const firstLines = 1000

// longestLine is the maximum number of bytes that are kept of a line.
const longestLine = 8 << 10

// followPodLog streams the log of a pod until ctx is done or the pod has ended.
func (t *Tail) followPodLog(ctx context.Context, pod Pod) {
	pause, at := firstPause, Position{}
	for ctx.Err() == nil {
		before := at
		err := t.copyLogStream(ctx, pod, &at)
		if ctx.Err() != nil {
			return
		}
		if state, over := t.stateAfterEnd(ctx, pod, err); over {
			t.setStreamState(ctx, pod, state)
			return
		} else if err != nil {
			t.setStreamState(ctx, pod, state)
		}
		if at.HasMoved(before) {
			pause = firstPause
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, maxPause)
	}
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// stateAfterEnd returns the state of an ended stream, and whether no more lines will follow.
func (t *Tail) stateAfterEnd(ctx context.Context, pod Pod, err error) (state string, over bool) {
	if apierrors.IsNotFound(err) {
		return "the pod was deleted", true
	}
	if apierrors.IsForbidden(err) {
		return "you are not allowed to read this log", true
	}
	if pod.Previous && apierrors.IsBadRequest(err) {
		return "the pod was not restarted, so it has no previous logs", true
	}
	if pod.Previous && err == nil {
		return "ended", true
	}
	now, getErr := t.pods.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(getErr), getErr == nil && pod.UID != "" && now.UID != pod.UID:
		return "the pod was deleted", true
	case getErr == nil && err == nil && hasEnded(now):
		return "ended", true
	case err != nil:
		return strings.TrimSpace(errorReason(err)), false
	}
	return "", false
}

// errorReason returns the server's message, or the text of another error.
func errorReason(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return cleanLogText(status.Status().Message)
	}
	return cleanLogText(err.Error())
}

// copyLogStream copies lines until the stream ends. It starts the stream at the position and advances the position with
// each line.
func (t *Tail) copyLogStream(ctx context.Context, pod Pod, position *Position) error {
	options := &corev1.PodLogOptions{Container: pod.Container, Previous: pod.Previous, Follow: !pod.Previous, Timestamps: true, TailLines: new(int64(firstLines))}
	position.Resume(options)
	body, err := t.pods.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	t.setStreamState(ctx, pod, "")
	lines := bufio.NewReaderSize(body, longestLine)
	for {
		raw, err := readLine(lines)
		if len(raw) > 0 {
			if at, text, isNew := position.Advance(raw); isNew {
				t.addStreamLine(ctx, Line{Pod: pod.Name, At: at, Text: cleanLogText(string(text))})
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line and discards the part that does not fit into the reader's buffer.
func readLine(r *bufio.Reader) ([]byte, error) {
	part, prefix, err := r.ReadLine()
	line := bytes.Clone(part)
	for prefix && err == nil {
		_, prefix, err = r.ReadLine()
	}
	return line, err
}

// cleanLogText makes a program's output safe to show as one line. If the text overwrites itself with \r, it keeps only
// the last version. It removes escape sequences and control characters.
func cleanLogText(text string) string {
	text = strings.TrimRight(text, "\r")
	if at := strings.LastIndexByte(text, '\r'); at >= 0 {
		text = text[at+1:]
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return text
	}
	var b strings.Builder
	// 1: after ESC, 2: in a sequence ESC [ … letter, 3: in a text ESC ] … BEL,
	// 4: before the single letter of a character-set sequence
	escape := 0
	for _, r := range text {
		switch {
		case escape == 1 && r == '[':
			escape = 2
		case escape == 1 && strings.ContainsRune("]P_^", r):
			escape = 3
		case escape == 1 && strings.ContainsRune("()*+-./#%", r):
			escape = 4
		case escape == 1, escape == 4:
			escape = 0
		case escape == 2:
			if r >= '@' && r <= '~' {
				escape = 0
			}
		case escape == 3 && (r == 7 || r == 0x9c):
			escape = 0
		case r == 0x1b: // also within a text: ESC \ ends it
			escape = 1
		case escape == 3:
		case r == '\t':
			b.WriteString(strings.Repeat(" ", 8-b.Len()%8))
		case unicode.IsControl(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
