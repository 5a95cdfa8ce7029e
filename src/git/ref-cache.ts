import { LruMap } from '../kernel/lib/lru.ts'
import { GitError } from './git-error.ts'
import { branchName, tagName, type Oid, type RefName } from './parse.ts'
import { delimiterPkt, flushPkt, parsePkts, pkt, pktText } from './pkt-line.ts'
import { run, type Workplace } from './run.ts'

export interface Ref {
  readonly name: RefName
  readonly oid: Oid
  /** What an annotated tag comes to in the end; `undefined` when `oid` is no tag object. */
  readonly peeled: Oid | undefined
}

export interface Branch {
  /** Without `refs/heads/`. */
  readonly name: string
  readonly ref: RefName
  readonly oid: Oid
}

export interface TagRef {
  /** Without `refs/tags/`. */
  readonly name: string
  readonly ref: RefName
  /** The tag object, or the commit itself for a lightweight tag. */
  readonly oid: Oid
  readonly annotated: boolean
  /** The commit in nearly every repository; a tag may name any object. */
  readonly target: Oid
}

const maxWritten = 12

/** All refs of a repository at one moment, the internal ones too, in the order of their names. */
export class RefSnapshot {
  readonly refs: readonly Ref[]
  /** Where HEAD points, whether or not that branch exists; `undefined` when HEAD is detached. */
  readonly defaultRef: RefName | undefined
  readonly headOid: Oid | undefined
  readonly #written = new Map<string, Buffer>()
  #byName: Map<string, Ref> | undefined
  #branches: readonly Branch[] | undefined
  #tags: readonly TagRef[] | undefined

  constructor(refs: readonly Ref[], defaultRef: RefName | undefined, headOid: Oid | undefined) {
    this.refs = refs
    this.defaultRef = defaultRef
    this.headOid = headOid
  }

  find(name: RefName): Ref | undefined {
    this.#byName ??= new Map(this.refs.map((ref) => [ref.name, ref]))
    return this.#byName.get(name)
  }

  get branches(): readonly Branch[] {
    return (this.#branches ??= this.refs.flatMap((ref) => {
      const name = branchName(ref.name)
      return name === undefined ? [] : [{ name, ref: ref.name, oid: ref.oid }]
    }))
  }

  get tags(): readonly TagRef[] {
    return (this.#tags ??= this.refs.flatMap((ref) => {
      const name = tagName(ref.name)
      if (name === undefined) return []
      const annotated = ref.peeled !== undefined
      return [{ name, ref: ref.name, oid: ref.oid, annotated, target: ref.peeled ?? ref.oid }]
    }))
  }

  /** Something made of these refs, such as an advertisement, made once; a few are kept. */
  written(key: string, write: () => Buffer): Buffer {
    let found = this.#written.get(key)
    if (found === undefined) {
      found = write()
      if (this.#written.size < maxWritten && key.length < 1000) this.#written.set(key, found)
    }
    return found
  }

  /** Without branches: nothing was pushed yet. */
  get empty(): boolean {
    return this.branches.length === 0
  }
}

/**
 * The number of updates a repository has seen, kept by the caller where every node sees it. It must grow *after* refs
 * have moved and before anybody is told so; a reader who asked before then may see either state, as with git itself.
 */
export type RefsVersion = string | number | bigint

interface Kept {
  readonly version: RefsVersion
  readonly snapshot: RefSnapshot
}

/** Refs by repository, bounded by their total number. */
export class RefCache {
  readonly #kept: LruMap<string, Kept>
  readonly #loading = new Map<string, Promise<RefSnapshot>>()

  constructor(limit: number) {
    this.#kept = new LruMap(limit)
  }

  async get(place: Workplace, version: RefsVersion): Promise<RefSnapshot> {
    const kept = this.#kept.get(place.path)
    if (kept?.version === version) return kept.snapshot
    const key = `${version}\0${place.path}`
    let loading = this.#loading.get(key)
    if (loading === undefined) {
      loading = loadRefs(place)
        .then((snapshot) => {
          // A repository without refs weighs something too, or the cache would have no bound.
          this.#kept.set(place.path, { version, snapshot }, snapshot.refs.length + 8)
          return snapshot
        })
        .finally(() => this.#loading.delete(key))
      this.#loading.set(key, loading)
    }
    return loading
  }

  forget(place: Workplace): void {
    this.#kept.delete(place.path)
  }
}

/**
 * Reads every ref in one go. Of git's commands only this one tells names, peeled tags and where HEAD points, born or
 * not, at once, and without reading an object a ref.
 */
export async function loadRefs(place: Workplace): Promise<RefSnapshot> {
  const request = ['command=ls-refs\n', delimiterPkt, 'peel\n', 'symrefs\n', 'unborn\n', flushPkt]
  const { stdout } = await run(place, 'upload-pack', {
    flags: ['--stateless-rpc', '--strict'],
    protocol: 'version=2',
    input: Buffer.concat(request.map((line) => (typeof line === 'string' ? pkt(line) : line))),
    maxOutput: 1024 * 1024 * 1024,
  })
  const refs: Ref[] = []
  let defaultRef: RefName | undefined
  let headOid: Oid | undefined
  for (const line of parsePkts(stdout).pkts) {
    if (!Buffer.isBuffer(line)) break
    const [oid = '', name = '', ...attributes] = pktText(line).split(' ')
    if (oid === 'ERR') throw new GitError('failed', 'git upload-pack failed', { stderr: pktText(line) })
    const attribute = (key: string) => attributes.find((text) => text.startsWith(key))?.slice(key.length)
    if (name === 'HEAD') {
      defaultRef = attribute('symref-target:') as RefName | undefined
      headOid = oid === 'unborn' ? undefined : (oid as Oid)
    } else {
      refs.push({ name: name as RefName, oid: oid as Oid, peeled: attribute('peeled:') as Oid | undefined })
    }
  }
  return new RefSnapshot(refs, defaultRef, headOid)
}
