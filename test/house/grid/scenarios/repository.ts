import { pushFiles, pushSigned } from '../../../world/push.ts'
import { expectStatus, type Json } from '../../../world/world.ts'
import type { Prepare, Request, Scenarios, Stage } from '../stage.ts'

/** A stage whose project has a default branch, `main`, protected as every first branch is. */
function code(stage: Stage): Promise<Stage> {
  return stage.variant('code', (own) => pushFiles(own.world, own.project, { 'README.md': '# Read me\n' }))
}

/** A request to a project with code. */
export function onCode(request: (stage: Stage) => Request | Promise<Request> = () => ({})): Prepare {
  return async (stage) => {
    const own = await code(stage)
    return { ...(await request(own)), stage: own }
  }
}

async function branch(stage: Stage, fields: Json = {}): Promise<{ path: { branch: string } }> {
  const name = stage.unique('branch')
  await stage.make(`${stage.projectPath}/repository/branches`, { branch: name, ref: 'main', ...fields })
  return { path: { branch: name } }
}

async function protectedBranch(stage: Stage): Promise<{ path: { branch: string } }> {
  const made = await branch(stage)
  await stage.make(`${stage.projectPath}/protected_branches`, { name: made.path.branch })
  return made
}

async function tag(stage: Stage): Promise<{ path: { tag_name: string } }> {
  const tag_name = stage.unique('tag')
  await stage.make(`${stage.projectPath}/repository/tags`, { tag_name, ref: 'main' })
  return { path: { tag_name } }
}

/** The id of the README's blob. */
async function blob(stage: Stage): Promise<Request> {
  const answer = await stage.world.root.get(`${stage.projectPath}/repository/tree`)
  return { path: { sha: (answer.body as Json[])[0]!['id'] as string } }
}

const readme = () => ({ path: { file_path: 'README.md' }, query: 'ref=main' })
const mainCommit = () => ({ path: { sha: 'main' } })

/** A branch with a file of code owners. */
function owned(stage: Stage): Promise<Request> {
  return stage.once('code owners', async () => {
    await stage.make(`${stage.projectPath}/repository/files/CODEOWNERS`, {
      ...{ branch: 'owned', start_branch: 'main', commit_message: 'Own', content: '* @root' },
    })
    return { query: 'ref=owned&paths=README.md' }
  })
}

const unknownMove = () => ({ path: { repository_storage_id: 999_999 } })

export const storageMoveScenarios: Scenarios = {
  'GET /projects/:id/repository_storage_moves': { '': () => ({}) },
  'GET /projects/:id/repository_storage_moves/:repository_storage_id': { 'unknown move': unknownMove },
  'POST /projects/:id/repository_storage_moves': {
    'to where it is': () => ({ body: { destination_storage_name: 'default' } }),
  },
  'GET /project_repository_storage_moves': { '': () => ({}) },
  'GET /project_repository_storage_moves/:repository_storage_id': { 'unknown move': unknownMove },
  'POST /project_repository_storage_moves': {
    'to where they are': () => ({
      body: { source_storage_name: 'default', destination_storage_name: 'default' },
    }),
  },
}

export const repositoryScenarios: Scenarios = {
  'GET /projects/:id/repository/code_owners': { '': onCode(owned) },
  'GET /projects/:id/repository/code_owners/errors': { '': onCode(owned) },
  'GET /projects/:id/repository/tree': { '': onCode() },
  'GET /projects/:id/repository/files/:file_path': { 'ref given': onCode(readme) },
  'GET /projects/:id/repository/files/:file_path/raw': { '': onCode(readme) },
  'GET /projects/:id/repository/blobs/:sha': { '': onCode(blob) },
  'GET /projects/:id/repository/blobs/:sha/raw': { '': onCode(blob) },
  'GET /projects/:id/repository/archive': { '': onCode() },
  'GET /projects/:id/repository/archive.:format': { '': onCode(() => ({ path: { format: 'zip' } })) },
  'GET /projects/:id/repository/commits': { '': onCode() },
  'GET /projects/:id/repository/commits/:sha': { '': onCode(mainCommit) },
  'GET /projects/:id/repository/commits/:sha/refs': { '': onCode(mainCommit) },
  'GET /projects/:id/repository/commits/:sha/sequence': { '': onCode(mainCommit) },
  'GET /projects/:id/repository/commits/:sha/diff': { '': onCode(mainCommit) },
  'GET /projects/:id/repository/commits/:sha/signature': {
    '': onCode(async (stage) => {
      await stage.once('signed', () => pushSigned(stage.world, stage.project, 'signed'))
      return { path: { sha: 'signed' } }
    }),
  },
  'GET /projects/:id/repository/compare': { '': onCode(() => ({ query: 'from=main&to=main' })) },
  'GET /projects/:id/repository/merge_base': { '': onCode(() => ({ query: 'refs[]=main&refs[]=main' })) },
  'GET /projects/:id/repository/contributors': { '': onCode() },
  'GET /projects/:id/repository/health': {
    'report made before': onCode(async (stage) => {
      const made = `${stage.projectPath}/repository/health?generate=true`
      await stage.once('health', async () => expectStatus(await stage.world.root.get(made), 200))
      return {}
    }),
  },
  'GET /projects/:id/repository/files/:file_path/blame': { '': onCode(readme) },
  'GET /projects/:id/repository/branches': { '': onCode() },
  'GET /projects/:id/repository/branches/:branch': { '': onCode(() => ({ path: { branch: 'main' } })) },
  'POST /projects/:id/repository/branches': {
    'unprotected name': onCode((stage) => ({ body: { branch: stage.unique('new'), ref: 'main' } })),
  },
  'DELETE /projects/:id/repository/branches/:branch': {
    'unprotected branch': onCode(branch),
    'protected branch, not default': onCode(protectedBranch),
    'default branch': onCode(() => ({ path: { branch: 'main' } })),
  },
  'DELETE /projects/:id/repository/merged_branches': { '': onCode() },
  'PUT /projects/:id/repository/branches/:branch/protect': { '': onCode(branch) },
  'PUT /projects/:id/repository/branches/:branch/unprotect': { '': onCode(protectedBranch) },
  'GET /projects/:id/repository/tags': { '': onCode() },
  'GET /projects/:id/repository/tags/:tag_name': {
    '': onCode((stage) => stage.once('tag', () => tag(stage))),
  },
  'GET /projects/:id/repository/tags/:tag_name/signature': {
    '': onCode(async (stage) => {
      await stage.once('signed', () => pushSigned(stage.world, stage.project, 'signed'))
      return { path: { tag_name: 'signed-tag' } }
    }),
  },
  'POST /projects/:id/repository/tags': {
    'unprotected tag name': onCode((stage) => ({ body: { tag_name: stage.unique('new'), ref: 'main' } })),
  },
  'DELETE /projects/:id/repository/tags/:tag_name': { 'unprotected tag': onCode(tag) },
}
