import { Readable } from 'node:stream'
import { GitError } from './git-error.ts'
import type { RefName } from './parse.ts'
import { flushPkt, pkt } from './pkt-line.ts'
import { bandOfData } from './remote-bands.ts'
import { readRemoteRefs, RemoteRefusal, type RemoteWire } from './remote-refs.ts'

const signature = '# v2 git bundle\n'

/**
 * The branch that the HEAD of a repository elsewhere names, with all its objects, as a bundle (gitformat-bundle(5)) in
 * which it is called `ref`. False: there is no such branch, and nothing is taken. Throws `too-large` past `maxSize`.
 */
export async function fetchBundle(
  wire: RemoteWire,
  ref: RefName | `refs/heads/${string}`,
  { maxSize }: { readonly maxSize: number | undefined },
  take: (bundle: Readable) => Promise<void>,
): Promise<boolean> {
  const { refs, head, capabilities } = await wire.greet('git-upload-pack', readRemoteRefs)
  if (capabilities.has('object-format=sha256')) {
    throw new RemoteRefusal('the other repository names objects in another way (SHA-256)')
  }
  const [, oid] = [...refs].find(([name]) => name === head) ?? []
  if (oid === undefined) return false
  if (!capabilities.has('side-band-64k')) throw new GitError('protocol', 'the other side is too old')
  const said = ['side-band-64k', 'ofs-delta', 'no-progress'].filter((one) => capabilities.has(one))
  const question = [pkt(`want ${oid} ${said.join(' ')} agent=guildhall\n`), flushPkt, pkt('done\n')]
  await wire.ask('git-upload-pack', Readable.from(question), async (answer) => {
    let line = await answer.pkt()
    while (Buffer.isBuffer(line) && /^(?:ACK|NAK)/.test(line.toString('latin1', 0, 3)))
      line = await answer.pkt()
    if (!Buffer.isBuffer(line)) throw new GitError('protocol', 'the other side sends nothing')
    const first = line
    async function* whole(): AsyncGenerator<Buffer> {
      yield Buffer.from(`${signature}${oid} ${ref}\n\n`)
      let size = 0
      for await (const chunk of bandOfData(answer, () => undefined, first)) {
        size += chunk.length
        if (maxSize !== undefined && size > maxSize) throw new GitError('too-large', 'the pack is too large')
        yield chunk
      }
    }
    await take(Readable.from(whole()))
  })
  return true
}
