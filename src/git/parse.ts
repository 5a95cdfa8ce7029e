declare const brand: unique symbol

/** The full id of an object: 40 lower-case hex digits. */
export type Oid = string & { readonly [brand]: 'oid' }
/** A full reference name that `git check-ref-format` accepts: `refs/heads/main`. */
export type RefName = string & { readonly [brand]: 'ref' }
/** Something that names one object: a branch, tag, id or abbreviation, perhaps with `~2`, `^` or `^{commit}`. */
export type Rev = (string & { readonly [brand]: 'rev' }) | Oid | RefName
/** A path inside a tree, `''` being the root: no empty, `.` or `..` part, no NUL, no slash at either end. */
export type TreePath = string & { readonly [brand]: 'path' }
/** A `TreePath` that may be written: not the root, and no part is `.git`. */
export type FilePath = TreePath & { readonly [brand]: 'path'; readonly file: true }

/** Stands for "no such ref" in an update: the old value of a creation, the new value of a deletion. */
export const zeroOid = '0'.repeat(40) as Oid
/** The tree without entries; git knows it without it being stored. */
export const emptyTreeOid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid
export const rootPath = '' as TreePath

export function parseOid(text: string): Oid | undefined {
  return /^[0-9a-f]{40}$/.test(text) ? (text as Oid) : undefined
}

export function isZero(oid: Oid): boolean {
  return oid === zeroOid
}

// The rules of git-check-ref-format(1), for one name of any number of parts.
const forbiddenInRef = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{/ // eslint-disable-line no-control-regex

// A ref is a file, written through one that ends in `.lock`: longer names no file system could hold.
const longestRef = 1024
const longestPart = 250

function isRefText(text: string): boolean {
  if (text === '' || text === '@' || text.length > longestRef || text.endsWith('.')) return false
  if (forbiddenInRef.test(text) || !text.isWellFormed()) return false
  return text.split('/').every(isRefPart)
}

function isRefPart(part: string): boolean {
  if (part === '' || part.startsWith('.') || part.endsWith('.lock')) return false
  return Buffer.byteLength(part) <= longestPart
}

/** A full name under `refs/`. One-level names (`refs/stash`) are not for us, nor is `HEAD`. */
export function parseRefName(text: string): RefName | undefined {
  return text.startsWith('refs/') && text.includes('/', 5) && isRefText(text) ? (text as RefName) : undefined
}

/** The ref of a branch given by its short name; `undefined` when no branch may be called so. */
export function branchRef(name: string): RefName | undefined {
  if (name.startsWith('-') || name === 'HEAD') return undefined
  return parseRefName(`refs/heads/${name}`)
}

/** The ref of a tag given by its short name; `undefined` when no tag may be called so. */
export function tagRef(name: string): RefName | undefined {
  return name.startsWith('-') ? undefined : parseRefName(`refs/tags/${name}`)
}

export function branchName(ref: RefName): string | undefined {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined
}

export function tagName(ref: RefName): string | undefined {
  return ref.startsWith('refs/tags/') ? ref.slice('refs/tags/'.length) : undefined
}

// Searches (`:/text`, `^{/text}`), reflogs (`@{1}`) and paths (`a:b`) are left out: they cost much or name no commit.
const revSuffix = /^(?:~\d{0,6}|\^\d{0,3}|\^\{(?:commit|tree|blob|tag|object)?\})*$/

/** What a user may give where a commit is asked for. Never starts with `-`, so it can not become an option. */
export function parseRev(text: string): Rev | undefined {
  const end = text.search(/[~^]/)
  const base = end < 0 ? text : text.slice(0, end)
  if (base.startsWith('-') || base.length > 1024) return undefined
  if (base !== '@' && !isRefText(base)) return undefined
  return end < 0 || revSuffix.test(text.slice(end)) ? (text as Rev) : undefined
}

/** Slashes at the ends are dropped: people write `docs/` and `/docs` for the same folder. */
export function parsePath(text: string): TreePath | undefined {
  const path = text.replace(/^\/+|\/+$/g, '')
  if (path === '') return rootPath
  if (path.includes('\0') || !path.isWellFormed() || Buffer.byteLength(path) > 4096) return undefined
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
    ? (path as TreePath)
    : undefined
}

/** A path to write to. Finer disguises of `.git` are refused by git's own checks when the objects enter. */
export function parseFilePath(text: string): FilePath | undefined {
  const path = parsePath(text)
  if (path === undefined || path === rootPath || text.endsWith('/')) return undefined
  return path.split('/').some((part) => part.toLowerCase() === '.git') ? undefined : (path as FilePath)
}
