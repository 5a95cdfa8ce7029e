import { PassThrough } from 'node:stream'
import type { Actor, ProjectSubject } from '../../access/index.ts'
import {
  archive,
  canBzip2,
  findEntry,
  parsePath,
  resolve,
  type ArchiveFormat,
  type TreePath,
} from '../../git/index.ts'
import { matchesEtag, weakEtag } from '../../kernel/endpoint/headers.ts'
import { Answer, type RequestFacts } from '../../kernel/endpoint/index.ts'
import {
  forbidden,
  invalidParameters,
  notFound,
  tooManyRequests,
  type ApiError,
} from '../../kernel/errors/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { contentDisposition } from './header-text.ts'
import { readable, revOf } from './looking.ts'
import type { RepositoryServices } from './services.ts'

export const archiveFormats = ['tar.gz', 'tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2', 'tar', 'zip'] as const

export interface WantedArchive {
  /** Branch, tag or commit; the default branch otherwise. */
  readonly sha?: string | undefined
  readonly path?: string | undefined
  readonly exclude_paths: readonly string[]
  readonly include_lfs_blobs: boolean
  readonly format: (typeof archiveFormats)[number]
  /** Whether its name tells the commit; left out: yes. */
  readonly namesCommit?: boolean
}

/** The files of a commit, packed while they are sent. Throws the refusal. */
export type ArchiveAnswers = (
  who: { readonly actor: Actor; readonly project: ProjectSubject },
  wanted: WantedArchive,
  request: RequestFacts,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>

/** Archives of one project that somebody may ask for in a minute. */
const mostArchives = 5
const perSeconds = 60
const tooManyArchives = (): ApiError =>
  tooManyRequests(perSeconds, 'This archive has been requested too many times. Try again later.')

const containers: Readonly<Record<WantedArchive['format'], ArchiveFormat>> = {
  'tar.gz': 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  tar: 'tar',
  zip: 'zip',
}

const types: Readonly<Record<ArchiveFormat, string>> = {
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  tar: 'application/x-tar',
  zip: 'application/zip',
}

export function archiveAnswers(services: RepositoryServices): ArchiveAnswers {
  const { places, largeFiles, log } = services
  const limit = new RateLimit(mostArchives, perSeconds)
  const admitDownload = async (actor: Actor, project: ProjectSubject): Promise<void> => {
    const { user } = actor
    if (user !== null) limit.use(`${project.id}:${user.id}`, undefined, tooManyArchives)
    if (await services.noteDownload(actor, project.id)) throw forbidden()
  }
  return async ({ actor, project }, wanted, request, more = {}) => {
    const format = containers[wanted.format]
    const only = parsePath(wanted.path ?? '')
    const exclude = wanted.exclude_paths.map(parsePath)
    if (only === undefined) throw invalidParameters(['path is invalid'])
    if (exclude.some((excluded) => excluded === undefined || excluded === '')) {
      throw invalidParameters(['exclude_paths is invalid'])
    }
    const repository = await readable(places, project)
    const rev = revOf(wanted.sha)
    const commit = repository && rev && (await resolve(repository, rev))
    if (repository === undefined || commit === undefined) throw notFound('File')
    if (only !== '' && (await findEntry(repository, commit, only)) === undefined) throw notFound('File')
    if (format === 'tar.bz2' && !(await canBzip2())) throw notFound('File')

    const ref = (wanted.sha ?? project.defaultBranch ?? 'HEAD').replaceAll('/', '-')
    const parts = [
      project.path,
      ref,
      ...(wanted.namesCommit === false ? [] : [commit]),
      ...(only === '' ? [] : [only.replaceAll('/', '-')]),
    ]
    const name = parts.join('-')
    const etag = weakEtag(JSON.stringify([name, commit, wanted.format, exclude, wanted.include_lfs_blobs]))
    if (matchesEtag(request.headers['if-none-match'], etag)) return new Answer(304, { ...more, etag })
    const headers = {
      ...more,
      etag,
      'content-type': types[format],
      'content-disposition': contentDisposition('attachment', `${name}.${wanted.format}`),
    }
    if (request.method === 'HEAD') return new Answer(200, headers)
    await admitDownload(actor, project)
    const whole = wanted.include_lfs_blobs && (await largeFiles.mayHold(project.id))
    const output = new PassThrough()
    archive(repository, commit, output, {
      format,
      prefix: name as TreePath,
      path: only,
      exclude: exclude as TreePath[],
      largeFiles: whole
        ? {
            smallerThan: largeFiles.smallerThan,
            contentOf: (file) => largeFiles.find(project.id, file),
          }
        : undefined,
      signal: request.signal,
    }).catch((error: unknown) => {
      // Half an archive must not look like a whole one.
      output.destroy()
      if (!request.signal.aborted) log.warn({ err: error, project: project.id }, 'an archive broke off')
    })
    return new Answer(200, headers, output)
  }
}
