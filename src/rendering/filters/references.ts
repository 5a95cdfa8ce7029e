import type { Element } from 'hast'
import {
  candidateKey,
  type Candidate,
  type ReferenceKind,
  type Resolved,
  type ResolvedReference,
} from '../types.ts'
import {
  element,
  isElement,
  replaceElements,
  replaceTexts,
  text,
  textOf,
  type Node,
  type Parent,
} from '../tree.ts'

/** Distinct ones of one text that are looked up. */
const most = 1000

const kindOf: Readonly<Record<string, ReferenceKind>> = {
  '#': 'issue',
  '!': 'merge_request',
  $: 'snippet',
  '&': 'epic',
  '~': 'label',
  '%': 'milestone',
}

/*
 * Every sign that may begin a reference, with the path of another project before it. All repetitions are bounded, so
 * that a long word is not looked at once for each of its letters.
 */
const path = String.raw`(?:\w[\w.-]{0,100}(?:\/\w[\w.-]{0,100}){0,20})`
const pattern = new RegExp(
  [
    String.raw`(?<![\w@/.\x60])@(?<user>[a-zA-Z0-9_](?:[\w./-]{0,253}\w)?)`,
    String.raw`(?<![\w/.-])(?<project>${path}\/[\w.-]{1,100})>(?!\w)`,
    String.raw`(?:(?<![\w/.-])(?<of>${path})|(?<![\w/#]))(?<sign>[#!$&])(?<number>\d{1,10})(?!\w)`,
    String.raw`(?:(?<![\w/.-])(?<in>${path})|(?<![\w/]))(?<mark>[~%])(?:"(?<quoted>[^"\n]{1,255})"|(?<name>\w(?:[\w.:?&-]{0,250}\w)?))`,
    String.raw`(?<![\w/.@-])(?:(?<from>${path})@)?(?<sha>[0-9a-f]{7,40})(?![\w-])`,
  ].join('|'),
  'g',
)

function candidateOf(found: RegExpExecArray): Candidate | undefined {
  const { user, project, of, sign, number, in: place, mark, quoted, name, from, sha } = found.groups!
  if (user !== undefined) return { kind: 'user', id: user }
  if (project !== undefined) return { kind: 'project', id: project }
  if (sign !== undefined) return { kind: kindOf[sign]!, path: of, id: number! }
  if (mark !== undefined) return { kind: kindOf[mark]!, path: place, id: quoted ?? name! }
  // Seven digits are a number more often than a commit.
  if (sha !== undefined && /[a-f]/.test(sha)) return { kind: 'commit', path: from, id: sha }
  return undefined
}

const pages: Readonly<Record<string, ReferenceKind>> = {
  issues: 'issue',
  work_items: 'issue',
  merge_requests: 'merge_request',
  snippets: 'snippet',
  epics: 'epic',
  milestones: 'milestone',
  commit: 'commit',
}
const address =
  /^\/(?:groups\/)?([\w./-]{1,1000}?)\/-\/([a-z_]{1,20})\/([0-9a-f]{1,40})\/?(?:\?[^#]*)?(?:#(.*))?$/s

/** What an address of this service names, and what is shown behind that: a comment on it has an address of its own. */
function addressed(href: unknown, baseUrl: string): { candidate: Candidate; suffix: string } | undefined {
  if (typeof href !== 'string' || !href.startsWith(`${baseUrl}/`)) return undefined
  const [, path, page, id, anchor = ''] = address.exec(href.slice(baseUrl.length)) ?? []
  const kind = Object.hasOwn(pages, page ?? '') ? pages[page!] : undefined
  if (kind === undefined || (kind === 'commit' ? id!.length < 7 : !/^\d{1,10}$/.test(id!))) return undefined
  const note = /^note_(\d+)$/.exec(anchor)?.[1]
  return {
    candidate: { kind, path: `/${path!}`, id: id! },
    suffix: note === undefined ? '' : ` (comment ${note})`,
  }
}

/** Everything in a text that may be a reference, in its prose or by its address, each once. */
export function findReferences(root: Parent, baseUrl: string): Candidate[] {
  const found = new Map<string, Candidate>()
  replaceElements(root, (node) => {
    if (found.size >= most) return undefined
    const link = isElement(node, 'a') ? addressed(node.properties['href'], baseUrl) : undefined
    if (link !== undefined) found.set(candidateKey(link.candidate), link.candidate)
    return undefined
  })
  replaceTexts(root, (value) => {
    if (found.size >= most) return undefined
    for (const match of value.matchAll(pattern)) {
      const candidate = candidateOf(match)
      if (candidate !== undefined) found.set(candidateKey(candidate), candidate)
    }
    return undefined
  })
  return [...found.values()].slice(0, most)
}

/** Links what was resolved; all else stays as it was written. */
export function linkReferences(root: Parent, resolved: Resolved, baseUrl: string): void {
  if (Object.keys(resolved).length === 0) return
  replaceElements(root, (node) => {
    const found = isElement(node, 'a') ? addressed(node.properties['href'], baseUrl) : undefined
    const key = found === undefined ? '' : candidateKey(found.candidate)
    if (found === undefined || !Object.hasOwn(resolved, key)) return undefined
    const { title, text: shown } = resolved[key]!
    const { title: given } = node.properties
    Object.assign(node.properties, about(found.candidate.kind, typeof given === 'string' ? given : title))
    // A bare address becomes short; what its author calls it stays.
    if (shown !== undefined && textOf(node).startsWith(`${baseUrl}/`))
      node.children = [text(`${shown}${found.suffix}`)]
    return undefined
  })
  replaceTexts(root, (value) => {
    const nodes: Node[] = []
    let from = 0
    for (const match of value.matchAll(pattern)) {
      const candidate = candidateOf(match)
      const key = candidate === undefined ? '' : candidateKey(candidate)
      if (candidate === undefined || !Object.hasOwn(resolved, key)) continue
      nodes.push(text(value.slice(from, match.index)), link(candidate.kind, match[0], resolved[key]!))
      from = match.index + match[0].length
    }
    return nodes.length === 0 ? undefined : [...nodes, text(value.slice(from))]
  })
}

function link(kind: ReferenceKind, written: string, { href, title, text: shown }: ResolvedReference): Node {
  return element('a', { href, ...about(kind, title) }, [text(shown ?? written)])
}

function about(kind: ReferenceKind, title: string | undefined): Element['properties'] {
  return {
    className: ['gfm', kind === 'user' ? 'gfm-project_member' : `gfm-${kind}`],
    dataReferenceType: kind,
    ...(title !== undefined && { title }),
  }
}
