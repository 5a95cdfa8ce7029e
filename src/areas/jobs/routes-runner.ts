import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { endpoint, job } from '../../access/index.ts'
import { extractCoverage, failureReasons } from '../../ci/index.ts'
import type { Blob } from '../../blobs/index.ts'
import {
  ApiError,
  forbidden,
  invalidParameters,
  preconditionFailed,
  refused,
  tooLarge,
} from '../../kernel/errors/index.ts'
import {
  Answer,
  Fields,
  Float,
  Flag,
  Id,
  Int,
  Json,
  OneOf,
  Optional,
  Text,
  UploadedFile,
  type Endpoint,
  type RequestFacts,
} from '../../kernel/endpoint/index.ts'
import { readMultipart } from '../../kernel/endpoint/multipart.ts'
import { artifactFormats, checkKind, expiryOf, readDotenv } from './artifact-rules.ts'
import * as artifacts from './artifacts-store.ts'
import type { JobServices } from './index.ts'
import type { RateLimits } from './rate-limits.ts'
import { contentRange, requireProcessing, runnerJob, type RunnerJobRow } from './runner-facts.ts'
import { markDebugTrace } from './store.ts'
import type { Traces } from './traces.ts'

const largestPiece = 16 * 1024 * 1024
/** Bytes at the end of a log in which a coverage is looked for. */
const coverageTail = 16 * 1024 * 1024
const largestExitCode = 32_767

const token = Optional(Text({ description: 'Token of the job, if not in the header JOB-TOKEN' }))

/** What the runner of a job calls (completions, 8.4 to 8.7). */
export function runnerEndpoints(services: JobServices, traces: Traces, limits: RateLimits): Endpoint[] {
  const { db, process, blobs, settings } = services
  /** Bytes of one artifact. */
  const limitOf = (job: RunnerJobRow | undefined): number =>
    (job?.max_artifacts_size ?? settings.values.max_artifacts_size) * 1024 * 1024
  const headers = (id: number, status: string): Record<string, string> => ({
    'job-status': status,
    'x-gitlab-trace-update-interval': String(traces.interval(id)),
  })
  const plain = (status: number, more: Record<string, string> = {}): Answer =>
    new Answer(status, { 'content-type': 'application/json', ...more }, `"${status}"`)

  return [
    endpoint({
      method: 'PUT',
      path: '/jobs/:id',
      summary: 'Tell how a job is doing, as its runner',
      on: job,
      may: 'act_as_job',
      plainText: true,
      params: Fields({
        token,
        state: Optional(Text({ description: 'running, success or failed' })),
        failure_reason: Optional(Text()),
        exit_code: Optional(Int()),
        checksum: Optional(Text()),
        output: Optional(Fields({ checksum: Optional(Text()), bytesize: Optional(Float()) })),
        info: Optional(Json()),
      }),
      answers: Text(),
      refuses: { 403: 'Not a job that runs', 412: 'The log is not here as a whole' },
      read: runnerJob,
      async handle({ job, params, rows }) {
        limits.jobCalls.use(job.id)
        requireProcessing(job)
        const { state, output } = params
        if (state === undefined || state === 'running') {
          await traces.touch(job.id)
          return plain(200, headers(job.id, job.status))
        }
        if (state !== 'success' && state !== 'failed') return plain(400)
        if (output !== undefined && !(await isWhole(traces, job.id, output))) throw preconditionFailed()
        const ended = await process.end(
          { id: job.id, pipelineId: job.pipelineId },
          {
            to: state,
            reason: state === 'failed' ? knownReason(params.failure_reason) : null,
            exitCode: exitCode(params.exit_code),
            coverage: await coverageOf(traces, job.id, rows[0]?.coverage ?? null),
          },
          ['running', 'canceling'],
        )
        if (!ended) throw forbidden('Job is not processing on runner')
        await traces.finish(job.id)
        return plain(200, headers(job.id, job.status === 'canceling' ? 'canceled' : state))
      },
    }),

    endpoint({
      method: 'PATCH',
      path: '/jobs/:id/trace',
      summary: 'Append to the log of a job, as its runner',
      on: job,
      may: 'act_as_job',
      body: 'stream',
      params: Fields({ token, debug_trace: Flag({ default: false }) }),
      answers: Text(),
      status: 202,
      refuses: { 403: 'Not a job that runs, or its log is too long', 416: 'The log does not end there' },
      read: runnerJob,
      async handle({ job, params, rows, request }) {
        limits.trace.use(job.id)
        requireProcessing(job)
        const header = request.headers['content-range']
        if (header === undefined) throw new ApiError(400, { error: '400 Missing header Content-Range' })
        const range = contentRange(header)
        const piece = await readPiece(request.body)
        if (
          range === undefined ||
          (range.last >= range.first && range.last - range.first + 1 !== piece.length)
        ) {
          throw await notSatisfiable(traces, job.id)
        }
        const most = settings.limits.ci_jobs_trace_size_limit * 1024 * 1024
        if (most > 0 && range.first + piece.length > most) {
          if (range.first !== (await traces.size(job.id))) throw await notSatisfiable(traces, job.id)
          await process.drop({ id: job.id, pipelineId: job.pipelineId }, 'trace_size_exceeded', ['running'])
          throw new ApiError(403, { error: '403 Forbidden' }, { 'job-status': 'failed' })
        }
        if (params.debug_trace && rows[0]?.debug_trace === false) await markDebugTrace(db.writer, job.id)
        const { taken } = await traces.append(job.id, range.first, piece)
        if (!taken) throw await notSatisfiable(traces, job.id)
        const more = { ...headers(job.id, job.status), range: `0-${range.first + piece.length}` }
        return plain(202, more)
      },
    }),

    endpoint({
      method: 'POST',
      path: '/jobs/:id/artifacts/authorize',
      summary: 'Ask whether an upload would be taken, as the runner of a job',
      on: job,
      may: 'act_as_job',
      plainText: true,
      params: Fields({ token, filesize: Optional(Id()), artifact_type: Optional(Text()) }),
      answers: Fields({}),
      status: 200,
      read: runnerJob,
      async handle({ job, params, rows }) {
        requireProcessing(job)
        if ((params.filesize ?? 0) > limitOf(rows[0])) throw artifactTooLarge()
        return {}
      },
    }),

    endpoint({
      method: 'POST',
      path: '/jobs/:id/artifacts',
      summary: 'Upload artifacts of a job, as its runner',
      on: job,
      may: 'act_as_job',
      body: 'stream',
      params: Fields({
        token,
        artifact_type: Text({ default: 'archive' }),
        artifact_format: OneOf(artifactFormats, { default: 'zip' }),
        expire_in: Optional(Text()),
        accessibility: OneOf(['public', 'private'], { default: 'public' }),
      }),
      answers: Text(),
      refuses: { 400: 'There is another of this type', 413: 'Too large' },
      read: runnerJob,
      async handle({ job, params, rows, request }) {
        limits.jobCalls.use(job.id)
        requireProcessing(job)
        checkKind(params.artifact_type, params.artifact_format)
        const expireAt = expiryOf(params.expire_in, settings.values.default_artifacts_expire_in, new Date())
        const limit = limitOf(rows[0])
        const file = await takeUpload(request, (content) => blobs.put(content, limit, artifactTooLarge))
        try {
          if (params.artifact_type === 'dotenv') {
            const { dotenv_size: size, dotenv_variables: variables } = settings.limits
            readDotenv(await buffer(blobs.read(file.stored.digest)), { size, variables })
          }
          const outcome = await artifacts.add(db, blobs, {
            projectId: job.projectId,
            jobId: job.id,
            fileType: params.artifact_type,
            fileFormat: params.artifact_format,
            filename: file.filename === '' ? 'artifacts.zip' : file.filename.slice(0, 255),
            size: file.stored.size,
            digest: file.stored.digest,
            access: params.accessibility,
            expireAt,
          })
          if (outcome === 'duplicate') throw refused(400, 'another artifact of the same type already exists')
        } catch (error) {
          if (error instanceof ApiError) await artifacts.removeContent(db, blobs, [file.stored.digest])
          throw error
        }
        return plain(201)
      },
    }),
  ]
}

