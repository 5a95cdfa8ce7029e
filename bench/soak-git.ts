import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { GitClient } from './git-client.ts'
import type { Service } from './service.ts'
import type { World } from './soak-work.ts'

/** Clones that are pulled, and those that are pushed from: at most so many at once. */
export const clones = { pull: 20, push: 8 }

/** What one has of a project's branch `main`. */
interface Clone {
  readonly url: string
  readonly authorization: string
  readonly tree: string
  tip: string
}

type Clones = Readonly<Record<keyof typeof clones, readonly Clone[]>>

/**
 * One pulls what others push, in the words of git itself: what its client would do with the answers takes more of the
 * machine than the service does.
 */
export class Gits {
  readonly #clones: Clones
  #pushes = 0

  private constructor(made: Clones) {
    this.#clones = made
  }

  static async clone({ url }: Service, { projects, tokens }: World, git: GitClient): Promise<Gits> {
    const make = async (kind: string, number: number): Promise<Clone> => {
      const token = tokens[number % tokens.length]!
      const address = new URL(`${url}/${projects[number % projects.length]!.fullPath}.git`)
      const authorization = `Basic ${Buffer.from(`git:${token}`).toString('base64')}`
      const folder = git.folder(`${kind}-${number}`)
      await git.run([
        '-c',
        `http.extraHeader=Authorization: ${authorization}`,
        'clone',
        '--quiet',
        address.href,
        folder,
      ])
      const [tip, tree] = (await git.line(['-C', folder, 'rev-parse', 'HEAD', 'HEAD^{tree}'])).split('\n')
      return { url: address.href, authorization, tree: tree!, tip: tip! }
    }
    const made = { pull: [] as Clone[], push: [] as Clone[] }
    for (const kind of ['pull', 'push'] as const) {
      for (let number = 0; number < clones[kind]; number += 1) made[kind].push(await make(kind, number))
    }
    return new Gits(made)
  }

  /** Asks where the branch is and gets what is new. */
  readonly pull = async (number: number): Promise<void> => {
    const clone = this.#clones.pull[number]!
    await ask(clone, 'info/refs?service=git-upload-pack')
    const listed = await ask(clone, 'git-upload-pack', [
      packet('command=ls-refs\n'),
      delimiter,
      packet('ref-prefix refs/heads/main\n'),
      flush,
    ])
    const tip = /([0-9a-f]{40}) refs\/heads\/main/.exec(listed.toString('latin1'))?.[1]
    if (tip === undefined) throw new Error('there is no branch to pull')
    if (tip === clone.tip) return
    const got = await ask(clone, 'git-upload-pack', [
      packet('command=fetch'),
      delimiter,
      packet('ofs-delta'),
      packet('thin-pack'),
      packet(`want ${tip}\n`),
      packet(`have ${clone.tip}\n`),
      packet('done\n'),
      flush,
    ])
    if (!got.includes('PACK')) throw new Error('what was pulled has no pack')
    clone.tip = tip
  }

  /** Another commit that changes nothing. */
  readonly push = async (number: number): Promise<void> => {
    const clone = this.#clones.push[number]!
    const who = `Bench <bench@example.com> ${Math.floor(Date.now() / 1000)} +0000`
    const commit = Buffer.from(
      `tree ${clone.tree}\nparent ${clone.tip}\nauthor ${who}\ncommitter ${who}\n\nPush ${(this.#pushes += 1)}\n`,
    )
    const tip = sha1(Buffer.from(`commit ${commit.length}\0`), commit).toString('hex')
    await ask(clone, 'info/refs?service=git-receive-pack')
    const told = await ask(clone, 'git-receive-pack', [
      packet(`${clone.tip} ${tip} refs/heads/main\0 report-status\n`),
      flush,
      packOf(commit),
    ])
    if (!told.includes('ok refs/heads/main'))
      throw new Error(`a push was refused: ${told.toString('latin1')}`)
    clone.tip = tip
  }

  /** Clones by the real git what was pushed: all of it is there, and whole. */
  async check(git: GitClient, number: number): Promise<void> {
    const { url, authorization, tip } = this.#clones.push[number % clones.push]!
    const folder = git.folder(`check-${number}`)
    await git.run(['-c', `http.extraHeader=Authorization: ${authorization}`, 'clone', '--quiet', url, folder])
    await git.run(['-C', folder, 'fsck', '--strict'])
    const found = await git.line(['-C', folder, 'rev-parse', 'HEAD'])
    if (found !== tip) throw new Error(`the last push to ${url} is not there`)
  }
}

const flush = Buffer.from('0000')
const delimiter = Buffer.from('0001')

function packet(text: string): Buffer {
  return Buffer.from((Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text)
}

const sha1 = (...parts: readonly Buffer[]): Buffer => {
  const hash = createHash('sha1')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** A pack of one commit: its size stands in groups of bits behind its type. */
function packOf(commit: Buffer): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1')
  const sizes = [(1 << 4) | (commit.length & 15)]
  for (let rest = commit.length >> 4; rest > 0; rest >>= 7) {
    sizes[sizes.length - 1]! |= 128
    sizes.push(rest & 127)
  }
  const body = Buffer.concat([head, Buffer.from(sizes), deflateSync(commit)])
  return Buffer.concat([body, sha1(body)])
}

/** Gets, or with a body posts; the answer whole. */
async function ask({ url, authorization }: Clone, what: string, body?: readonly Buffer[]): Promise<Buffer> {
  const service = /git-[a-z]+-pack/.exec(what)![0]
  const reply = await fetch(`${url}/${what}`, {
    headers: {
      authorization,
      ...(service === 'git-upload-pack' && { 'git-protocol': 'version=2' }),
      ...(body && { 'content-type': `application/x-${service}-request` }),
    },
    ...(body && { method: 'POST', body: Buffer.concat(body) }),
  })
  const answer = Buffer.from(await reply.arrayBuffer())
  if (reply.status !== 200) throw new Error(`${what}: ${reply.status}`)
  return answer
}
