package extended

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"gitlab.com/gitlab-org/step-runner/pkg/api/client"
)

var errAbsent = errors.New("steps are not part of this build")

type (
	Dialer interface {
		Dial() (*grpc.ClientConn, error)
	}
	FollowOutput struct{ Logs io.Writer }
	Client       struct{}
)

func New(Dialer) (*Client, error)                    { return nil, errAbsent }
func (*Client) CloseConn() error                     { return nil }
func (*Client) Cancel(context.Context, string) error { return errAbsent }
func (*Client) RunAndFollow(context.Context, *client.RunRequest, *FollowOutput) (client.Status, error) {
	return client.Status{}, errAbsent
}
