import { spawn } from 'node:child_process'
import { open, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { ArchiveMessage, ArchiveRequest, PackRequest, PackResult } from './archive-protocol.ts'
import type { JobUser } from './job-user.ts'
import { signalGroup } from './process-group.ts'
import type { Trace } from './trace.ts'

export interface ArchiveContext {
  user: JobUser | undefined
  project: string
  home: string
  trace: Trace
  signal: AbortSignal
}

export interface Packing extends Omit<PackRequest, 'descriptor'> {
  /** Where the archive goes: a new file of the runner. */
  file: string
}

/** Makes archives of the job's files; each result stands at the place of its request. */
export async function packFiles(context: ArchiveContext, packings: Packing[]): Promise<PackResult[]> {
  const handles = await openAll(packings.map(({ file }) => [file, 'wx', 0o600]))
  try {
    const packs = packings.map(({ file: _, ...rest }, index) => ({
      ...rest,
      descriptor: firstDescriptor + index,
    }))
    const message = await ask(context, handles, { act: 'pack', packs })
    if ('packed' in message) return message.packed
    throw new Error('the archiver gave no result')
  } finally {
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

/** Unpacks archives into the project, in order. */
export async function unpackFiles(context: ArchiveContext, files: string[]): Promise<void> {
  const handles = await openAll(files.map((file) => [file, 'r']))
  try {
    const descriptors = files.map((_, index) => firstDescriptor + index)
    await ask(context, handles, { act: 'unpack', descriptors })
  } finally {
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

async function openAll(files: Parameters<typeof open>[]) {
  const handles: FileHandle[] = []
  try {
    for (const file of files) handles.push(await open(...file))
  } catch (error) {
    await Promise.all(handles.map((handle) => handle.close()))
    throw error
  }
  return handles
}

// 0 to 2 are the usual ones, 3 is the channel.
const firstDescriptor = 4

type Question =
  | Omit<Extract<ArchiveRequest, { act: 'pack' }>, 'user' | 'project'>
  | Omit<Extract<ArchiveRequest, { act: 'unpack' }>, 'user' | 'project'>

async function ask(
  context: ArchiveContext,
  handles: FileHandle[],
  question: Question,
): Promise<ArchiveMessage> {
  const { user, project, home, trace, signal } = context
  signal.throwIfAborted()
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'archive-child.ts')], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...handles.map(({ fd }) => fd)],
    detached: true,
  })
  const kill = () => signalGroup(child, 'SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const { promise, resolve, reject } = Promise.withResolvers<ArchiveMessage>()
  let complaint = ''
  child.stderr!.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)))
  child.on('message', (received) => {
    const message = received as ArchiveMessage
    if ('line' in message) trace.line(message.line)
    else if ('warning' in message) trace.warn(message.warning)
    else if ('failed' in message) reject(new Error(message.failed))
    else resolve(message)
  })
  child.once('error', reject)
  child.once('close', (code) => reject(new Error(`the archiver ended early (${code}): ${complaint.trim()}`)))
  try {
    child.send({ ...question, user, project } satisfies ArchiveRequest)
    return await promise
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}
