import type { Readable } from 'node:stream'
import { endpoint, project, userOf } from '../../access/index.ts'
import {
  Answer,
  Fields,
  Json,
  Optional,
  Text,
  type Endpoint,
  type RequestFacts,
} from '../../kernel/endpoint/index.ts'
import { notFound, tooLarge } from '../../kernel/errors/index.ts'
import { sealedFor, stateAnswer } from './answer.ts'
import type { StateServices } from './index.ts'
import { checkName, locked, readState } from './rules.ts'
import * as store from './store.ts'

const path = '/projects/:id/terraform/state/:name'
/** Bytes of a state where the instance sets no limit: one is held in memory while it is sealed. */
const largest = 100 * 1024 * 1024
/** What Terraform calls the id of the lock that it holds. */
const ID = Text({ maxLength: 255, description: 'Of the lock that the caller holds' })
const missing = () => notFound('Terraform State')

/** The newest version of states, and who may change them now. */
export function stateEndpoints({ db, cipher, settings }: StateServices): Endpoint[] {
  const common = { on: project, basic: true, jobToken: true } as const
  const writing = { ...common, may: 'admin_infra_state' } as const
  const nothing = Json({ description: 'Nothing' })

  return [
    endpoint({
      ...common,
      method: 'GET',
      path,
      summary: 'Get a Terraform state',
      may: 'read_infra_state',
      record: true,
      answers: Json({ description: 'The state as it was sent; 204 while there is no version of it' }),
      read: ({ params }) => store.newest(params.name),
      async handle({ rows }) {
        const { content } = rows[0]!
        return content === null ? new Answer(204) : stateAnswer(content, cipher)
      },
    }),

    endpoint({
      ...writing,
      method: 'POST',
      path,
      summary: 'Write a version of a Terraform state',
      description: 'The body is the state. Who holds the lock names it; nobody else writes then.',
      body: 'stream',
      params: Fields({ ID: Optional(ID) }),
      status: 200,
      answers: nothing,
      refuses: {
        409: 'Somebody holds the lock',
        413: 'Larger than `max_terraform_state_size_bytes`',
        422: 'There is a version of this serial',
      },
      async handle({ actor, project, params, request }) {
        checkName(params.name)
        const body = await readWhole(request, settings.values.max_infra_state_size_bytes || largest)
        if (body.length === 0) return new Answer(204)
        const { text, serial } = readState(body, request.headers['content-md5'] as string | undefined)
        const content = cipher.seal(text, sealedFor)
        await db.transaction(async (tx) => {
          const state = await store.holdOrMake(tx, project.id, params.name)
          if (state.lock_id !== (params.ID ?? null)) throw locked(state.lock_info)
          await store.addVersion(tx, state.id, { serial, content, userId: userOf(actor).id })
        })
        return new Answer(200)
      },
    }),

    endpoint({
      ...writing,
      method: 'DELETE',
      path,
      summary: 'Delete a Terraform state with all its versions',
      params: Fields({ ID: Optional(ID) }),
      status: 200,
      answers: nothing,
      refuses: { 409: 'Somebody holds the lock' },
      async handle({ project, params }) {
        await db.transaction(async (tx) => {
          const state = await store.hold(tx, project.id, params.name)
          if (state === undefined) throw missing()
          if (state.lock_id !== (params.ID ?? null)) throw locked(state.lock_info)
          await store.remove(tx, state.id)
        })
        return new Answer(200)
      },
    }),

    endpoint({
      ...writing,
      method: 'POST',
      path: `${path}/lock`,
      summary: 'Lock a Terraform state',
      params: Fields({
        ID,
        Operation: Text(),
        Info: Text(),
        Who: Text(),
        Version: Text(),
        Created: Text(),
        Path: Text(),
      }),
      status: 200,
      answers: Json({ description: 'Who holds the lock' }),
      refuses: { 409: 'Somebody holds the lock, of whom the answer tells' },
      async handle({ actor, project, params }) {
        checkName(params.name)
        const user = userOf(actor)
        const { name, ID, Operation, Info, Version, Path } = params
        const Created = new Date().toISOString()
        const info = { ID, Operation, Info, Who: user.username, Version, Created, Path }
        await db.transaction(async (tx) => {
          const state = await store.holdOrMake(tx, project.id, name)
          if (state.lock_id !== null) throw locked(state.lock_info)
          await store.lock(tx, state.id, info, user.id)
        })
        return info
      },
    }),

    endpoint({
      ...writing,
      method: 'DELETE',
      path: `${path}/lock`,
      summary: 'Unlock a Terraform state',
      description: 'Without `ID` whoever may write takes the lock from who holds it.',
      params: Fields({ ID: Optional(ID) }),
      status: 200,
      answers: nothing,
      refuses: { 409: 'Somebody else holds the lock' },
      async handle({ project, params }) {
        await db.transaction(async (tx) => {
          const state = await store.hold(tx, project.id, params.name)
          if (state === undefined) throw missing()
          if (params.ID !== undefined && state.lock_id !== params.ID) throw locked(state.lock_info)
          await store.unlock(tx, state.id)
        })
        return new Answer(200)
      },
    }),
  ]
}

async function readWhole({ body, headers }: RequestFacts, limit: number): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of unowned(body) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** Leaving the loop leaves the connection open for the answer. */
const unowned = (body: Readable): AsyncIterable<unknown> => body.iterator({ destroyOnReturn: false })
