import { appKey, appPath, type TokenServices } from './tokens.ts'

/** What the tracker reads to install the app. */
export function descriptor(services: Pick<TokenServices, 'externalUrl'>): object {
  const url = services.externalUrl()
  const name = `GitLab for Jira (${new URL(url).hostname})`
  const named = (key: string) => ({ key, name: { value: 'GitLab' }, homeUrl: url })
  return {
    name,
    description:
      'Shows branches, commits, merge requests, builds and deployments beside the issues they name',
    key: appKey(services),
    baseUrl: url + appPath,
    vendor: { name: 'Guildhall', url },
    links: { documentation: `${url}/-/api` },
    lifecycle: { installed: '/events/installed', uninstalled: '/events/uninstalled' },
    authentication: { type: 'jwt' },
    scopes: ['READ', 'WRITE', 'DELETE'],
    apiVersion: 1,
    apiMigrations: { 'context-qsh': true, 'signed-install': true, gdpr: true },
    modules: {
      jiraDevelopmentTool: {
        ...named('gitlab-development-tool'),
        url,
        application: { value: 'GitLab' },
        capabilities: ['branch', 'commit', 'pull_request'],
      },
      jiraBuildInfoProvider: named('gitlab-ci'),
      jiraDeploymentInfoProvider: named('gitlab-deployments'),
    },
  }
}
