import { endpoint, project } from '../../access/index.ts'
import { Fields, Int, Json, type Endpoint } from '../../kernel/endpoint/index.ts'
import { stateAnswer } from './answer.ts'
import type { StateServices } from './index.ts'
import * as store from './store.ts'

/** Earlier versions of states. */
export function versionEndpoints({ db, cipher }: StateServices): Endpoint[] {
  const one = {
    on: project,
    path: '/projects/:id/terraform/state/:name/versions/:serial',
    basic: true,
    jobToken: true,
    record: true,
    params: Fields({ serial: Int({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
    read: ({ params }: { params: { name: string; serial: number } }) =>
      store.version(params.name, params.serial),
  } as const

  return [
    endpoint({
      ...one,
      method: 'GET',
      summary: 'Get a version of a Terraform state',
      may: 'read_infra_state',
      answers: Json({ description: 'The state as it was sent' }),
      handle: async ({ rows }) => stateAnswer(rows[0]!.content, cipher),
    }),
    endpoint({
      ...one,
      method: 'DELETE',
      summary: 'Delete a version of a Terraform state',
      may: 'admin_infra_state',
      answers: null,
      handle: ({ rows }) => store.removeVersion(db.writer, rows[0]!.id),
    }),
  ]
}
