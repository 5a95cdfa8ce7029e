import { endpoint, project as projectKind } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound, refused } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { anyScheme, readAddress, shownAddress } from './address.ts'
import { authMethods, contexts, pushMirror, PushMirror } from './entities.ts'
import { newKey } from './host-keys.ts'
import { enqueuePush, type PushServices } from './push.ts'
import { checkAddress, checkMethod, checkPattern, readHostKeys, requireMirroring } from './rules.ts'
import * as store from './store.ts'

export type MirrorServices = PushServices & { readonly settings: Settings; readonly plan: Plan }

const path = '/projects/:id/remote_mirrors'
const record = 'Remote Mirror'

const settable = {
  enabled: Optional(Flag({ description: 'Whether what is pushed here is pushed there' })),
  auth_method: Optional(OneOf(...authMethods)),
  host_keys: Optional(
    ListOf(Text({ maxLength: 5000 }), {
      description: 'Public keys of the host, in one line each; none: the one that it shows first',
    }),
  ),
  keep_divergent_refs: Optional(Flag({ description: 'What the other side has of its own stays as it is' })),
  mirror_branch_regex: Optional(
    Nullable(
      Text({
        maxLength: 255,
        description: 'Only branches whose names match (RE2), from the plan Premium on',
      }),
    ),
  ),
  only_protected_branches: Optional(Flag()),
}

/** What is asked for, beside what there is. */
type Wanted = { readonly [Name in keyof typeof settable]?: unknown } & {
  readonly enabled?: boolean | undefined
  readonly auth_method?: (typeof authMethods)[number] | undefined
  readonly host_keys?: readonly string[] | undefined
  readonly keep_divergent_refs?: boolean | undefined
  readonly mirror_branch_regex?: string | null | undefined
  readonly only_protected_branches?: boolean | undefined
}
type Before = Pick<
  store.LockedMirror,
  | 'auth_method'
  | 'public_key'
  | 'host_keys'
  | 'enabled'
  | 'only_protected_branches'
  | 'branch_regex'
  | 'keep_divergent_refs'
>

const nothing: Before = {
  auth_method: 'password',
  public_key: null,
  host_keys: [],
  enabled: false,
  only_protected_branches: false,
  branch_regex: null,
  keep_divergent_refs: false,
}

