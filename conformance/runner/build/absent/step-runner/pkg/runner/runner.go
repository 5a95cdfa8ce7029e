package runner

import (
	"context"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"gitlab.com/gitlab-org/step-runner/proto"
)

type (
	Kind           int
	BuiltinResult  struct{}
	BuiltinContext interface {
		GetInput(string, Kind) (*structpb.Value, error)
		ListenCancel(context.Context) (context.Context, context.CancelFunc)
		GetJobVars() map[string]*structpb.Value
		GetEnvs() map[string]string
		Pipe() (io.Writer, io.Writer)
		WorkDir() string
		GracefulExitDelay() time.Duration
	}
	BuiltinFunction interface {
		Spec() *proto.Spec
		Run(context.Context, BuiltinContext) (BuiltinResult, error)
	}
)

const KindString Kind = 1
