import type { Duplex } from 'node:stream'
import {
  advertiseRefs,
  GitError,
  listRefs,
  uploadArchive,
  uploadPack,
  type ProtocolVersion,
} from '../../git/index.ts'
import { GitRefusal, messagePrefix, notices, shutOut } from '../git-http/index.ts'
import type { Admitted } from './admission.ts'
import type { GitCommand } from './command.ts'
import type { SshServices } from './index.ts'

/** One conversation of git over a channel, with the channel's back-pressure. The channel is left open. */
export async function transfer(
  services: SshServices,
  { service, fullPath }: GitCommand,
  admitted: Admitted,
  channel: Duplex,
  { version, signal }: { version: ProtocolVersion; signal: AbortSignal },
): Promise<void> {
  const { log, settings, sshAddress } = services
  const { actor, target } = admitted
  const repository = await target.open()
  if (service === 'git-upload-pack') {
    await noteDownload(services, admitted)
    const { complaint } = await uploadPack(repository, channel, channel, {
      version,
      statelessRpc: false,
      signal,
    })
    if (complaint !== undefined) log.info({ ...target.label, complaint }, 'a fetch ended early')
    return
  }
  const refs = await listRefs(repository, target.refsVersion)
  channel.write(advertiseRefs(repository, service, { refs, version, http: false }))
  const megabytes = settings.values.receive_max_input_size ?? 0
  try {
    const { problem } = await target.receive(actor, channel, channel, {
      signal,
      messagePrefix,
      ...(megabytes > 0 && { maxPackSize: megabytes * 1024 * 1024 }),
      afterwards: () => notices(services, admitted, { asked: fullPath, remote: sshAddress(target.fullPath) }),
    })
    if (problem !== undefined) log.info({ ...target.label, problem }, 'a push failed')
  } catch (error) {
    if (error instanceof GitError && error.failure === 'aborted') throw error
    // The client was told: its answer is whole.
    log.error({ err: error, ...target.label }, 'a push could not be taken in')
  }
}

/** The files of a commit, as `git archive --remote` asks for them. */
export async function sendArchive(
  services: SshServices,
  admitted: Admitted,
  channel: Duplex,
  signal: AbortSignal,
): Promise<void> {
  const { target } = admitted
  const repository = await target.open()
  await noteDownload(services, admitted)
  const { complaint } = await uploadArchive(repository, channel, { signal })
  if (complaint !== undefined) services.log.info({ ...target.label, complaint }, 'an archive ended early')
}

async function noteDownload({ noteDownload: note }: SshServices, { actor, target }: Admitted): Promise<void> {
  if (target.project !== undefined && (await note(actor, target.project.id))) {
    throw new GitRefusal(403, shutOut)
  }
}
