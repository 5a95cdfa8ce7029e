import { endpoint, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import {
  blobSize,
  findCommit,
  findEntry,
  lastCommitFor,
  parsePath,
  readBlob,
  rootPath,
  type Oid,
  type Repository,
  type TreePath,
} from '../../../git/index.ts'
import {
  Fields,
  Flag,
  Int,
  Json,
  OneOf,
  Optional,
  Text,
  type Endpoint,
  type RequestFacts,
} from '../../../kernel/endpoint/index.ts'
import { invalidParameters, notFound } from '../../../kernel/errors/index.ts'
import { contentDigest, jsonWithContent, largeAnswer, rawAnswer } from '../blob-answer.ts'
import { contentDisposition, headerText } from '../header-text.ts'
import { readable, revOf } from '../looking.ts'
import type { LargeFile, RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository/files/:file_path'
const scopes = ['read_repository']

const File = Fields({
  file_name: Text(),
  file_path: Text(),
  size: Int(),
  encoding: OneOf('base64'),
  content: Text(),
  content_sha256: Text(),
  ref: Text(),
  blob_id: Text(),
  commit_id: Text(),
  last_commit_id: Text(),
  execute_filemode: Flag(),
})

export function fileEndpoints(services: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Get a file with its content',
      description: 'HEAD answers the same facts in the headers `X-Gitlab-*`.',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      scopes,
      params: Fields({ ref: Optional(Text({ description: 'Required. Branch, tag or commit; `HEAD`' })) }),
      answers: File,
      refuses: { 404: 'No such commit or file' },
      async handle({ project, params, request }) {
        const { ref } = params
        if (ref === undefined) throw invalidParameters(['ref is missing', 'ref is empty'])
        if (ref.trim() === '') throw invalidParameters(['ref is empty'])
        const found = await findFile(services, project, params.file_path, ref, request)
        const { file_name, file_path, size, encoding, ...rest } = found.facts
        return jsonWithContent(
          found,
          { before: { file_name, file_path, size, encoding }, after: rest },
          request,
          factHeaders(found.facts),
        )
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/raw`,
      summary: 'Get the content of a file',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      scopes,
      params: Fields({
        ref: Optional(Text({ description: 'Branch, tag or commit; the default branch otherwise' })),
        lfs: Flag({
          default: false,
          description: 'Of a file in Git LFS the content, not what stands for it',
        }),
      }),
      answers: Json({ description: 'The bytes of the file' }),
      refuses: { 404: 'No such commit or file' },
      async handle({ project, params, request }) {
        const found = await findFile(services, project, params.file_path, params.ref ?? 'HEAD', request)
        const headers = {
          ...factHeaders(found.facts),
          'content-disposition': contentDisposition('inline', found.facts.file_name),
        }
        const large = params.lfs ? await largeFileOf(services, project, found) : undefined
        return large === undefined ? rawAnswer(found, request, headers) : largeAnswer(large, request, headers)
      },
    }),
  ]
}

async function largeFileOf(
  { largeFiles }: RepositoryServices,
  project: ProjectSubject,
  { repository, oid, size }: FoundFile,
): Promise<LargeFile | undefined> {
  if (size >= largeFiles.smallerThan) return undefined
  const content = await readBlob(repository, oid, largeFiles.smallerThan)
  return content && largeFiles.find(project.id, content)
}

interface FoundFile {
  readonly repository: Repository
  readonly oid: Oid
  readonly size: number
  readonly path: TreePath
  readonly commit: Oid
  readonly facts: Facts
}

/** What is said of a file, in the order it is said; the content comes after the encoding. */
interface Facts {
  readonly file_name: string
  readonly file_path: string
  readonly size: number
  readonly encoding: 'base64'
  readonly content_sha256: string
  readonly ref: string
  readonly blob_id: string
  readonly commit_id: string
  readonly last_commit_id: string
  readonly execute_filemode: boolean
}

/** A file of a commit; 404 where there is none. */
export async function findFile(
  { places }: RepositoryServices,
  project: ProjectSubject,
  text: string,
  ref: string,
  request: RequestFacts,
): Promise<FoundFile> {
  const filePath = pathOf(text)
  const repository = await readable(places, project)
  const rev = revOf(ref)
  const commit = repository && rev && (await findCommit(repository, rev))
  if (repository === undefined || commit === undefined) throw notFound('Commit')
  const entry = await findEntry(repository, commit.oid, filePath)
  const size = entry?.type === 'blob' ? await blobSize(repository, entry.oid) : undefined
  if (entry === undefined || size === undefined) throw notFound('File')
  const [digest, last] = await Promise.all([
    contentDigest(repository, entry.oid, request.signal),
    lastCommitFor(repository, commit.oid, filePath),
  ])
  return {
    repository,
    oid: entry.oid,
    size,
    path: filePath,
    commit: commit.oid,
    facts: {
      file_name: entry.name,
      file_path: entry.path,
      size,
      encoding: 'base64',
      content_sha256: digest,
      ref,
      blob_id: entry.oid,
      commit_id: commit.oid,
      last_commit_id: last?.oid ?? commit.oid,
      execute_filemode: entry.mode === '100755',
    },
  }
}

export function pathOf(text: string): TreePath {
  const filePath = parsePath(text)
  if (filePath === undefined) throw invalidParameters(['file_path should be a valid file path'])
  if (filePath === rootPath) throw notFound('File')
  return filePath
}

/** What HEAD tells of a file. */
export function factHeaders(facts: Facts): Record<string, string> {
  return {
    'x-gitlab-blob-id': facts.blob_id,
    'x-gitlab-commit-id': facts.commit_id,
    'x-gitlab-content-sha256': facts.content_sha256,
    'x-gitlab-encoding': facts.encoding,
    'x-gitlab-execute-filemode': String(facts.execute_filemode),
    'x-gitlab-file-name': headerText(facts.file_name),
    'x-gitlab-file-path': headerText(facts.file_path),
    'x-gitlab-last-commit-id': facts.last_commit_id,
    'x-gitlab-ref': headerText(facts.ref),
    'x-gitlab-size': String(facts.size),
  }
}
