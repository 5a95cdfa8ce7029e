import { newObject, packBody, packHeader } from '../src/git/pack-writer.ts'
import { delimiterPkt, flushPkt, pkt } from '../src/git/pkt-line.ts'
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
      pkt('command=ls-refs\n'),
      delimiterPkt,
      pkt('ref-prefix refs/heads/main\n'),
      flushPkt,
    ])
    const tip = /([0-9a-f]{40}) refs\/heads\/main/.exec(listed.toString('latin1'))?.[1]
    if (tip === undefined) throw new Error('there is no branch to pull')
    if (tip === clone.tip) return
    const got = await ask(clone, 'git-upload-pack', [
      pkt('command=fetch'),
      delimiterPkt,
      pkt('ofs-delta'),
      pkt('thin-pack'),
      pkt(`want ${tip}\n`),
      pkt(`have ${clone.tip}\n`),
      pkt('done\n'),
      flushPkt,
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
    const object = newObject('commit', commit)
    const tip = object.oid
    await ask(clone, 'info/refs?service=git-receive-pack')
    const told = await ask(clone, 'git-receive-pack', [
      pkt(`${clone.tip} ${tip} refs/heads/main\0 report-status\n`),
      flushPkt,
      packHeader(1),
      ...(await Array.fromAsync(packBody([object]))),
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