/** Mirrors that a project is pushed to. */
export function pushMirrorEndpoints(services: MirrorServices): Endpoint[] {
  const { db, cipher, outbound, settings, plan } = services
  const withPattern = offers(plan, 'mirrored_branches')
  const shown = (row: Parameters<typeof pushMirror>[0]) => pushMirror(row, { withPattern })

  /** What a mirror will be. A key is made before anything is locked: that takes its time. */
  function valuesOf(before: Before, wanted: Wanted, key: store.Key | undefined): store.Values {
    const onlyProtected = wanted.only_protected_branches ?? before.only_protected_branches
    const pattern = withPattern ? wanted.mirror_branch_regex : undefined
    // Who chooses by protection from now on chooses by name no more.
    const kept = wanted.only_protected_branches === true ? null : before.branch_regex
    return {
      auth_method: wanted.auth_method ?? before.auth_method,
      key,
      host_keys: wanted.host_keys === undefined ? before.host_keys : readHostKeys(wanted.host_keys),
      enabled: wanted.enabled ?? before.enabled,
      only_protected_branches: onlyProtected,
      branch_regex:
        pattern === undefined ? kept : checkPattern('mirror_branch_regex', pattern, { onlyProtected }),
      keep_divergent_refs: wanted.keep_divergent_refs ?? before.keep_divergent_refs,
    }
  }

  async function keyFor(wanted: Wanted): Promise<store.Key | undefined> {
    if (wanted.auth_method !== 'ssh_public_key') return undefined
    const { publicKey, privateKey } = await newKey()
    return { publicKey, privateKey: cipher.seal(privateKey, contexts.privateKey) }
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the repositories that a project is mirrored to',
      on: projectKind,
      may: 'read_mirror',
      paged: true,
      answers: ListOf(PushMirror),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows.map(shown),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:mirror_id`,
      summary: 'Get a repository that a project is mirrored to',
      on: projectKind,
      may: 'read_mirror',
      params: Fields({ mirror_id: Id() }),
      record,
      answers: PushMirror,
      read: ({ params }) => store.one(params.mirror_id),
      handle: async ({ rows }) => shown(rows[0]!),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:mirror_id/public_key`,
      summary: 'Get the public key by which a mirror signs in over SSH',
      on: projectKind,
      may: 'read_mirror',
      params: Fields({ mirror_id: Id() }),
      record,
      answers: Fields({ public_key: Text() }),
      refuses: { 404: 'There is no such mirror, or it signs in without a key' },
      read: ({ params }) => store.one(params.mirror_id),
      async handle({ rows }) {
        const { auth_method, public_key } = rows[0]!
        if (auth_method !== 'ssh_public_key' || public_key === null) throw notFound('Public Key')
        return { public_key }
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Mirror a project to a repository elsewhere',
      description: 'One that is enabled is pushed to at once, and then after every push to the project.',
      on: projectKind,
      may: 'admin_mirror',
      params: Fields({
        url: Text({ blank: false, description: 'With the login, if it needs one' }),
        ...settable,
      }),
      answers: PushMirror,
      refuses: {
        400: 'The address may not be asked, or a rule of the values is broken',
        403: 'Only administrators may set up mirrors here',
      },
      async handle({ actor, project, params }) {
        requireMirroring(settings, actor)
        const url = params.url.trim()
        const address = await checkAddress(outbound, 'url', url, anyScheme)
        checkMethod(params.auth_method ?? nothing.auth_method, address)
        const values = valuesOf(nothing, params, undefined)
        const key = await keyFor(params)
        return db.transaction(async (tx) => {
          const sealed = cipher.seal(url, contexts.address)
          const row = await store.create(
            tx,
            project.id,
            { sealed, shown: shownAddress(url) },
            { ...values, key },
          )
          if (!row.enabled) return shown(row)
          await enqueuePush(tx, await store.askNow(tx, row.id))
          return shown({ ...row, update_status: 'scheduled' })
        })
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:mirror_id`,
      summary: 'Change how a project is mirrored to a repository elsewhere',
      on: projectKind,
      may: 'admin_mirror',
      params: Fields({ mirror_id: Id(), ...settable }),
      record,
      answers: PushMirror,
      refuses: {
        400: 'A rule of the values is broken',
        403: 'Only administrators may set up mirrors here',
      },
      read: ({ params }) => store.one(params.mirror_id),
      async handle({ actor, project, params, rows }) {
        requireMirroring(settings, actor)
        const key = rows[0]!.public_key === null ? await keyFor(params) : undefined
        return db.transaction(async (tx) => {
          const before = await store.lock(tx, project.id, params.mirror_id)
          if (before === undefined) throw notFound(record)
          const address = readAddress(cipher.open(before.address, contexts.address), anyScheme)
          const values = valuesOf(before, params, key)
          if (!('fault' in address)) checkMethod(values.auth_method, address)
          const row = await store.change(tx, params.mirror_id, values)
          if (before.enabled || !row.enabled) return shown(row)
          await enqueuePush(tx, await store.askNow(tx, row.id))
          return shown({ ...row, update_status: 'scheduled' })
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:mirror_id`,
      summary: 'Mirror a project to a repository elsewhere no more',
      on: projectKind,
      may: 'admin_mirror',
      params: Fields({ mirror_id: Id() }),
      record,
      answers: null,
      refuses: { 403: 'Only administrators may set up mirrors here' },
      read: ({ params }) => store.one(params.mirror_id),
      async handle({ actor, project, params }) {
        requireMirroring(settings, actor)
        await db.transaction((tx) => store.remove(tx, project.id, params.mirror_id))
      },
    }),

    endpoint({
      method: 'POST',
      path: `${path}/:mirror_id/sync`,
      summary: 'Push a project to its mirror now',
      on: projectKind,
      may: 'admin_mirror',
      params: Fields({ mirror_id: Id() }),
      record,
      answers: null,
      refuses: { 400: 'The mirror is not enabled' },
      read: ({ params }) => store.one(params.mirror_id),
      async handle({ params, rows }) {
        if (!rows[0]!.enabled) throw refused(400, 'The mirror is not enabled')
        await db.transaction(async (tx) => enqueuePush(tx, await store.askNow(tx, params.mirror_id)))
      },
    }),
  ]
}
