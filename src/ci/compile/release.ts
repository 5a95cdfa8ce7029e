import type { Release } from '../entries/release.ts'
import type { Step } from '../types.ts'

/**
 * The step that makes the release after the script went well. Runners know nothing of releases: they run a client that
 * has to be in the image, the current one or, where it is missing, the one it replaced.
 */
export function releaseStep(release: Release): Step {
  const script = [
    'if command -v glab >/dev/null 2>&1; then',
    '  export GITLAB_HOST="$CI_SERVER_URL"',
    '  glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"',
    `  ${current(release)}`,
    'else',
    `  ${replaced(release)}`,
    'fi',
  ].join('\n')
  return { name: 'release', script: [script], when: 'on_success', allowFailure: false }
}

function current(release: Release): string {
  const { tagName, description, name, ref, tagMessage, releasedAt, milestones = [] } = release
  const links = linksOf(release)
  return [
    'glab release create -R "$CI_PROJECT_PATH"',
    quote(tagName),
    ...(links.length > 0 ? ['--assets-links', json(links)] : []),
    ...option('--milestone', milestones.length > 0 ? milestones.join(',') : undefined),
    ...option('--name', name),
    ...option('--experimental-notes-text-or-file', description),
    ...option('--ref', ref ?? '$CI_COMMIT_SHA'),
    ...option('--tag-message', tagMessage),
    ...option('--released-at', releasedAt),
    '--no-update --no-close-milestone',
  ].join(' ')
}

function replaced(release: Release): string {
  const { tagName, description, name, ref, tagMessage, releasedAt, milestones = [] } = release
  return [
    'release-cli create',
    ...option('--name', name),
    ...option('--description', description),
    ...option('--tag-name', tagName),
    ...option('--tag-message', tagMessage),
    ...option('--ref', ref),
    ...option('--released-at', releasedAt),
    ...milestones.flatMap((milestone) => option('--milestone', milestone)),
    ...linksOf(release).map((link) => `--assets-link ${json(link)}`),
  ].join(' ')
}

function option(flag: string, value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [`${flag} ${quote(value)}`]
}

function linksOf({ assets }: Release): Record<string, string>[] {
  return (assets?.links ?? []).map(({ linkType, ...link }) => ({
    ...link,
    ...(linkType && { link_type: linkType }),
  }))
}

/** Within double quotes, so that the job's variables still count. */
function quote(text: string): string {
  return `"${text.replaceAll(/(?<!\\)"/g, '\\"')}"`
}

const json = (value: unknown) => JSON.stringify(JSON.stringify(value))
