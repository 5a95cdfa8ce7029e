import type { ProjectSubject } from '../../access/index.ts'
import { branchRef, listRefs } from '../../git/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'

export interface BadgeUrls {
  readonly link_url: string
  readonly image_url: string
}

const longestUrl = 2048

/** Refuses addresses that a browser should not be sent to. */
export function checkUrls(urls: Partial<BadgeUrls>): void {
  const faults: Record<string, string[]> = {}
  for (const [key, url] of Object.entries(urls)) {
    // A placeholder is none of the characters of an address.
    const plain = url.replaceAll(/%\{\w+\}/g, 'x')
    if (!URL.canParse(plain) || !/^https?:$/.test(new URL(plain).protocol)) {
      faults[key] = ['is blocked: Only allowed schemes are http, https']
    } else if (url.length > longestUrl) faults[key] = [`is too long (maximum is ${longestUrl} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** What placeholders stand for in the addresses of badges of a project. */
export async function placeholdersOf(
  places: RepositoryPlaces,
  project: ProjectSubject,
  urls: readonly BadgeUrls[],
): Promise<Readonly<Record<string, string>>> {
  const { defaultBranch } = project
  const known = {
    project_path: project.fullPath,
    project_title: project.name,
    project_name: project.path,
    project_namespace: project.fullPath.slice(0, project.fullPath.lastIndexOf('/')),
    group_name: project.fullPath.split('/', 1)[0]!,
    project_id: String(project.id),
    default_branch: defaultBranch ?? '',
  }
  const asks = urls.some((one) => /%\{(commit_sha|latest_tag)\}/.test(one.link_url + one.image_url))
  if (!asks || project.repositoryEmpty) return { ...known, commit_sha: '', latest_tag: '' }
  const refs = await listRefs(places.of(project), project.refsVersion)
  const head = defaultBranch === null ? undefined : branchRef(defaultBranch)
  return {
    ...known,
    commit_sha: (head && refs.find(head)?.oid) ?? '',
    latest_tag:
      refs.tags
        .map(({ name }) => name)
        .toSorted(byVersion.compare)
        .at(-1) ?? '',
  }
}

const byVersion = new Intl.Collator('en', { numeric: true })

/** Without what it could stand for a placeholder is left as it is: in badges of groups, by themselves. */
export function rendered(
  { link_url, image_url }: BadgeUrls,
  placeholders: Readonly<Record<string, string>> = {},
): { rendered_link_url: string; rendered_image_url: string } {
  const filled = (url: string): string =>
    url.replaceAll(/%\{(\w+)\}/g, (written, name: string) =>
      Object.hasOwn(placeholders, name) ? encodeURI(placeholders[name]!) : written,
    )
  return { rendered_link_url: filled(link_url), rendered_image_url: filled(image_url) }
}
