import {
  candidateKey,
  type Candidate,
  type ReferenceKind,
  type Resolved,
  type ResolvedReference,
} from '../types.ts'
import { element, replaceTexts, text, type Node, type Parent } from '../tree.ts'

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

/** Everything in the prose of a text that may be a reference, each once. */
export function findReferences(root: Parent): Candidate[] {
  const found = new Map<string, Candidate>()
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

/** Links what was resolved; all else stays text. */
export function linkReferences(root: Parent, resolved: Resolved): void {
  if (Object.keys(resolved).length === 0) return
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
  return element(
    'a',
    {
      href,
      className: ['gfm', kind === 'user' ? 'gfm-project_member' : `gfm-${kind}`],
      dataReferenceType: kind,
      ...(title !== undefined && { title }),
    },
    [text(shown ?? written)],
  )
}
