import { endpoint, instance, userOf } from '../../access/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { isSettingName, type SettingName } from '../../settings/index.ts'
import {
  ApplicationSettings,
  applicationSettings,
  changedSetting,
  ForeseenChange,
  foreseenChange,
  Revision,
} from './entities.ts'
import type { SettingAreaServices } from './index.ts'
import * as store from './store.ts'

/** Who changed what, and the way back. */
export function historyEndpoints(services: SettingAreaServices): Endpoint[] {
  const { db, settings, contextOf } = services
  return [
    endpoint({
      method: 'GET',
      path: '/application/settings/history',
      summary: 'List the changes of the settings, newest first',
      on: instance,
      may: 'admin_instance',
      paged: true,
      params: Fields({ setting: Optional(Text({ description: 'Only changes of this one' })) }),
      answers: ListOf(Revision),
      read: ({ params, page }) => store.listRevisions(page, params.setting),
      handle: async ({ rows }) =>
        rows.map((row) => ({
          ...row,
          changes: row.changes
            .filter(({ name }) => isSettingName(name))
            .map((change) => changedSetting({ ...change, name: change.name as SettingName })),
        })),
    }),

    endpoint({
      method: 'POST',
      path: '/application/settings/rollback',
      summary: 'Bring all settings back to an earlier state',
      on: instance,
      may: 'admin_instance',
      beforeTerms: true,
      status: 200,
      params: Fields({
        revision: Id({ description: 'The revision, as the history shows it, after which they were so' }),
        dry_run: Optional(Flag({ description: 'Checks everything and answers what would change' })),
      }),
      answers: Either(ForeseenChange, ApplicationSettings),
      refuses: { 404: 'There is no such revision' },
      async handle({ actor, params }) {
        const changes = await settings.restore(params.revision, {
          userId: userOf(actor).id,
          context: contextOf(actor),
          dryRun: params.dry_run === true,
        })
        if (changes === undefined) throw notFound('Revision')
        if (params.dry_run === true) return foreseenChange(changes)
        const { stored, ...times } = await store.findRecord(db.reader)
        return applicationSettings(settings.of(stored), times, services)
      },
    }),
  ]
}
