import {
  branchName,
  branchRef,
  findCommit,
  findTag,
  isZero,
  resolve,
  tagName,
  type RefUpdate,
  type Repository,
} from '../../../git/index.ts'
import type { DomainEvent } from '../../../tasks/index.ts'
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
  type PayloadServices,
  type Scene,
} from './parts.ts'

/** Of the branches and tags that were moved, made or deleted; more of either than the limit call nobody. */
export function pushBuilder(mostRefs: () => number): Builder<PushEvent> {
  return async (services, event) => {
    const { updates } = event.payload
    const scene = await sceneOf(services.db.reader, event)
    if (scene === undefined) return []
    const repository = services.places.of({
      id: scene.project.id,
      storage: await storageOf(services.db.reader, scene.project.id),
    })
    const built: Built[] = [
      { trigger: 'repository_update', payload: repositoryUpdate(scene, updates, services) },
    ]
    for (const nameOf of [branchName, tagName]) {
      const alike = updates.filter(({ ref }) => nameOf(ref) !== undefined)
      if (alike.length > mostRefs()) continue
      for (const update of alike) built.push(await ofRef(services, scene, repository, event, update))
    }
    return built
  }
}

async function ofRef(
  services: PayloadServices,
  scene: Scene,
  repository: Repository,
  event: DomainEvent<PushEvent>,
  { ref, oldOid: from, newOid: to }: RefUpdate,
): Promise<Built> {
  const { project } = scene
  const branch = branchName(ref)
  const name = branch ?? tagName(ref)!
  const tag = branch === undefined
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
    before: from,
    after: to,
    ref,
    ref_protected: await services.refProtection.isProtected(services.db.reader, project.id, { name, tag }),
    checkout_sha: isZero(to) ? null : ((await findCommit(repository, to))?.oid ?? null),
    message: annotated?.message.trimEnd() ?? null,
    ...pusher(scene),
    project_id: project.id,
    project: shownProject(services, project),
    commits: pushed?.commits ?? [],
    total_commits_count: pushed?.total ?? 0,
    push_options: optionTree(event.payload.pushOptions),
    repository: shownRepository(services, project),
  }
  const { commits: _, ...forInstance } = payload
  return { trigger: kind, payload, forInstance, ...(branch !== undefined && { branch }) }
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

function repositoryUpdate(scene: Scene, moved: readonly RefUpdate[], services: PayloadServices): object {
  return {
    event_name: 'repository_update',
    ...pusher(scene),
    project_id: scene.project.id,
    project: shownProject(services, scene.project),
    changes: moved.map(({ ref, oldOid, newOid }) => ({ before: oldOid, after: newOid, ref })),
    refs: moved.map(({ ref }) => ref),
  }
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