const artifactTooLarge = (): Error => tooLarge('file size has reached maximum size limit')

async function takeUpload(
  { body, headers }: RequestFacts,
  store: (content: Readable) => Promise<Blob>,
): Promise<UploadedFile<Blob>> {
  const form = await readMultipart(Object.assign(body, { headers }), {
    takeFile: (name, content) => (name === 'file' ? store(content) : undefined),
    parts: 20,
  })
  const file = form['file']
  if (!(file instanceof UploadedFile)) throw invalidParameters(['file is missing'])
  return file as UploadedFile<Blob>
}

async function readPiece(body: Readable): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > largestPiece) throw tooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts, size)
}

async function notSatisfiable(traces: Traces, jobId: number): Promise<ApiError> {
  return new ApiError(416, { error: '416 Range Not Satisfiable' }, { range: `0-${await traces.size(jobId)}` })
}

/**
 * Whether the log is what the runner says it sent. Something of it lost on the way, it sends that again; one that came
 * out another is begun anew, once: what differs after that, too, is taken as it is.
 */
async function isWhole(
  traces: Traces,
  jobId: number,
  { bytesize, checksum }: { readonly bytesize?: number; readonly checksum?: string },
): Promise<boolean> {
  const size = await traces.size(jobId)
  if (bytesize !== undefined && size < bytesize) return false
  const sent = /^crc32:([0-9a-f]{1,8})$/i.exec(checksum ?? '')?.[1]
  if (sent === undefined || (await traces.checksum(jobId)) === Number.parseInt(sent, 16)) return true
  return !(await traces.restart(jobId))
}

async function coverageOf(traces: Traces, jobId: number, pattern: string | null): Promise<number | null> {
  if (pattern === null) return null
  const trace = await traces.read(jobId, { last: coverageTail })
  return trace === undefined ? null : extractCoverage((await buffer(trace.content)).toString('utf8'), pattern)
}

function knownReason(reason: string | undefined): string {
  return reason !== undefined && Object.hasOwn(failureReasons, reason) ? reason : 'unknown_failure'
}

function exitCode(code: number | undefined): number | null {
  return code === undefined || Math.abs(code) > largestExitCode ? null : code
}
