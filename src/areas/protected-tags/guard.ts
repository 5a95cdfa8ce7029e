import { admits, may } from '../../access/index.ts'
import { tagName, type RefGuard, type Refusal } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Mover } from '../protected-branches/index.ts'
import { creatorsOf, refusal } from './rules.ts'
import * as store from './store.ts'

/** The rules of protected tags, as the ref door asks them: for every update, whoever makes it. */
export function tagGuard({ db }: { db: Database }, { actor, project, via }: Mover): RefGuard {
  return {
    async check({ updates }) {
      const tags = updates.flatMap((update) => {
        const tag = tagName(update.ref)
        return tag === undefined ? [] : [{ update, tag }]
      })
      if (tags.length === 0) return []
      const rules = await store.rulesOf(db.reader, project.id, actor.user?.id ?? null)
      return tags.flatMap(({ update, tag }): Refusal[] => {
        const creators = creatorsOf(tag, rules)
        const message =
          creators &&
          refusal({
            kind: update.isCreation ? 'create' : update.isDeletion ? 'delete' : 'update',
            via,
            may: {
              create: admits(creators, actor, project),
              deleteProtected: may(actor, 'admin_protected_tag', project),
            },
          })
        return message === undefined ? [] : [{ ref: update.ref, message }]
      })
    },
  }
}
