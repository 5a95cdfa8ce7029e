// The stock runner with its shell executor only: the vendor's own packages, put together as its own main does.
package main

import (
	"os"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli"

	"gitlab.com/gitlab-org/gitlab-runner/commands"
	"gitlab.com/gitlab-org/gitlab-runner/commands/helpers"
	"gitlab.com/gitlab-org/gitlab-runner/common"
	"gitlab.com/gitlab-org/gitlab-runner/executors"
	"gitlab.com/gitlab-org/gitlab-runner/executors/shell"
	"gitlab.com/gitlab-org/gitlab-runner/log"
	"gitlab.com/gitlab-org/gitlab-runner/network"
	"gitlab.com/gitlab-org/gitlab-runner/router"

	_ "gitlab.com/gitlab-org/gitlab-runner/shells"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		logrus.Fatal(err)
	}
	providers := executors.NewProviderRegistry(map[string]common.ExecutorProvider{"shell": shell.NewProvider(self)})
	requests := network.NewAPIRequestsCollector()
	certificates := commands.GetDefaultCertificateDirectory()
	client := router.NewClient(network.NewGitLabClient(
		network.WithAPIRequestsCollector(requests),
		network.WithCertificateDirectory(certificates),
		network.WithExecutorProviderFunc(providers.GetByName),
	), certificates, common.AppVersion.UserAgent())
	defer client.Shutdown()

	app := cli.NewApp()
	app.Version = common.AppVersion.ShortLine()
	cli.VersionPrinter = common.AppVersion.Printer
	app.Commands = []cli.Command{
		commands.NewRegisterCommand(client, providers),
		commands.NewRunCommand(client, requests, providers),
		commands.NewRunSingleCommand(client, providers),
		commands.NewResetTokenCommand(client),
		commands.NewUnregisterCommand(client),
		commands.NewVerifyCommand(client),
		helpers.NewArtifactsDownloaderCommand(),
		helpers.NewArtifactsUploaderCommand(),
		helpers.NewCacheArchiverCommand(),
		helpers.NewCacheExtractorCommand(),
		helpers.NewCacheInitCommand(),
	}
	log.ConfigureLogging(app)
	if err := app.Run(os.Args); err != nil {
		logrus.Fatal(err)
	}
}
