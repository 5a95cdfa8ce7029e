import { expectStatus, type Json } from '../../../world/world.ts'
import { idOf, type Caller } from '../actors.ts'
import { addSystemNotes } from '../../../../src/areas/notes/index.ts'
import { ciStage } from '../ci.ts'
import type { Prepare, Request, Scenario, Scenarios, Stage } from '../stage.ts'
import { newIssue } from './issues.ts'
import { request as newRequest } from './merge-requests.ts'
import { snippetOf } from './snippets.ts'

/** A thing to discuss: where it lies, and its value in the paths of the grid. */
interface Thing {
  readonly stage: Stage
  readonly address: string
  /** Where reactions to it are, if elsewhere. */
  readonly reactions?: string
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
  const oneThing = (stage: Stage): Promise<Thing> => stage.once(`thing of ${kind}`, () => thingOf(stage))
  const ofOthers =
    (body?: unknown): Prepare =>
    async (stage) => {
      const thing = await oneThing(stage)
      return request(thing, await threadOf(thing), body)
    }
  const own = (body?: unknown): Scenario => ({
    forEach: true,
    prepare: async (stage, caller) => {
      const thing = await oneThing(stage)
      return request(thing, await threadOf(thing, caller), body)
    },
  })
  const text = { body: 'other' }
  const base = `${at}/discussions`
  const single = `${base}/:discussion_id/notes/:note_id`
  return {
    [`GET ${base}/stream`]: { '': shared },
    [`GET ${base}`]: { '': shared },
    [`POST ${base}`]: { '': create(text) },
    [`GET ${base}/:discussion_id`]: { '': shared },
    [`PUT ${base}/:discussion_id`]: { 'thread not resolvable': create({ resolved: true }) },
    [`GET ${base}/:discussion_id/notes`]: { '': shared },
    [`POST ${base}/:discussion_id/notes`]: { '': create(text) },
    [`GET ${single}`]: { '': shared },
    [`PUT ${single}`]: { 'own note (body)': own(text), 'note of another user (body)': ofOthers(text) },
    [`DELETE ${single}`]: { 'own note': own(), 'note of another user': ofOthers() },
    [`GET ${at}/notes`]: { '': shared },
    [`POST ${at}/notes`]: { '': create(text), 'internal=true': create({ ...text, internal: true }) },
    [`GET ${at}/notes/:note_id`]: { '': shared },
    [`PUT ${at}/notes/:note_id`]: { 'own note': own(text), 'note of another user': ofOthers(text) },
    [`DELETE ${at}/notes/:note_id`]: { 'own note': own(), 'note of another user': ofOthers() },
    ...awardScenarios(at, thingOf),
    ...awardScenarios(`${at}/notes/:note_id`, thingOf),
  }
}

