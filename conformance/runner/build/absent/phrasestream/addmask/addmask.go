// Package addmask stands for the masking inside containers, of which there are none here.
package addmask

import (
	"errors"
	"io"
)

type AddMask struct{}

func New(any, ...io.Writer) (*AddMask, error) {
	return nil, errors.New("proxy-exec is not part of this build")
}
func (*AddMask) Get(int) io.Writer { return io.Discard }
func (*AddMask) Close() error      { return nil }
