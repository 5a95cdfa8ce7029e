import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { STATUS_CODES } from 'node:http'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Answer, Api } from './api.ts'
import { packFiles, unpackFiles, type ArchiveContext, type Packing } from './archive.ts'
import { fileForm } from './multipart.ts'
import { due, type ArtifactEntry, type Dependency, type JobPayload } from './payload.ts'
import { retrying } from './retry.ts'

export interface ArtifactContext extends ArchiveContext {
  api: Api
  job: JobPayload
  /** The runner's own folder of the job. */
  root: string
  environment: Readonly<Record<string, string | undefined>>
  expand: (text: string) => string
}

/** What the server or the network did not let us do; it fails the job, and the message is shown. */
export class ArtifactFailure extends Error {}

export function dueArtifacts(job: JobPayload, succeeded: boolean) {
  return (job.artifacts ?? []).filter((entry) => due(entry.when, succeeded))
}

/** Packs and uploads; files that do not exist are told but fail nothing. */
export async function uploadArtifacts(context: ArtifactContext, entries: ArtifactEntry[]) {
  const { trace, root } = context
  trace.line('Uploading artifacts...')
  const packings = entries.map((entry, index) =>
    packingOf(context, entry, path.join(root, `artifact-${index}`)),
  )
  const results = await packFiles(context, packings)
  for (const [index, entry] of entries.entries()) {
    const { entries: count, name } = results[index]!
    if (count === 0) trace.error('No files to upload')
    else await upload(context, entry, packings[index]!.file, archiveName(context, entry, name))
    await rm(packings[index]!.file, { force: true })
  }
}

const levels: Record<string, number> = { fastest: 1, fast: 3, default: 6, slow: 8, slowest: 9 }

export function compressionLevel(name: string | undefined) {
  return levels[name?.toLowerCase() ?? ''] ?? 6
}

function packingOf({ expand, environment }: ArtifactContext, entry: ArtifactEntry, file: string): Packing {
  const format = formatOf(entry)
  return {
    file,
    format,
    paths: (entry.paths ?? []).map(expand).filter((pattern) => pattern !== ''),
    exclude: (entry.exclude ?? []).map(expand),
    untracked: entry.untracked === true,
    level: compressionLevel(environment.ARTIFACT_COMPRESSION_LEVEL),
  }
}

function formatOf({ artifact_format: format }: ArtifactEntry) {
  if (format == null || format === '' || format === 'zip') return 'zip'
  if (format === 'gzip' || format === 'raw') return format
  throw new ArtifactFailure(`unknown artifact format: ${format}`)
}

function archiveName({ expand }: ArtifactContext, entry: ArtifactEntry, only: string | undefined) {
  const format = formatOf(entry)
  if (format === 'raw' && only !== undefined) return path.posix.basename(only)
  const wished = path.posix.basename(expand(entry.name ?? '').replaceAll(/[/\\]/g, '_'))
  const name = wished === '' ? (entry.artifact_type ?? 'artifacts') : wished
  if (format === 'gzip') return `${name}.gz`
  return `${name === 'archive' ? 'artifacts' : name}.zip`
}

async function upload(context: ArtifactContext, entry: ArtifactEntry, file: string, name: string) {
  const { api, job, trace, signal } = context
  const type = entry.artifact_type ?? 'archive'
  const query = new URLSearchParams({ artifact_type: type, artifact_format: formatOf(entry) })
  if (entry.expire_in) query.set('expire_in', entry.expire_in)
  if (entry.access) query.set('accessibility', entry.access)
  const form = await fileForm(file, name)
  const what = `Uploading artifacts as "${type}" to coordinator...`
  const send = () =>
    api.call({
      method: 'POST',
      path: `/jobs/${job.id}/artifacts?${query.toString()}`,
      headers: { 'job-token': job.token, ...form.headers },
      body: form.body,
      signal,
      // The server may have to store it before it answers.
      timeout: 600_000,
    })
  const answer = await attempt(what, () =>
    retrying(send, { signal, onRetry: (why) => trace.warn(`${what} ${why}, repeated`) }),
  )
  if (answer.status === 201) trace.line(`${what} ${said(answer)} id=${job.id}`)
  else throw new ArtifactFailure(`${what} ${said(answer)}${explanation(answer)}`)
}

/** Fetches the artifacts of the jobs this one depends on into the project. */
export async function downloadArtifacts(context: ArtifactContext, dependencies: Dependency[]) {
  const files: string[] = []
  for (const dependency of dependencies) files.push(await download(context, dependency))
  await unpackFiles(context, files)
  await Promise.all(files.map((file) => rm(file, { force: true })))
}

async function download(context: ArtifactContext, dependency: Dependency) {
  const { api, trace, root, signal, environment } = context
  const attempts = Math.max(1, Math.trunc(Number(environment.ARTIFACT_DOWNLOAD_ATTEMPTS)) || 1)
  const file = path.join(root, `dependency-${dependency.id}.zip`)
  const what = `Downloading artifacts for ${dependency.name} (${dependency.id}) from coordinator...`
  const fetch = async () => {
    const answer = await api.stream({
      method: 'GET',
      path: `/jobs/${dependency.id}/artifacts?direct_download=true`,
      headers: { 'job-token': dependency.token },
      signal,
    })
    if (answer.status === 200) await pipeline(answer.body, createWriteStream(file, { mode: 0o600 }))
    return answer
  }
  const answer = await attempt(what, () => retrying(fetch, { attempts: 5 + attempts, signal }))
  if (answer.status !== 200) throw new ArtifactFailure(`${what} ${said(answer)}${explanation(answer)}`)
  trace.line(`${what} ${said(answer)} id=${dependency.id}`)
  return file
}

async function attempt(what: string, work: () => Promise<Answer>) {
  try {
    return await work()
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw new ArtifactFailure(`${what} ${cause}`, { cause: error })
  }
}

function said({ status }: Answer) {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim()
}

/** What the server says about it, as one line. */
function explanation({ status, text }: Answer) {
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown }
    const reason = message ?? error
    if (reason !== undefined) return `: ${typeof reason === 'string' ? reason : JSON.stringify(reason)}`
  } catch {
    // Not of the service itself but of something in between.
  }
  return status === 413 ? ': the archive is too large' : ''
}