/** Reactions to things, or to notes about them. */
function awardScenarios(at: string, thingOf: ThingOf): Scenarios {
  const made = async (stage: Stage): Promise<Request> => {
    const thing = await thingOf(stage)
    const thread = await threadOf(thing)
    const address = thing.reactions ?? thing.address
    const place = at.endsWith('/:note_id') ? `${address}/notes/${thread.note_id}` : address
    const award = await stage.make(`${place}/award_emoji`, { name: 'tada' })
    return { stage: thing.stage, path: { ...thing.path, ...thread, award_id: idOf(award) } }
  }
  const base = `${at}/award_emoji`
  return {
    [`GET ${base}`]: { '': made },
    [`GET ${base}/:award_id`]: { '': made },
    [`POST ${base}`]: {
      '': { prepare: async (stage) => ({ ...(await made(stage)), body: { name: 'heart' } }), lasts: true },
    },
    [`DELETE ${base}/:award_id`]: { 'reaction of another user': made },
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

const issue =
  (fields: object = {}): ThingOf =>
  async (stage) => {
    const issue_iid = await newIssue(stage, fields)
    return { stage, address: `${stage.projectPath}/issues/${issue_iid}`, path: { issue_iid } }
  }

/** The issue is the caller's, where he may write one. */
const ownIssue: Scenario = {
  forEach: true,
  prepare: async (stage, { client }) => {
    const fields = { title: stage.unique('issue'), confidential: true }
    const own = await client.post(`${stage.projectPath}/issues`, fields)
    const issue_iid = own.status === 201 ? (own.body as Json)['iid'] : await newIssue(stage, fields)
    return { path: { issue_iid: issue_iid as number } }
  },
}

const issues = '/projects/:id/issues/:issue_iid'
const issueRows = noteScenarios(issues, 'issues', issue())
const issueScenarios: Scenarios = {
  ...issueRows,
  [`GET ${issues}/discussions`]: {
    ...issueRows[`GET ${issues}/discussions`],
    'confidential issue of another user': async (stage) =>
      request(await issue({ confidential: true })(stage)),
    'confidential issue, caller is author': ownIssue,
  },
  [`POST ${issues}/discussions`]: {
    ...issueRows[`POST ${issues}/discussions`],
    'confidential issue of another user': async (stage) =>
      request(await issue({ confidential: true })(stage), undefined, { body: 'text' }),
    'locked discussion': async (stage) => {
      const thing = await issue()(stage)
      expectStatus(await stage.world.root.put(thing.address, { discussion_locked: true }), 200)
      return request(thing, undefined, { body: 'text' })
    },
    'archived project': async (stage) => {
      const own = await stage.variant('archived with an issue', async (made) => {
        await made.once('issue', () => issue()(made))
        await made.make(`${made.projectPath}/archive`)
      })
      return {
        ...request(await own.once('issue', () => issue()(own)), undefined, { body: 'text' }),
        stage: own,
      }
    },
  },
  [`PUT ${issues}/discussions/:discussion_id/notes/:note_id`]: {
    ...issueRows[`PUT ${issues}/discussions/:discussion_id/notes/:note_id`],
    'system note': async (stage) => {
      const thing = await issue()(stage)
      const { db } = stage.world.service.services
      const found = expectStatus(await stage.world.root.get(thing.address), 200)
      await db.transaction((tx) =>
        addSystemNotes(tx, [
          {
            on: { kind: 'Issue', id: idOf(found), projectId: idOf(stage.project), namespaceId: null },
            action: 'title',
            body: 'changed title',
            authorId: stage.world.root.id,
          },
        ]),
      )
      const { body } = await stage.world.root.get(`${thing.address}/discussions`)
      const [discussion] = body as Json[]
      const [note] = discussion!['notes'] as Json[]
      return request(
        thing,
        { discussion_id: discussion!['id'] as string, note_id: idOf(note!) },
        { body: 'other' },
      )
    },
  },
}

const epic =
  (fields: object = {}): ThingOf =>
  async (stage) => {
    const made = await stage.make(`${stage.groupPath}/epics`, { title: stage.unique('epic'), ...fields })
    const [epic_id, epic_iid] = [idOf(made), made['iid'] as number]
    const epics = `${stage.groupPath}/epics`
    return {
      stage,
      address: `${epics}/${epic_id}`,
      reactions: `${epics}/${epic_iid}`,
      path: { epic_id, epic_iid },
    }
  }
const epicRows = noteScenarios('/groups/:id/epics/:epic_id', 'epics', epic())
const epicList = 'GET /groups/:id/epics/:epic_id/discussions'

const mergeRequest: ThingOf = async (stage) => {
  const own = await ciStage(stage)
  const { iid } = (await newRequest(own)) as { iid: number }
  return { stage: own, address: `${own.projectPath}/merge_requests/${iid}`, path: { merge_request_iid: iid } }
}

const requests = '/projects/:id/merge_requests/:merge_request_iid'
const resolved = { resolved: true }
const resolving = async (stage: Stage): Promise<Request> => {
  const thing = await mergeRequest(stage)
  return request(thing, await threadOf(thing), resolved)
}
const requestRows = noteScenarios(requests, 'merge requests', mergeRequest)
const requestScenarios: Scenarios = {
  ...requestRows,
  [`POST ${requests}/discussions`]: {
    ...requestRows[`POST ${requests}/discussions`],
    'locked discussion': async (stage) => {
      const thing = await stage.once('locked request', async () => {
        const made = await mergeRequest(stage)
        expectStatus(await stage.world.root.put(made.address, { discussion_locked: true }), 200)
        return made
      })
      return request(thing, undefined, { body: 'text' })
    },
  },
  [`PUT ${requests}/discussions/:discussion_id`]: {
    'resolve a thread of another user': resolving,
    'resolve, caller opened the merge request': {
      forEach: true,
      prepare: async (stage, { userId }) => {
        const thing = await mergeRequest(stage)
        const { db } = stage.world.service.services
        if (userId !== 0) {
          await db.writer
            .updateTable('merge_requests')
            .set({ author_id: userId })
            .where('project_id', '=', idOf(thing.stage.project))
            .where('iid', '=', Number(thing.path['merge_request_iid']))
            .execute()
        }
        return request(thing, await threadOf(thing), resolved)
      },
    },
    'thread not resolvable (single comment)': async (stage) => {
      const thing = await mergeRequest(stage)
      await stage.make(`${thing.address}/notes`, { body: 'text' })
      const { body } = await stage.world.root.get(`${thing.address}/discussions`)
      const single = (body as Json[]).at(-1)!
      return request(thing, { discussion_id: single['id'] as string, note_id: 0 }, resolved)
    },
  },
  [`PUT ${requests}/discussions/:discussion_id/notes/:note_id`]: {
    ...requestRows[`PUT ${requests}/discussions/:discussion_id/notes/:note_id`],
    'resolve a note of another user': resolving,
  },
}

const drafts = `${requests}/draft_notes`
const text = { note: 'text' }
/** A draft of the caller where he may write one, or of `root`. */
const draftOf = (own: boolean, body?: unknown): Scenario => ({
  forEach: true,
  prepare: async (stage, { client }) => {
    const thing = await stage.once('request with drafts', () => mergeRequest(stage))
    const made = own ? await client.post(`${thing.address}/draft_notes`, text) : undefined
    const draft =
      made?.status === 201 ? (made.body as Json) : await stage.make(`${thing.address}/draft_notes`, text)
    return request({ ...thing, path: { ...thing.path, draft_note_id: idOf(draft) } }, undefined, body)
  },
})
const withDrafts =
  (body?: unknown): Prepare =>
  async (stage) =>
    request(await stage.once('request with drafts', () => mergeRequest(stage)), undefined, body)
const both = (body?: unknown) => ({
  'own draft': draftOf(true, body),
  'draft of another user': draftOf(false, body),
})
const draftScenarios: Scenarios = {
  [`GET ${drafts}`]: { '': withDrafts() },
  [`POST ${drafts}`]: { '': withDrafts(text) },
  [`POST ${drafts}/bulk_publish`]: { '': withDrafts() },
  [`GET ${drafts}/:draft_note_id`]: both(),
  [`PUT ${drafts}/:draft_note_id`]: both(text),
  [`DELETE ${drafts}/:draft_note_id`]: both(),
  [`PUT ${drafts}/:draft_note_id/publish`]: both(),
}

/** A suggestion of the administrator `root` for the one line of a new request. */
const suggestionOf = async (stage: Stage): Promise<{ readonly stage: Stage; readonly id: number }> => {
  const { stage: own, address } = await mergeRequest(stage)
  const { diff_refs: refs } = expectStatus(await own.world.root.get(address), 200)
  const [file] = (await own.world.root.get(`${address}/diffs`)).body as Json[]
  const { old_path, new_path } = file!
  const position = { ...(refs as Json), position_type: 'text', old_path, new_path, new_line: 1 }
  const body = '```suggestion\nother\n```'
  const thread = await own.make(`${address}/discussions`, { body, position })
  const [note] = thread['notes'] as Json[]
  return { stage: own, id: idOf((note!['suggestions'] as Json[])[0]!) }
}

const commented = async (stage: Stage): Promise<Request> => {
  const { stage: own, path } = await stage.once('commented commit', () => commit(stage))
  return { stage: own, path: { sha: path['commit_id']! } }
}

const snippetRows = noteScenarios('/projects/:id/snippets/:snippet_id', 'snippets', snippet)
const snippetList = 'GET /projects/:id/snippets/:snippet_id/discussions'

export const discussionScenarios: Scenarios = {
  ...issueScenarios,
  ...requestScenarios,
  ...draftScenarios,
  'PUT /suggestions/:id/apply': {
    '': async (stage) => {
      const { stage: own, id } = await suggestionOf(stage)
      return { stage: own, path: { id } }
    },
  },
  'PUT /suggestions/batch_apply': {
    '': async (stage) => {
      const { stage: own, id } = await suggestionOf(stage)
      return { stage: own, body: { ids: [id] } }
    },
  },
  'GET /projects/:id/repository/commits/:sha/comments': { '': commented },
  'POST /projects/:id/repository/commits/:sha/comments': {
    '': async (stage) => ({ ...(await commented(stage)), body: { note: 'text' } }),
  },
  ...epicRows,
  [epicList]: {
    ...epicRows[epicList],
    'confidential epic': async (stage) => request(await epic({ confidential: true })(stage)),
  },
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
