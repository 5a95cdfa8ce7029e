import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  keptByGroup,
  keptByInstance,
  keptByProject,
  type group,
  type instance,
  type Keeper,
  type KeeperKind,
  type project,
} from '../../access/index.ts'
import type { AbilityOf, SubjectKind } from '../../kernel/endpoint/index.ts'

/** One of the three places that have webhooks, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> extends Keeper<Kind> {
  readonly path: string
  readonly may: AbilityOf<Kind>
}

export const projectPlace: Place<typeof project> = {
  ...keptByProject,
  path: '/projects/:id/hooks',
  may: 'admin_web_hook',
}

export const groupPlace: Place<typeof group> = {
  ...keptByGroup,
  path: '/groups/:id/hooks',
  may: 'admin_web_hook',
}

export const instancePlace: Place<typeof instance> = {
  ...keptByInstance,
  path: '/hooks',
  may: 'admin_instance',
}

/** The condition on the webhooks `w` of a place, by its id. */
export function within(kind: KeeperKind, id: RawBuilder<unknown> = sql`subject.id`): RawBuilder<unknown> {
  switch (kind) {
    case 'project':
      return sql`w.project_id = ${id} and w.integration is null`
    case 'group':
      return sql`w.namespace_id = ${id} and w.integration is null`
    case 'instance':
      return sql`w.project_id is null and w.namespace_id is null`
  }
}
