import {
  endpoint,
  userOf,
  Visibility,
  visibilityNames,
  type Actor,
  type InstanceSubject,
  type ProjectSubject,
  type VisibilityName,
} from '../../access/index.ts'
import { findBlob, parseFilePath, parseRev, resolve } from '../../git/index.ts'
import { forbidden, invalid, invalidParameters, notFound } from '../../kernel/errors/index.ts'
import {
  DateTime,
  Fields,
  Id,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  type Answer,
  type Endpoint,
  type RequestFacts,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { contentDisposition, rawAnswer } from '../repository/index.ts'
import { needsCaptchaAnswer, type Said } from '../spam/index.ts'
import { snippet, Snippet, UserAgent, type SnippetRow } from './entities.ts'
import { branchOf } from './files.ts'
import type { SnippetRoom } from './index.ts'
import type { Place } from './places.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { viewOf } from './view.ts'

const dates = {
  created_after: Optional(DateTime()),
  created_before: Optional(DateTime()),
}
const texts = {
  description: Optional(Nullable(Text())),
  content: Optional(Text({ blank: false })),
  file_name: Optional(Text({ blank: false })),
}
const newFile = Fields({ file_path: Text({ blank: false }), content: Text({ blank: false }) })
const changedFile = Fields({
  action: OneOf('create', 'update', 'delete', 'move'),
  file_path: Optional(Text()),
  previous_path: Optional(Text()),
  content: Optional(Text()),
})

/** The lists of one place. */
export function listEndpoint<Kind extends SubjectKind>(
  room: SnippetRoom,
  place: Place<Kind>,
  {
    path,
    kind,
    may,
    summary,
  }: { path: string; kind: store.ListKind; may: Place<Kind>['listing']; summary: string },
): Endpoint {
  return endpoint({
    method: 'GET',
    path,
    summary,
    on: place.on,
    may,
    paged: true,
    params: Fields(dates),
    answers: ListOf(Snippet),
    read: ({ params, page }) => store.list(kind, params, page),
    handle: async ({ rows, actor }) => rows.map((row) => snippet(row, viewOf(room, actor))),
  })
}

/** The endpoints of single snippets of one place. */
export function snippetEndpoints<Kind extends SubjectKind>(
  room: SnippetRoom,
  place: Place<Kind>,
): Endpoint[] {
  const { db, files, settings, spam } = room
  const { on, path, single, called } = place
  const id = { snippet_id: Id() }
  const about = {
    on,
    record: 'Snippet',
    read: ({ params }: { params: { snippet_id: number } }) =>
      store.one(place.kind === 'project' ? 'project' : 'personal', params.snippet_id),
  } as const
  const reading = { ...about, method: 'GET', may: place.reading, anonymous: true } as const
  const shown = async (snippetId: number, actor: Actor) => {
    const row = await store.find(db.reader, snippetId)
    if (row === undefined) throw notFound('Snippet')
    return snippet(row, viewOf(room, actor))
  }
  const raw = async (row: SnippetRow, ref: string | undefined, path: string, request: RequestFacts) => {
    const repository = files.of(row)
    const named = ref === undefined || ref === 'HEAD' ? branchOf(row) : parseRev(ref)
    const file = parseFilePath(path)
    const commit = named === undefined ? undefined : await resolve(repository, named)
    if (commit === undefined || file === undefined) throw notFound('Reference/File')
    const blob = await findBlob(repository, commit, file)
    if (blob === undefined) throw notFound('File')
    return rawAnswer({ repository, ...blob }, request, {
      'content-disposition': contentDisposition('inline', path),
    })
  }

  return [
    endpoint({
      ...reading,
      path: single,
      summary: `Get a snippet of ${called}`,
      params: Fields(id),
      answers: Snippet,
      handle: async ({ rows, actor }) => snippet(rows[0]!, viewOf(room, actor)),
    }),

    endpoint({
      ...reading,
      path: `${single}/raw`,
      summary: `Get the content of the first file of a snippet of ${called}`,
      params: Fields(id),
      answers: Json({ description: 'The bytes of the file' }),
      handle: ({ rows, request }): Promise<Answer> =>
        raw(rows[0]!, undefined, rows[0]!.files[0] ?? '', request),
    }),

    endpoint({
      ...reading,
      path: `${single}/files/:ref/:file_path/raw`,
      summary: `Get the content of a file of a snippet of ${called}`,
      params: Fields(id),
      answers: Json({ description: 'The bytes of the file' }),
      refuses: { 404: 'No such snippet, commit or file' },
      handle: ({ rows, params, request }): Promise<Answer> =>
        raw(rows[0]!, params.ref, params.file_path, request),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a snippet of ${called}`,
      on,
      may: place.creating,
      params: Fields({
        title: Text({ blank: false }),
        ...texts,
        visibility:
          place.kind === 'project' ? OneOf(...visibilityNames) : Optional(OneOf(...visibilityNames)),
        files: Optional(ListOf(newFile)),
      }),
      rules: { exactlyOneOf: [['files', 'content']], mutuallyExclusive: [['files', 'file_name']] },
      answers: Snippet,
      refuses: { 403: 'The visibility is restricted', ...needsCaptchaAnswer },
      async handle(call) {
        const { params, actor, request } = call
        const { values } = settings
        if (params.content !== undefined && params.file_name === undefined)
          throw invalidParameters(['file_name is missing'])
        rules.checkTitle(params.title)
        const wanted = (params.visibility as VisibilityName | undefined) ?? values.default_snippet_visibility
        const visibility = rules.checkVisibility(actor, wanted, values.restricted_visibility_levels)
        const sent = params.files ?? [{ file_path: params.file_name!, content: params.content! }]
        const actions = rules.newFiles(sent, values.snippet_size_limit)
        const fresh = {
          id: await store.nextId(db.writer),
          storage: 'default',
          default_branch: values.default_branch_name ?? 'main',
        }
        const subject = place.subject(call)
        if (isShownToAll(subject, visibility))
          await spam.check(
            spamOf(call, subject, {
              title: params.title,
              parts: [params.description, ...contents(sent)],
              files: actions.map(({ path }) => path),
            }),
          )
        const written = await files.create(fresh, actor, actions)
        await store.create(db.writer, {
          id: fresh.id,
          default_branch: fresh.default_branch,
          project_id: subject.kind === 'project' ? subject.id : null,
          author_id: userOf(actor).id,
          title: params.title,
          description: params.description ?? null,
          visibility,
          files: written,
          user_agent: request.headers['user-agent'] ?? null,
          ip_address: request.ip,
        })
        return shown(fresh.id, actor)
      },
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: single,
      summary: `Change a snippet of ${called}`,
      may: place.changing,
      params: Fields({
        ...id,
        title: Optional(Text({ blank: false })),
        ...texts,
        visibility: Optional(OneOf(...visibilityNames)),
        files: Optional(ListOf(changedFile)),
      }),
      rules: {
        atLeastOneOf: [['title', 'description', 'files', 'content', 'file_name', 'visibility']],
        mutuallyExclusive: [
          ['files', 'content'],
          ['files', 'file_name'],
        ],
      },
      answers: Snippet,
      refuses: { 403: 'Somebody else wrote it, or the visibility is restricted', ...needsCaptchaAnswer },
      async handle(call) {
        const { params, actor, rows } = call
        const row = rows[0]!
        const subject = place.subject(call)
        if (!place.mayChange(actor, subject, row)) throw forbidden()
        rules.checkTitle(params.title)
        const { values } = settings
        const { content, file_name } = params
        const visibility =
          params.visibility === undefined
            ? undefined
            : rules.checkVisibility(actor, params.visibility, values.restricted_visibility_levels)
        const sent =
          params.files ??
          (content === undefined && file_name === undefined
            ? []
            : rules.changeOfOnlyFile({ content, file_name }, row.files))
        const actions = rules.changes(sent, row.files, values.snippet_size_limit)
        const { title, description } = params
        if (isShownToAll(subject, visibility ?? row.visibility))
          await spam.check(
            spamOf(call, subject, {
              title: title ?? row.title,
              parts: [description ?? row.description, ...contents(sent)],
              files: actions.map(({ path }) => path),
              before: row,
            }),
          )
        if (actions.length > 0) await files.change(row, actor, actions)
        await store.change(db.writer, row.id, { title, description, visibility })
        return shown(row.id, actor)
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: single,
      summary: `Delete a snippet of ${called}`,
      may: place.changing,
      params: Fields(id),
      answers: null,
      refuses: { 403: 'Somebody else wrote it' },
      async handle(call) {
        const row = call.rows[0]!
        if (!place.mayRemove(call.actor, place.subject(call), row)) throw forbidden()
        requireUnmodified(call.request, row.updated_at)
        await store.remove(db.writer, row.id)
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: `${single}/user_agent_detail`,
      summary: `Get what is known of the client that created a snippet of ${called}`,
      may: place.inspecting,
      params: Fields(id),
      answers: UserAgent,
      async handle({ rows }) {
        const detail = await store.userAgent(db.reader, rows[0]!.id)
        if (detail === undefined) throw notFound('UserAgentDetail')
        return { ...detail, akismet_submitted: false }
      },
    }),
  ]
}

function isShownToAll(
  subject: { readonly kind: string; readonly visibility?: number },
  visibility: number,
): boolean {
  return visibility === Visibility.public && (subject.visibility ?? Visibility.public) === Visibility.public
}

function contents(files: readonly { readonly content?: string | undefined }[]): (string | undefined)[] {
  return files.map(({ content }) => content)
}

/** What a snippet says, for who looks for spam in it. */
function spamOf(
  { actor, request }: { readonly actor: Actor; readonly request: RequestFacts },
  subject: ProjectSubject | InstanceSubject,
  {
    parts,
    ...said
  }: Pick<Said, 'title' | 'files' | 'before'> & {
    readonly parts: readonly (string | null | undefined)[]
  },
): Said {
  return {
    ...said,
    kind: 'snippet',
    text: parts.filter((part) => part).join('\n\n'),
    actor,
    place: subject.kind === 'project' ? subject : undefined,
    request,
    refusal: (reason) => invalid({ base: [reason] }),
  }
}
