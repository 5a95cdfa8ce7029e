import type { MergeRequestRow } from '../rows.ts'

/** What a template may name. */
export interface MessageFacts {
  readonly row: MergeRequestRow
  readonly webUrl: string
  readonly mergedBy: { readonly name: string; readonly email: string } | undefined
  readonly reviewedBy: readonly Person[]
  readonly approvedBy: readonly Person[]
  readonly author: Person | undefined
  /** Its commits, oldest first. */
  readonly commits: readonly {
    readonly message: string
    readonly author: Person
    readonly isMerge: boolean
  }[]
  /** `Closes #1 and #2`, empty where it closes none. */
  readonly issues: string
}

export interface Person {
  readonly name: string
  readonly email: string
}

export const mergeTemplate =
  "Merge branch '%{source_branch}' into '%{target_branch}'\n\n%{title}\n\n%{issues}\n\nSee merge request %{reference}"
export const squashTemplate = '%{title}'

const signed = (label: string, people: readonly Person[]): string =>
  [...new Set(people.map(({ name, email }) => `${label}: ${name} <${email}>`))].join('\n')

/** Characters of a message beyond which only its first line is told. */
const longestMessage = 100 * 1024

type Part = (facts: MessageFacts) => string

const parts = new Map(
  Object.entries<Part>({
    source_branch: ({ row }) => row.source_branch,
    target_branch: ({ row }) => row.target_branch,
    title: ({ row }) => row.title,
    issues: ({ issues }) => issues,
    description: ({ row }) => row.description ?? '',
    reference: ({ row }) => `${row.project_path}!${row.iid}`,
    local_reference: ({ row }) => `!${row.iid}`,
    source_project_id: ({ row }) => String(row.source_project_id ?? ''),
    first_commit: ({ commits }) => commits[0]?.message.trim() ?? '',
    first_multiline_commit: ({ commits, row }) => firstMultiline(commits)?.message.trim() ?? row.title,
    first_multiline_commit_description: ({ commits }) =>
      (firstMultiline(commits)?.message ?? '').split('\n').slice(1).join('\n').trim(),
    url: ({ webUrl }) => webUrl,
    reviewed_by: ({ reviewedBy }) => signed('Reviewed-by', reviewedBy),
    approved_by: ({ approvedBy }) => signed('Approved-by', approvedBy),
    merged_by: ({ mergedBy }) => (mergedBy === undefined ? '' : `${mergedBy.name} <${mergedBy.email}>`),
    merge_request_author: ({ author }) => (author === undefined ? '' : `${author.name} <${author.email}>`),
    co_authored_by: ({ commits, author }) =>
      signed(
        'Co-authored-by',
        commits.map((commit) => commit.author).filter(({ email }) => email !== author?.email),
      ),
    all_commits: ({ commits }) =>
      commits
        .filter(({ isMerge }) => !isMerge)
        .map(({ message }) => `* ${told(message.trim())}`)
        .join('\n\n'),
  }),
)

function told(message: string): string {
  return message.length > longestMessage ? message.split('\n', 1)[0]!.slice(0, longestMessage) : message
}

function firstMultiline(commits: MessageFacts['commits']): MessageFacts['commits'][number] | undefined {
  return commits.find(({ message, isMerge }) => !isMerge && message.trim().includes('\n'))
}

/**
 * A message from a template. A line whose variables are all empty goes, and with it the empty line before it where an
 * empty one follows; what the template does not know stays as it is written.
 */
export function commitMessage(template: string, facts: MessageFacts): string {
  const lines: string[] = []
  const source = template.replaceAll('\r\n', '\n').split('\n')
  for (const [index, line] of source.entries()) {
    const names = [...line.matchAll(/%\{(\w+)\}/g)].flatMap(([, name]) => (parts.has(name!) ? [name!] : []))
    const text = line.replace(/%\{(\w+)\}/g, (written, name: string) => parts.get(name)?.(facts) ?? written)
    if (names.length > 0 && text.trim() === '') {
      if (lines.at(-1) === '' && source[index + 1] === '') lines.pop()
      continue
    }
    lines.push(text)
  }
  return lines.join('\n').trim()
}
