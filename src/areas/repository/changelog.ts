import { parseTrailers, type Commit } from '../../git/index.ts'
import { compilePattern } from '../../ci/text/regex.ts'
import { compareVersions } from './lists.ts'

/** A commit that a changelog tells of, under the value of its trailer. */
export interface Change {
  readonly category: string
  readonly title: string
  readonly reference: string
}

const usualTag = '^v?(?P<major>0|[1-9]\\d*)\\.(?P<minor>0|[1-9]\\d*)\\.(?P<patch>0|[1-9]\\d*)$'
const usual = compilePattern(usualTag)!

/** `1.2.3`, with or without a `v` before it; what stands behind the numbers is a version before that one. */
export function isVersion(text: string): boolean {
  return /^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(text)
}

/** The tag of the release before a version: the highest of those that are lower. No pre-releases. */
export function tagBefore(version: string, tags: readonly string[]): string | undefined {
  const bare = (text: string): string => text.replace(/^v/, '')
  return tags
    .filter((tag) => usual.test(tag) && compareVersions(bare(tag), bare(version)) < 0)
    .sort((a, b) => compareVersions(bare(a), bare(b)))
    .at(-1)
}

/** What the commits, newest first, say of themselves by a trailer. What was reverted among them is left out. */
export function changesOf(
  commits: readonly Commit[],
  trailer: string,
  referenceOf: (commit: Commit) => string,
): Change[] {
  const reverted = new Set(
    commits.flatMap(({ message }) =>
      [...message.matchAll(/This reverts commit ([0-9a-f]{40})/g)].map(([, sha]) => sha),
    ),
  )
  return commits.flatMap((commit) => {
    const found = parseTrailers(commit.message).find(
      ({ key, value }) => key.toLowerCase() === trailer.toLowerCase() && value !== '',
    )
    if (found === undefined || reverted.has(commit.oid)) return []
    return [{ category: found.value, title: commit.title, reference: referenceOf(commit) }]
  })
}

/** The section of one version. `date`: as it is shown. */
export function changelogSection(version: string, date: string, changes: readonly Change[]): string {
  const heading = `## ${version.replace(/^v/, '')} (${date})\n`
  if (changes.length === 0) return `${heading}\nNo changes.\n`
  const parts = [...Map.groupBy(changes, ({ category }) => category)].map(([category, entries]) => {
    const count = entries.length === 1 ? '1 change' : `${entries.length} changes`
    const lines = entries.map(({ title, reference }) => `- [${title}](${reference})`)
    return `### ${category} (${count})\n\n${lines.join('\n')}\n`
  })
  return `${heading}\n${parts.join('\n')}`
}

/** A changelog with a new section: above that of the next lower version, or at its end. */
export function withSection(changelog: string, version: string, section: string): string {
  const own = version.replace(/^v/, '')
  for (const found of changelog.matchAll(/^## v?(\d+\.\d+\.\d+\S*)/gm)) {
    if (compareVersions(found[1]!, own) < 0) {
      return `${changelog.slice(0, found.index)}${section}\n${changelog.slice(found.index)}`
    }
  }
  const before = changelog.trimEnd()
  return before === '' ? section : `${before}\n\n${section}`
}
