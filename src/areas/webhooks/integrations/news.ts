import type { ToldOf } from './catalogue.ts'
import type { Style } from './styles.ts'

interface Named {
  readonly title?: string
  readonly iid?: number
  readonly id?: number | string
}

/** What is looked at of the payloads of webhooks. */
export interface Payload {
  readonly project: {
    readonly path_with_namespace: string
    readonly web_url: string
    readonly default_branch: string | null
  }
  readonly user?: { readonly name: string } | null
  readonly user_name?: string | null
  readonly object_attributes?: Named & {
    readonly action?: string
    readonly url?: string
    readonly note?: string
    readonly ref?: string
    readonly tag?: boolean
    readonly status?: string
    readonly protected_ref?: boolean
    readonly duration?: number | null
  }
  readonly labels?: readonly { readonly title: string }[]
  readonly issue?: Named & { readonly labels?: Payload['labels'] }
  readonly merge_request?: (Named & { readonly labels?: Payload['labels'] }) | null
  readonly snippet?: Named
  readonly commit?: Named | null
  readonly ref?: string
  readonly ref_protected?: boolean
  readonly before?: string
  readonly after?: string
  readonly commits?: readonly { readonly id: string; readonly title: string; readonly url: string }[]
  readonly total_commits_count?: number
  readonly status?: string
  readonly environment?: string
  readonly deployable_url?: string
}

const mostCommits = 5
const longestExcerpt = 200

const pastTense: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  approved: 'approved',
  unapproved: 'unapproved',
  create: 'created',
  update: 'updated',
  delete: 'deleted',
}

/** What happened, in a line or a few. */
export function tellOf(trigger: ToldOf, payload: Payload, style: Style): string {
  const { project, object_attributes: of } = payload
  const place = style.link(project.web_url, style.plain(project.path_with_namespace))
  const who = style.plain(payload.user?.name ?? payload.user_name ?? 'Somebody')
  const did = pastTense[of?.action ?? ''] ?? 'changed'
  const named = (what: string): string => style.link(of?.url ?? project.web_url, style.plain(what))
  switch (trigger) {
    case 'push':
    case 'tag_push':
      return tellOfPush(payload, { who, place }, style)
    case 'issues':
    case 'confidential_issues':
      return `${who} ${did} issue ${named(`#${of?.iid} ${of?.title}`)} in ${place}`
    case 'merge_requests':
      return `${who} ${did} merge request ${named(`!${of?.iid} ${of?.title}`)} in ${place}`
    case 'note':
    case 'confidential_note':
      return `${who} ${named('commented')} on ${style.plain(subjectOf(payload))} in ${place}:\n${style.plain(excerpt(of?.note ?? ''))}`
    case 'wiki_page':
      return `${who} ${did} wiki page ${named(of?.title ?? '')} in ${place}`
    case 'pipeline': {
      const ref = `${of?.tag === true ? 'tag' : 'branch'} ${style.plain(of?.ref ?? '')}`
      const ended = of?.status === 'success' ? 'has passed' : 'has failed'
      const time = typeof of?.duration === 'number' ? ` after ${Math.round(of.duration)} s` : ''
      return `Pipeline ${named(`#${of?.id}`)} of ${ref} in ${place}, started by ${who}, ${ended}${time}`
    }
    case 'deployment': {
      const deploying = style.link(
        payload.deployable_url ?? project.web_url,
        style.plain(payload.environment ?? ''),
      )
      return `Deployment of ${place} to ${deploying} by ${who}: ${style.plain(payload.status ?? '')}`
    }
  }
}

function tellOfPush(
  payload: Payload,
  { who, place }: { readonly who: string; readonly place: string },
  style: Style,
): string {
  const { project, ref = '', before = '', after = '', commits = [], total_commits_count: total = 0 } = payload
  const what = ref.startsWith('refs/tags/') ? 'tag' : 'branch'
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const path = name.split('/').map(encodeURIComponent).join('/')
  const linked = style.link(`${project.web_url}/-/tree/${path}`, style.plain(name))
  if (isZero(after)) return `${who} removed ${what} ${style.plain(name)} of ${place}`
  const began = isZero(before) ? `pushed new ${what}` : `pushed to ${what}`
  const lines = commits
    .slice(-mostCommits)
    .map(({ id, title, url }) => `${style.link(url, id.slice(0, 8))}: ${style.plain(excerpt(title))}`)
  const more = total > lines.length ? [`and ${total - lines.length} more`] : []
  return [`${who} ${began} ${linked} of ${place}`, ...lines, ...more].join('\n')
}

const isZero = (sha: string): boolean => /^0+$/.test(sha)

function subjectOf({ issue, merge_request: request, snippet, commit }: Payload): string {
  if (issue !== undefined) return `issue #${issue.iid} ${issue.title}`
  if (request !== undefined && request !== null) return `merge request !${request.iid} ${request.title}`
  if (snippet !== undefined) return `snippet $${snippet.id} ${snippet.title}`
  return `commit ${String(commit?.id ?? '').slice(0, 8)}`
}

function excerpt(text: string): string {
  const whole = Array.from(text)
  return whole.length <= longestExcerpt ? text : `${whole.slice(0, longestExcerpt).join('')}…`
}
