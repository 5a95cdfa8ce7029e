package expression

import (
	"errors"

	"gitlab.com/gitlab-org/moa/ast"
	"gitlab.com/gitlab-org/moa/value"
)

const Sensitive uint16 = 1

type (
	Input struct {
		Key   string
		Value value.Value
	}
	Evaluator struct{}
)

func NewEvaluator(value.Value) (*Evaluator, error) { return &Evaluator{}, nil }
func (*Evaluator) Eval(string, ast.Expr) (value.Value, error) {
	return value.Null(), errors.New("job inputs are not part of this build")
}
