import { GitError } from './git-error.ts'
import type { ObjectType } from './object-readers.ts'
import type { Oid } from './parse.ts'

/** Who did something, and when, with the offset of the place where it was done. */
export interface Signature {
  readonly name: string
  readonly email: string
  readonly date: Date
  /** Minutes east of UTC. */
  readonly offset: number
}

export interface Commit {
  readonly oid: Oid
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Signature
  readonly committer: Signature
  /** The first line of the message. */
  readonly title: string
  /** As it was written, line breaks at the end included. */
  readonly message: string
  /** The armoured PGP, X.509 or SSH signature. */
  readonly signature: string | undefined
}

/** An annotated tag. */
export interface Tag {
  readonly oid: Oid
  /** What it points at, which may be a tag again. */
  readonly target: Oid
  readonly targetType: ObjectType
  readonly name: string
  /** Very old tags have none. */
  readonly tagger: Signature | undefined
  /** Without the signature that follows it. */
  readonly message: string
  readonly signature: string | undefined
}

interface Header {
  readonly key: string
  readonly value: string
}

const nobody: Signature = { name: '', email: '', date: new Date(0), offset: 0 }

/** Parses the content of a commit object. Odd signatures of old tools are read as far as they go. */
export function parseCommit(oid: Oid, content: Buffer): Commit {
  const { headers, body, decode } = split(content)
  const tree = valueOf(headers, 'tree')
  if (tree === undefined) throw new GitError('failed', 'the commit has no tree')
  const message = decode(body)
  return {
    oid,
    tree: tree as Oid,
    parents: headers.filter(({ key }) => key === 'parent').map(({ value }) => value as Oid),
    author: parseSignature(valueOf(headers, 'author')) ?? nobody,
    committer: parseSignature(valueOf(headers, 'committer')) ?? nobody,
    title: titleOf(message),
    message,
    signature: valueOf(headers, 'gpgsig'),
  }
}

/** Parses the content of a tag object. */
export function parseTag(oid: Oid, content: Buffer): Tag {
  const { headers, body, decode } = split(content)
  const target = valueOf(headers, 'object')
  if (target === undefined) throw new GitError('failed', 'the tag has no object')
  const text = decode(body)
  const signed = text.search(/^-----BEGIN (?:PGP|SSH|SIGNED) (?:SIGNATURE|MESSAGE)-----$/m)
  return {
    oid,
    target: target as Oid,
    targetType: (valueOf(headers, 'type') ?? 'commit') as ObjectType,
    name: valueOf(headers, 'tag') ?? '',
    tagger: parseSignature(valueOf(headers, 'tagger')),
    message: signed < 0 ? text : text.slice(0, signed),
    signature: signed < 0 ? undefined : text.slice(signed),
  }
}

export function titleOf(message: string): string {
  const end = message.indexOf('\n')
  return (end < 0 ? message : message.slice(0, end)).trimEnd()
}

function valueOf(headers: readonly Header[], key: string): string | undefined {
  return headers.find((header) => header.key === key)?.value
}

/** Headers up to the first empty line; a line that starts with a space continues the one before. */
function split(content: Buffer): { headers: Header[]; body: Buffer; decode: (bytes: Buffer) => string } {
  const end = content.indexOf('\n\n')
  const head = end < 0 ? content : content.subarray(0, end)
  const encoding = /^encoding (\S+)$/m.exec(head.toString('latin1'))?.[1]
  const decode = decoder(encoding)
  const headers: { key: string; value: string }[] = []
  for (const line of decode(head).split('\n')) {
    const last = headers.at(-1)
    if (line.startsWith(' ')) {
      if (last !== undefined) last.value += `\n${line.slice(1)}`
      continue
    }
    const space = line.indexOf(' ')
    headers.push(
      space < 0 ? { key: line, value: '' } : { key: line.slice(0, space), value: line.slice(space + 1) },
    )
  }
  return { headers, body: end < 0 ? Buffer.alloc(0) : content.subarray(end + 2), decode }
}

function decoder(encoding: string | undefined): (bytes: Buffer) => string {
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    try {
      const decoder = new TextDecoder(encoding)
      return (bytes) => decoder.decode(bytes)
    } catch {
      // An encoding nobody knows: what is ASCII stays readable.
    }
  }
  return (bytes) => bytes.toString('utf8')
}

const signatureLine = /^(.*?)\s*<([^>]*)>(?:\s*(-?\d+)(?:\s*([+-])(\d{1,2})(\d{2}))?)?/s

function parseSignature(text: string | undefined): Signature | undefined {
  if (text === undefined) return undefined
  const found = signatureLine.exec(text)
  if (found === null) return { ...nobody, name: text.trim() }
  const [, name = '', email = '', seconds, sign, hours, minutes] = found
  const date = new Date(Number(seconds ?? 0) * 1000)
  const offset = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  return { name, email, date: Number.isNaN(date.getTime()) ? new Date(0) : date, offset }
}

/** Characters that would end a name or a line of the header, or that git drops at the ends of names. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/[<>\n\r\0]/g, '')
    .replace(/^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/g, '')
}

export function formatSignature({ name, email, date, offset }: Signature): string {
  const sign = offset < 0 ? '-' : '+'
  const minutes = Math.abs(offset)
  const zone =
    sign + String(Math.floor(minutes / 60)).padStart(2, '0') + String(minutes % 60).padStart(2, '0')
  return `${clean(name)} <${clean(email)}> ${Math.max(0, Math.floor(date.getTime() / 1000))} ${zone}`
}

/** NUL can not stand in a message: git would take the rest for lost. */
function withoutNul(message: string): string {
  return message.toWellFormed().replaceAll('\0', '')
}

export function formatCommit(
  commit: Pick<Commit, 'tree' | 'parents' | 'author' | 'committer' | 'message'>,
): Buffer {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(commit.author)}`,
    `committer ${formatSignature(commit.committer)}`,
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${withoutNul(commit.message)}`)
}

export function formatTag(
  tag: Pick<Tag, 'target' | 'targetType' | 'name' | 'message'> & { tagger: Signature },
): Buffer {
  const lines = [
    `object ${tag.target}`,
    `type ${tag.targetType}`,
    `tag ${tag.name}`,
    `tagger ${formatSignature(tag.tagger)}`,
  ]
  const text = withoutNul(tag.message)
  return Buffer.from(`${lines.join('\n')}\n\n${text.endsWith('\n') || text === '' ? text : `${text}\n`}`)
}
