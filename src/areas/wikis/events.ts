import {
  changedPaths,
  findCommit,
  isZero,
  readBlob,
  zeroOid,
  type ChangedPath,
  type Oid,
} from '../../git/index.ts'
import { enqueue, type DomainEvent } from '../../tasks/index.ts'
import type { WikiDoor, WikiPushEvent } from './door.ts'
import { branchOf } from './commit.ts'
import { pageName, type PageName } from './pages/files.ts'
import type { WikiServices } from './services.ts'
import * as store from './store.ts'
import { measureTask } from './upkeep.ts'

/** The news of one page: event kind `wiki_page`. What activity and webhooks show of it is in here. */
export interface WikiPageEvent {
  readonly wikiId: number
  /** Of the page's row, which stays while it is renamed: the `target_id` of `WikiPage::Meta`. */
  readonly pageId: number
  readonly groupId: number | null
  readonly action: 'create' | 'update' | 'delete'
  readonly slug: string
  readonly title: string
  readonly format: string
  /** Empty where the page is longer than 64 KiB or gone; it is read by `versionId`. */
  readonly content: string
  readonly message: string
  /** The commit that the page is at now. */
  readonly versionId: string
  /** Undefined unless the page was renamed. */
  readonly oldSlug?: string
}

/** Pages of one push that are told; a larger one is news as a whole. */
const mostPages = 100
const longestContent = 64 * 1024

/** Tells the pages that a push to a wiki changed, an edit through the API as well: once each, whatever breaks. */
export function tellPages({ db, events }: WikiServices, door: WikiDoor) {
  return async ({ payload, projectId, userId }: DomainEvent<WikiPushEvent>): Promise<void> => {
    const push = await store.untold(db.reader, payload.updateId)
    if (push === undefined) return
    const branch = branchOf(push)
    const update = push.updates.find(({ ref }) => ref === branch)
    const repository = door.of(push)
    const changes: { change: ChangedPath; name: PageName; old: PageName | undefined }[] = []
    if (update !== undefined) {
      const paths = await changedPaths(
        repository,
        update.oldOid,
        isZero(update.newOid) ? zeroOid : update.newOid,
        {
          renames: true,
          limit: 10_000,
        },
      )
      for (const change of paths) {
        const name = pageName(change.path)
        const old = pageName(change.oldPath)
        if (name !== undefined) changes.push({ change, name, old })
        if (changes.length >= mostPages) break
      }
    }
    const commit =
      update === undefined || isZero(update.newOid) ? undefined : await findCommit(repository, update.newOid)
    const contents = await Promise.all(
      changes.map(({ change }) => contentOf(change.status === 'deleted' ? undefined : change.newOid)),
    )
    await db.transaction(async (tx) => {
      if (!(await store.markTold(tx, payload.updateId))) return
      // Of many edits in a row the last one's is enough.
      const { id, storage } = push
      await enqueue(tx, measureTask, { id, storage }, { key: `${measureTask} ${id}` })
      for (const [index, { change, name, old }] of changes.entries()) {
        const renamed = old !== undefined && old.slug !== name.slug
        const event: WikiPageEvent = {
          wikiId: push.id,
          pageId: await store.pageId(tx, push.id, name.slug, old?.slug),
          groupId: push.namespace_id,
          action: actionOf(change, old),
          slug: name.slug,
          title: name.title,
          format: name.format,
          content: contents[index] ?? '',
          message: commit?.message.trimEnd() ?? '',
          versionId: update?.newOid ?? '',
          ...(renamed && { oldSlug: old.slug }),
        }
        await events.announce(tx, 'wiki_page', { projectId, userId, payload: event })
      }
    })

    async function contentOf(oid: Oid | undefined): Promise<string> {
      if (oid === undefined) return ''
      const bytes = await readBlob(repository, oid, longestContent).catch(() => undefined)
      // A database keeps no NUL.
      return bytes?.toString('utf8').replaceAll('\0', '') ?? ''
    }
  }
}

function actionOf({ status }: ChangedPath, old: PageName | undefined): WikiPageEvent['action'] {
  if (status === 'deleted') return 'delete'
  return status === 'added' || (status === 'renamed' && old === undefined) ? 'create' : 'update'
}
