import { sql } from 'kysely'
import type { Request, Scenarios, Stage } from '../stage.ts'
import { plain } from '../stage.ts'
import { expectStatus } from '../../../world/world.ts'

/** An address that nobody asks for: it is no name of a host. */
const url = 'http://192.0.2.1/x.git'

async function mirror(stage: Stage): Promise<Request> {
  const made = await stage.make(`${stage.projectPath}/remote_mirrors`, { url })
  return { path: { mirror_id: made['id'] as number } }
}

/** One with a key, which none of the callers has to wait for. */
async function keyed(stage: Stage): Promise<Request> {
  const { path } = await mirror(stage)
  await sql`
    update push_mirrors set auth_method = 'ssh_public_key', public_key = 'ssh-rsa x', private_key = 'x'
    where id = ${path!['mirror_id']}`.execute(stage.world.service.services.db.writer)
  return { path: path! }
}

/** One that is enabled, and that a node which is none holds already. */
async function held(stage: Stage): Promise<Request> {
  const { path } = await mirror(stage)
  await sql`
    update push_mirrors set enabled = true, runner = gen_random_uuid(), running_until = now() + interval '1 hour'
    where id = ${path!['mirror_id']}`.execute(stage.world.service.services.db.writer)
  return { path: path! }
}

/** A mirror that is enabled, and that a node which is none holds already. */
async function followed(stage: Stage): Promise<Request> {
  const { world } = stage
  const body = { url, enabled: false, mirror_trigger_builds: true }
  expectStatus(await world.root.put(`${stage.projectPath}/mirror/pull`, body), 200)
  await sql`
    update pull_mirrors set enabled = true, runner = gen_random_uuid(), running_until = now() + interval '1 hour'
    where project_id = ${stage.project['id'] as number}`.execute(world.service.services.db.writer)
  return {}
}

export const mirrorScenarios: Scenarios = {
  'GET /projects/:id/remote_mirrors': { '': plain },
  'GET /projects/:id/remote_mirrors/:mirror_id': { '': mirror },
  'GET /projects/:id/remote_mirrors/:mirror_id/public_key': { '': keyed },
  'POST /projects/:id/remote_mirrors': { '': () => ({ body: { url } }) },
  'PUT /projects/:id/remote_mirrors/:mirror_id': {
    '': async (stage) => ({ ...(await mirror(stage)), body: { keep_divergent_refs: true } }),
  },
  'DELETE /projects/:id/remote_mirrors/:mirror_id': { '': mirror },
  'POST /projects/:id/remote_mirrors/:mirror_id/sync': { '': held },
  'GET /projects/:id/mirror/pull': { '': followed },
  'PUT /projects/:id/mirror/pull': { '': () => ({ body: { enabled: false, url } }) },
  'POST /projects/:id/mirror/pull': { '': followed },
}
