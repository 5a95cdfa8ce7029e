package di

import (
	"errors"
	"log/slog"

	"gitlab.com/gitlab-org/step-runner/pkg/runner"
)

type Container struct{}

func NewContainer(...func(*Container)) *Container                     { return &Container{} }
func WithBuiltinFunc(string, runner.BuiltinFunction) func(*Container) { return func(*Container) {} }
func WithOperatorLogger(*slog.Logger) func(*Container)                { return func(*Container) {} }
func (*Container) StepRunnerService() (any, error) {
	return nil, errors.New("steps are not part of this build")
}
