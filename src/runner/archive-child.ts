/**
 * A process of its own that packs and unpacks a job's files as the job's user, so that no link the job left can make
 * the runner read or write what the job may not. It is started with the runner's rights, as the job's user might not
 * be able to read this program, and gives them up before it looks at a file.
 */
import { realpath } from 'node:fs/promises'
import { selectFiles } from './archive-files.ts'
import { pack } from './archive-pack.ts'
import type { ArchiveMessage, ArchiveRequest, PackResult } from './archive-protocol.ts'
import { unpack } from './archive-unpack.ts'

process.once('message', (request) => void answer(request as ArchiveRequest))

async function answer(request: ArchiveRequest) {
  try {
    giveUpRights(request)
    if ((await realpath(request.project)) !== request.project) {
      throw new Error(`the project directory is not where it was: ${request.project}`)
    }
    await send(request.act === 'pack' ? { packed: await packAll(request) } : await unpackAll(request))
  } catch (error) {
    await send({ failed: error instanceof Error ? error.message : String(error) })
  }
  process.disconnect?.()
}

function giveUpRights({ user }: ArchiveRequest) {
  process.umask(0o022)
  if (user === undefined) return
  process.setgroups!([])
  process.setgid!(user.gid)
  process.setuid!(user.uid)
  if (process.getuid!() !== user.uid || process.geteuid!() !== user.uid) throw new Error('still privileged')
}

async function packAll({ project, packs }: ArchiveRequest & { act: 'pack' }) {
  const tell = {
    line: (line: string) => void send({ line }),
    warn: (warning: string) => void send({ warning }),
  }
  const results: PackResult[] = []
  for (const request of packs) {
    results.push(await pack(project, request, await selectFiles(project, request, tell)))
  }
  return results
}

async function unpackAll({
  project,
  descriptors,
}: ArchiveRequest & { act: 'unpack' }): Promise<ArchiveMessage> {
  for (const descriptor of descriptors) await unpack(project, descriptor)
  return { unpacked: true }
}

async function send(message: ArchiveMessage) {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  process.send!(message, () => resolve(undefined))
  await promise
}
