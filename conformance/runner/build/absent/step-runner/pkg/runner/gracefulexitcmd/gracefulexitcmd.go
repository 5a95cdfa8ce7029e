package gracefulexitcmd

import (
	"context"
	"os/exec"
	"time"
)

func New(ctx context.Context, _ time.Duration, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}
