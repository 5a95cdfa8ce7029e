import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf, type Caller } from '../actors.ts'
import { ciStage } from '../ci.ts'
import type { Prepare, Request, Scenario, Scenarios, Stage } from '../stage.ts'
import { snippetOf } from './snippets.ts'

/** A thing to discuss: where it lies, and its value in the paths of the grid. */
interface Thing {
  readonly stage: Stage
  readonly address: string
  readonly path: Readonly<Record<string, string | number>>
}

type ThingOf = (stage: Stage) => Promise<Thing>

interface Thread {
  readonly discussion_id: string
  readonly note_id: number
}

/** A thread about a thing, begun by the caller where he may, else by the administrator `root`. */
async function threadOf({ stage, address }: Thing, by?: Caller): Promise<Thread> {
  const body = { body: 'text' }
  const own = by === undefined ? undefined : await by.client.post(`${address}/discussions`, body)
  const made = own?.status === 201 ? (own.body as Json) : await stage.make(`${address}/discussions`, body)
  const [note] = made['notes'] as Json[]
  return { discussion_id: made['id'] as string, note_id: idOf(note!) }
}

const request = (thing: Thing, thread?: Thread, body?: unknown): Request => ({
  stage: thing.stage,
  path: { ...thing.path, ...thread },
  ...(body !== undefined && { body }),
})

/** Rows that all kinds of noteables share. */
export function noteScenarios(at: string, kind: string, thingOf: ThingOf): Scenarios {
  const shared: Prepare = async (stage) => {
    const [thing, thread] = await stage.once(`thread of ${kind}`, async () => {
      const made = await thingOf(stage)
      return [made, await threadOf(made)] as const
    })
    return request(thing, thread)
  }
  const create =
    (body: unknown): Prepare =>
    async (stage, caller, row) => ({ ...(await shared(stage, caller, row)), body })
  const ofOthers =
    (body?: unknown): Prepare =>
    async (stage) => {
      const thing = await thingOf(stage)
      return request(thing, await threadOf(thing), body)
    }
  const own = (body?: unknown): Scenario => ({
    forEach: true,
    prepare: async (stage, caller) => {
      const thing = await stage.once(`thing of ${kind}`, () => thingOf(stage))
      return request(thing, await threadOf(thing, caller), body)
    },
  })
  const text = { body: 'other' }
  const base = `${at}/discussions`
  const single = `${base}/:discussion_id/notes/:note_id`
  return {
    [`GET ${base}`]: { '': shared },
    [`POST ${base}`]: { '': create(text) },
    [`GET ${base}/:discussion_id`]: { '': shared },
    [`GET ${base}/:discussion_id/notes`]: { '': shared },
    [`POST ${base}/:discussion_id/notes`]: { '': create(text) },
    [`GET ${single}`]: { '': shared },
    [`PUT ${single}`]: { 'own note (body)': own(text), 'note of another user (body)': ofOthers(text) },
    [`DELETE ${single}`]: { 'own note': own(), 'note of another user': ofOthers() },
    [`GET ${at}/notes`]: { '': shared },
    [`POST ${at}/notes`]: { '': create(text), 'internal=true': create({ ...text, internal: true }) },
    [`GET ${at}/notes/:note_id`]: { '': shared },
    [`PUT ${at}/notes/:note_id`]: { 'note of another user': ofOthers(text) },
    [`DELETE ${at}/notes/:note_id`]: { 'note of another user': ofOthers() },
  }
}

const snippet: ThingOf = async (stage) => {
  const snippet_id = await snippetOf(stage)
  return { stage, address: `${stage.projectPath}/snippets/${snippet_id}`, path: { snippet_id } }
}

const commit: ThingOf = async (stage) => {
  const own = await ciStage(stage)
  const head = expectStatus(await stage.world.root.get(`${own.projectPath}/repository/commits/main`), 200)
  const commit_id = head['id'] as string
  return { stage: own, address: `${own.projectPath}/repository/commits/${commit_id}`, path: { commit_id } }
}

const snippetRows = noteScenarios('/projects/:id/snippets/:snippet_id', 'snippets', snippet)
const snippetList = 'GET /projects/:id/snippets/:snippet_id/discussions'

export const discussionScenarios: Scenarios = {
  ...snippetRows,
  [snippetList]: {
    ...snippetRows[snippetList],
    'private snippet': async (stage) => ({
      path: { snippet_id: await stage.once('private snippet', () => snippetOf(stage, 'private')) },
    }),
  },
  'POST /projects/:id/snippets/:snippet_id/notes': {
    ...snippetRows['POST /projects/:id/snippets/:snippet_id/notes'],
    'archived project': async (stage) => {
      const before = await stage.variant('archived with a snippet', async (own) => {
        await own.once('snippet', () => snippetOf(own))
        await own.make(`${own.projectPath}/archive`)
      })
      return {
        stage: before,
        path: { snippet_id: await before.once('snippet', () => snippetOf(before)) },
        body: { body: 'text' },
      }
    },
  },
  ...noteScenarios('/projects/:id/repository/commits/:commit_id', 'commits', commit),
}
