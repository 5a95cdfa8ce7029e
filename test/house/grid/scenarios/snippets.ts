import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { plain, type Prepare, type Request, type Scenarios, type Stage } from '../stage.ts'

const fields = (stage: Stage, visibility: string): Json => ({
  title: stage.unique('snippet'),
  visibility,
  files: [{ file_path: 'a.txt', content: 'text' }],
})

/** A snippet of the stage's project, as visible as that. */
export async function snippetOf(stage: Stage, visibility: string = stage.visibility): Promise<number> {
  return idOf(await stage.make(`${stage.projectPath}/snippets`, fields(stage, visibility)))
}

const request = (snippet_id: number, body?: unknown): Request => ({
  path: { snippet_id, ref: 'main', file_path: 'a.txt' },
  ...(body !== undefined && { body }),
})
const kept: Prepare = async (stage) => request(await stage.once('snippet', () => snippetOf(stage)))
const fresh: Prepare = async (stage) => request(await snippetOf(stage))

/** A personal snippet of the administrator `root`. */
const personal =
  (visibility: string, body?: unknown): Prepare =>
  async (stage) => {
    const made = await stage.world.root.post('/snippets', fields(stage, visibility))
    return request(idOf(expectStatus(made, 201)), body)
  }

export const snippetScenarios: Scenarios = {
  'GET /projects/:id/snippets': { '': plain },
  'GET /projects/:id/snippets/:snippet_id': {
    'snippet visibility equals the project': kept,
    'private snippet': async (stage) =>
      request(await stage.once('private snippet', () => snippetOf(stage, 'private'))),
  },
  'GET /projects/:id/snippets/:snippet_id/raw': { '': kept },
  'GET /projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw': { '': kept },
  'GET /projects/:id/snippets/:snippet_id/user_agent_detail': { '': kept },
  'POST /projects/:id/snippets': { '': (stage) => ({ body: fields(stage, 'private') }) },
  'PUT /projects/:id/snippets/:snippet_id': {
    'snippet of another user': async (stage, caller, row) => ({
      ...(await kept(stage, caller, row)),
      body: { title: stage.unique('title') },
    }),
  },
  'DELETE /projects/:id/snippets/:snippet_id': { 'snippet of another user': fresh },
  'GET /snippets': { '': plain },
  'GET /snippets/public': { '': plain },
  'GET /snippets/all': { '': plain },
  'POST /snippets': { '': (stage) => ({ body: fields(stage, 'private') }) },
  'GET /snippets/:snippet_id': {
    'public snippet of another user': personal('public'),
    'internal snippet of another user': personal('internal'),
    'private snippet of another user': personal('private'),
  },
  'GET /snippets/:snippet_id/raw': { 'private snippet of another user': personal('private') },
  'GET /snippets/:snippet_id/files/:ref/:file_path/raw': {
    'private snippet of another user': personal('private'),
  },
  'GET /snippets/:snippet_id/user_agent_detail': {
    'public snippet of another user': personal('public'),
  },
  'PUT /snippets/:snippet_id': { 'public snippet of another user': personal('public', { title: 'other' }) },
  'DELETE /snippets/:snippet_id': { 'public snippet of another user': personal('public') },
}
