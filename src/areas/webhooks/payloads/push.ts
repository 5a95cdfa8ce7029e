import { sql } from 'kysely'
import {
  branchName,
  branchRef,
  findCommit,
  findTag,
  isZero,
  parseOid,
  parseRefName,
  resolve,
  tagName,
} from '../../../git/index.ts'
import type { Reader } from '../../../kernel/db/index.ts'
import type { PushEvent } from '../../repository/index.ts'
import { pushedCommits } from './commits.ts'
import {
  sceneOf,
  shownEmail,
  shownProject,
  shownRepository,
  storageOf,
  webUrl,
  type Builder,
  type Built,
  type Scene,
} from './parts.ts'

/** The refs that one push moved; more branches, or more tags, than the limit call nobody. */
interface Moved {
  readonly ref: string
  readonly oldOid: string
  readonly newOid: string
}

/** Of a branch or a tag that was moved, made or deleted. */
export function pushBuilder(mostRefs: () => number): Builder<PushEvent> {
  return async (services, event) => {
    const { ref: written, oldOid, newOid, refUpdateId, pushOptions } = event.payload
    const refName = parseRefName(written)
    const scene = await sceneOf(services.db.reader, event)
    const [from, to] = [parseOid(oldOid), parseOid(newOid)]
    if (refName === undefined || scene === undefined || from === undefined || to === undefined) return []
    const branch = branchName(refName)
    const name = branch ?? tagName(refName)
    if (name === undefined) return []
    const moved = await movedBy(services.db.reader, refUpdateId)
    const alike = moved.filter(({ ref }) =>
      ref.startsWith(branch === undefined ? 'refs/tags/' : 'refs/heads/'),
    )
    const built: Built[] = []
    if (moved[0]?.ref === written) {
      built.push({ trigger: 'repository_update', payload: repositoryUpdate(scene, moved, services) })
    }
    if (alike.length > mostRefs()) return built

    const { project } = scene
    const tag = branch === undefined
    const repository = services.places.of({
      id: project.id,
      storage: await storageOf(services.db.reader, project.id),
    })
    const defaultRef = project.default_branch === null ? undefined : branchRef(project.default_branch)
    const pushed =
      tag || isZero(to)
        ? undefined
        : await pushedCommits(
            repository,
            { from, to, base: defaultRef === undefined ? undefined : await resolve(repository, defaultRef) },
            webUrl(services, project),
          )
    const annotated = tag && !isZero(to) ? await findTag(repository, to).catch(() => undefined) : undefined
    const kind = tag ? 'tag_push' : 'push'
    const payload = {
      object_kind: kind,
      event_name: kind,
      before: oldOid,
      after: newOid,
      ref: written,
      ref_protected: await services.refProtection.isProtected(services.db.reader, project.id, { name, tag }),
      checkout_sha: isZero(to) ? null : ((await findCommit(repository, to))?.oid ?? null),
      message: annotated?.message.trimEnd() ?? null,
      ...pusher(scene),
      project_id: project.id,
      project: shownProject(services, project),
      commits: pushed?.commits ?? [],
      total_commits_count: pushed?.total ?? 0,
      push_options: optionTree(pushOptions),
      repository: shownRepository(services, project),
    }
    const { commits: _, ...forInstance } = payload
    built.push({ trigger: kind, payload, forInstance, ...(branch !== undefined && { branch }) })
    return built
  }
}

function pusher({ user }: Scene): object {
  return {
    user_id: user?.id ?? null,
    user_name: user?.name ?? null,
    user_username: user?.username ?? null,
    user_email: user === null ? null : shownEmail(user),
    user_avatar: null,
  }
}

function repositoryUpdate(
  scene: Scene,
  moved: readonly Moved[],
  services: Parameters<typeof shownProject>[0],
): object {
  return {
    event_name: 'repository_update',
    ...pusher(scene),
    project_id: scene.project.id,
    project: shownProject(services, scene.project),
    changes: moved.map(({ ref, oldOid, newOid }) => ({ before: oldOid, after: newOid, ref })),
    refs: moved.map(({ ref }) => ref),
  }
}

async function movedBy(db: Reader, refUpdateId: number): Promise<Moved[]> {
  const { rows } = await sql<{ updates: Moved[] }>`
    select u.updates from ref_updates u where u.id = ${refUpdateId}`.execute(db)
  return rows[0]?.updates ?? []
}

/** `ci.variable=K=V` and `ci.skip` become `{"ci":{"variable":"K=V","skip":true}}`. */
function optionTree(options: readonly string[]): object {
  const tree: Record<string, Record<string, string | true>> = {}
  for (const option of options) {
    const match = /^([a-z_]+)\.([a-z_]+)(?:=(.*))?$/s.exec(option)
    if (match === null) continue
    const [, space = '', key = '', value] = match
    tree[space] = { ...tree[space], [key]: value ?? true }
  }
  return tree
}
