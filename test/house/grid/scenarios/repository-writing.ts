import { onCode } from './repository.ts'
import type { Request, Scenarios, Stage } from '../stage.ts'

/** A new branch for each call, so that none is in the way of another. */
const start = (stage: Stage) => ({ branch: stage.unique('new'), start_branch: 'main' })
const commit_message = 'Write'

function actions(stage: Stage) {
  return [{ action: 'create', file_path: stage.unique('file'), content: 'x' }]
}

/** A file on an unprotected branch. */
async function file(stage: Stage): Promise<{ branch: string; path: { file_path: string } }> {
  const branch = stage.unique('branch')
  const file_path = stage.unique('file')
  await stage.make(`${stage.projectPath}/repository/files/${file_path}`, {
    ...{ branch, start_branch: 'main', commit_message, content: 'x' },
  })
  return { branch, path: { file_path } }
}

async function onFile(stage: Stage): Promise<Request> {
  const { branch, path } = await file(stage)
  return { path, body: { branch, commit_message, content: 'y' } }
}

/** A commit that made a new file, on a branch that still has it; and a branch without it. */
async function picked(stage: Stage): Promise<{ sha: string; without: string; branch: string }> {
  const { branch } = await file(stage)
  const without = stage.unique('branch')
  await stage.make(`${stage.projectPath}/repository/branches`, { branch: without, ref: 'main' })
  const { body } = await stage.world.root.get(`${stage.projectPath}/repository/commits/${branch}`)
  return { sha: (body as { id: string }).id, without, branch }
}

/** A commit on the protected default branch that can be reverted there. */
async function onMain(stage: Stage): Promise<Request> {
  const made = await stage.make(`${stage.projectPath}/repository/commits`, {
    ...{ branch: 'main', commit_message, actions: actions(stage) },
  })
  return { path: { sha: made['id'] as string }, body: { branch: 'main' } }
}

export const repositoryWritingScenarios: Scenarios = {
  'POST /projects/:id/repository/commits': {
    'unprotected branch': onCode((stage) => ({
      body: { ...start(stage), commit_message, actions: actions(stage) },
    })),
    'protected branch, push level 40': onCode((stage) => ({
      body: { branch: 'main', commit_message, actions: actions(stage) },
    })),
  },
  'POST /projects/:id/repository/commits/:sha/cherry_pick': {
    'unprotected branch': onCode(async (stage) => {
      const { sha, without } = await picked(stage)
      return { path: { sha }, body: { branch: without } }
    }),
  },
  'POST /projects/:id/repository/commits/:sha/revert': {
    'unprotected branch': onCode(async (stage) => {
      const { sha, branch } = await picked(stage)
      return { path: { sha }, body: { branch } }
    }),
    'protected branch, push level 40': onCode(onMain),
  },
  'GET /projects/:id/repository/commits/:sha/statuses': { '': onCode(() => ({ path: { sha: 'main' } })) },
  'POST /projects/:id/statuses/:sha': {
    'unprotected ref': onCode((stage) => ({
      path: { sha: 'main' },
      body: { state: 'success', ref: 'free', name: stage.unique('status') },
    })),
    'protected ref': onCode((stage) => ({
      path: { sha: 'main' },
      body: { state: 'success', ref: 'main', name: stage.unique('status') },
    })),
  },
  'GET /projects/:id/repository/changelog': {
    '': onCode(() => ({ query: 'version=1.0.0&from=main' })),
  },
  'POST /projects/:id/repository/changelog': {
    'protected branch, push level 40': onCode(() => ({ body: { version: '1.0.0', from: 'main' } })),
  },
  'PUT /projects/:id/repository/submodules/:submodule': {
    'no such submodule': onCode(() => ({
      path: { submodule: 'lib' },
      body: { branch: 'free', commit_sha: 'a'.repeat(40) },
    })),
  },
  'POST /projects/:id/repository/files/:file_path': {
    'unprotected branch': onCode((stage) => ({
      path: { file_path: stage.unique('file') },
      body: { ...start(stage), commit_message, content: 'x' },
    })),
  },
  'PUT /projects/:id/repository/files/:file_path': {
    'unprotected branch': onCode(onFile),
    'protected branch, push level 40': onCode((stage) => ({
      path: { file_path: 'README.md' },
      body: { branch: 'main', commit_message, content: stage.unique('text') },
    })),
  },
  'DELETE /projects/:id/repository/files/:file_path': { 'unprotected branch': onCode(onFile) },
}
