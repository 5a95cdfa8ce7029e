import { endpoint, project as projectKind } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { Fields, Flag, Nullable, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { changePullMirror, notMirrored, type PullChangeServices } from './pull-changes.ts'
import { pullMirror, PullMirror } from './pull-entity.ts'
import { enqueueDue } from './due.ts'
import { pullTask } from './pull.ts'
import * as store from './pull-store.ts'

const path = '/projects/:id/mirror/pull'
const plan = planOf.pull_mirrors

/** Seconds from the end of one time to the next one that is asked for. */
const shortest = 300

/** The mirror that a project follows. */
export function pullMirrorEndpoints(services: PullChangeServices): Endpoint[] {
  const { db } = services
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Get the repository elsewhere that a project follows',
      on: projectKind,
      may: 'read_mirror',
      plan,
      answers: PullMirror,
      refuses: { 400: 'The project is not mirrored' },
      read: () => store.ofSubject(),
      async handle({ rows }) {
        if (rows[0] === undefined) throw notMirrored()
        return pullMirror(rows[0])
      },
    }),

    endpoint({
      method: 'PUT',
      path,
      summary: 'Let a project follow a repository elsewhere',
      description:
        'Its branches and tags are fetched at once and then every thirty minutes, in the name of whoever set it up.',
      on: projectKind,
      may: 'admin_mirror',
      plan,
      params: Fields({
        enabled: Optional(Flag()),
        url: Optional(Text({ description: 'With the login, if it needs one' })),
        auth_user: Optional(Text({ maxLength: 255 })),
        auth_password: Optional(Text({ maxLength: 1024 })),
        mirror_trigger_builds: Optional(Flag({ description: 'Whether pipelines run for what is fetched' })),
        only_mirror_protected_branches: Optional(Flag()),
        mirror_overwrites_diverged_branches: Optional(
          Flag({ description: 'Whether what is here only gives way' }),
        ),
        mirror_branch_regex: Optional(
          Nullable(Text({ maxLength: 255, description: 'Only branches whose names match (RE2)' })),
        ),
      }),
      answers: PullMirror,
      refuses: {
        400: 'The address may not be asked, or a rule of the values is broken',
        403: 'Only administrators may set up mirrors here',
      },
      async handle({ actor, project, params }) {
        const change = {
          enabled: params.enabled,
          url: params.url,
          auth_user: params.auth_user,
          auth_password: params.auth_password,
          trigger_builds: params.mirror_trigger_builds,
          only_protected_branches: params.only_mirror_protected_branches,
          overwrites_diverged_branches: params.mirror_overwrites_diverged_branches,
          branch_regex: params.mirror_branch_regex,
        }
        const write = await changePullMirror(services, actor, project.id, change, 'url')
        if (write === undefined) {
          const row = await store.find(db.writer, project.id)
          if (row === undefined) throw notMirrored()
          return pullMirror(row)
        }
        return pullMirror(await db.transaction((tx) => write(tx, project.id)))
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Fetch what is new in the repository that a project follows',
      description: 'At once, or five minutes after the last time. What failed too often is tried again.',
      on: projectKind,
      may: 'admin_mirror',
      plan,
      answers: null,
      status: 202,
      refuses: { 400: 'The project is not mirrored' },
      async handle({ project }) {
        await db.transaction(async (tx) => {
          const due = await store.askNow(tx, project.id, shortest)
          if (due === undefined) throw notMirrored()
          await enqueueDue(tx, pullTask, due)
        })
      },
    }),
  ]
}
